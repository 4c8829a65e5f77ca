import { kindSql } from '../../chat/kind.ts'
import type { StoredMessage } from '../../chat/messages/rows.ts'
import { notHeldAmong } from '../../chat/sight/participation.ts'
import { identifyViewer, type PlacedFacts, readVisible } from '../../chat/sight/sight.ts'
import type { Context } from '../../context.ts'
import { statement } from '../../store/statement.ts'
import type { Utterance } from './ask/llm-request.ts'

/** So many messages are looked at for those with a text, however few there are: engines are asked while a sender waits. */
const mostLookedAt = 1000

/** Texts and captions before a message. What moderation holds is nobody's context. */
const selectOf = (place: string, more = '') =>
  statement(`
  select m.id, m.conversation, ${kindSql('m.kind')} as kind, m.sender, m.category, m.type, m.traits, m.sent_at as "sentAt",
    m.data->>'text' as text
  from (
    select m.id, m.conversation, m.kind, m.sender, m.category, m.type, m.traits, m.sent_at, m.data, m.parent_id, m.deleted_at
    from messages m
    where m.app_id = $1
    and ${place}
    and not m.purged
    and (m.sent_at, m.id) < ($3::bigint, $4::bigint)
    order by m.sent_at desc, m.id desc
    limit ${mostLookedAt}
  ) m
  where m.category = 'message'${more}
  and m.deleted_at is null
  and ${notHeldAmong('m')}
  and m.data->>'text' <> ''
  order by m.sent_at desc, m.id desc
  limit $5`)

/** Two statements: each goes by an index, and one that compares a parent that may be null would go by none. */
const selectInThread = selectOf('m.parent_id = $2')
const selectOutsideThreads = selectOf(
  'm.conversation = $2',
  `
  and m.parent_id is null`,
)

type Row = PlacedFacts & { readonly text: string }

/**
 * What was said before a message in its thread, or outside of threads, oldest first: only what its receiver may see.
 * @param limit how much at most
 */
export async function readContextMessages(
  { database, policies }: Pick<Context, 'database' | 'policies'>,
  appId: number,
  { id, conversation, sentAt, parentId, kind, receiver }: StoredMessage,
  limit: number,
): Promise<Utterance[]> {
  if (limit === 0) return []
  const [select, place] = parentId === null ? [selectOutsideThreads, conversation] : [selectInThread, parentId]
  const rows = await database.query<Row>(select, [appId, place, sentAt, id, limit])
  const visible = kind === 'user' && rows.length > 0 ? await visibleTo(rows) : undefined
  return rows
    .filter((row) => visible?.has(row.id) !== false)
    .reverse()
    .map(({ sender, text }) => ({ uid: sender, text }))

  async function visibleTo(found: readonly Row[]): Promise<ReadonlySet<number>> {
    const viewer = await identifyViewer(database, policies, appId, receiver)
    return readVisible(database, appId, viewer, found)
  }
}
