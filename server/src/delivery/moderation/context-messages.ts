import { kindSql } from '../../chat/kind.ts'
import type { StoredMessage } from '../../chat/messages/rows.ts'
import { heldTraits } from '../../chat/messages/traits.ts'
import { identifyViewer, type PlacedFacts, readVisible } from '../../chat/sight/sight.ts'
import type { Context } from '../../context.ts'
import { statement } from '../../store/statement.ts'
import type { Utterance } from './ask/llm-request.ts'

/** Texts and captions before a message, in its thread, or outside of threads. What moderation holds is nobody's context. */
const select = statement(`
  select m.id, m.conversation, ${kindSql('m.kind')} as kind, m.sender, m.category, m.type, m.traits, m.sent_at as "sentAt",
    m.data->>'text' as text
  from messages m
  where m.app_id = $1
  and m.conversation = $2
  and (m.sent_at, m.id) < ($3::bigint, $4::bigint)
  and m.parent_id is not distinct from $5
  and m.category = 'message'
  and m.deleted_at is null
  and not m.purged
  and m.traits & ${heldTraits} = 0
  and m.data->>'text' <> ''
  order by m.sent_at desc, m.id desc
  limit $6`)

type Row = PlacedFacts & { readonly text: string }

/**
 * What was said before a message, oldest first: only what its receiver may see.
 * @param limit how much at most
 */
export async function readContextMessages(
  { database, policies }: Pick<Context, 'database' | 'policies'>,
  appId: number,
  { id, conversation, sentAt, parentId, kind, receiver }: StoredMessage,
  limit: number,
): Promise<Utterance[]> {
  if (limit === 0) return []
  const rows = await database.query<Row>(select, [appId, conversation, sentAt, id, parentId, limit])
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
