import { sql } from 'kysely'
import type { JsonText } from '../../chat/json.ts'
import { type StoredMessage, selectStored } from '../../chat/messages/rows.ts'
import { showMessages } from '../../chat/messages/show.ts'
import { isThereSql, notClearedSql, takesPartSql } from '../../chat/sight/participation.ts'
import { readConditions, type Viewer } from '../../chat/sight/sight.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import { allOf, type Fragment, statement } from '../../store/statement.ts'

/** A message up to which an export has come. */
export interface Cursor {
  readonly conversation: number
  readonly sentAt: number
  readonly id: number
}

/** A record that is to be written. */
export interface MessageRecord {
  readonly kind: 'ownMessage' | 'seenMessage'
  readonly text: string
  readonly conversation: number
  readonly id: number
  readonly sentAt: number
  /** Uids that it names. */
  readonly names: readonly string[]
}

const selectConversations = statement(`
  select conversation as key
  from conversation_states
  where app_id = $1
  and uid = $2
  union
  select conversation
  from messages
  where app_id = $1
  and sender = $2
  and kind = 2
  order by key`)

/** The conversations in which a user has or had a part, by key. */
export async function conversationsOf(on: Queryable, appId: number, uid: string): Promise<number[]> {
  return (await on.query<{ key: number }>(selectConversations, [appId, uid])).map(({ key }) => key)
}

/**
 * The next messages of a conversation: what the user wrote, wherever it is, and of others what lists show them at this moment.
 * @param after the last one that is written already
 */
export async function readOfConversation(
  on: Queryable,
  appId: number,
  viewer: Viewer,
  after: Cursor,
  limit: number,
): Promise<MessageRecord[]> {
  const { uid } = viewer
  const hidden = await readConditions(on, appId, viewer)
  const seen = allOf([sql`s.uid is not null`, takesPartSql, notClearedSql, isThereSql(sql`${uid}`), ...hidden])
  const rows = await on.run(
    selectStored(
      sql`
    select m.*
    from messages m
    left join (
      select s.*, c.kind
      from conversation_states s
      join conversations c on c.app_id = s.app_id and c.key = s.conversation
      where s.app_id = ${appKey(appId)}
      and s.uid = ${uid}
      and s.conversation = ${after.conversation}
    ) s on true
    where m.app_id = ${appKey(appId)}
    and m.conversation = ${after.conversation}
    and (m.sent_at, m.id) > (${after.sentAt}::bigint, ${after.id}::bigint)
    and not m.purged
    and (m.sender = ${uid} or (${seen}))
    order by m.sent_at, m.id
    limit ${limit}`,
      sql`m.sent_at, m.id`,
    ) as Fragment<StoredMessage<JsonText>>,
  )
  const stored = rows.map((row) => ({ ...row, data: JSON.parse(row.data) as Record<string, unknown> }))
  const shown = await showMessages(on, appId, stored, { viewer: uid, policy: viewer.policy, withTags: true })
  return shown.map((message, index) => {
    const { id, sender, sentAt } = stored[index] as StoredMessage
    const names = new Set<string>()
    const record = prune(message, names)
    names.delete(uid)
    return {
      kind: sender === uid ? 'ownMessage' : 'seenMessage',
      text: JSON.stringify(record),
      conversation: after.conversation,
      id,
      sentAt,
      names: [...names],
    }
  })
}

const naming = new Set(['uid', 'sender', 'receiver', 'owner', 'editedBy', 'deletedBy', 'pinnedBy', 'updatedBy'])

/** A value without what is private to somebody and to the app; the users whom it names are gathered. */
function prune(value: unknown, names: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => prune(item, names))
  if (typeof value !== 'object' || value === null) return value
  const pruned: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    if (name === '@private') continue
    if (naming.has(name) && typeof member === 'string') names.add(member)
    pruned[name] = prune(member, names)
  }
  return pruned
}
