import type { MessageReceipt } from '@parley/contract'
import { type StepKind, stepKinds } from '../../chat/conversations/receipt-steps.ts'
import type { StoredMessage } from '../../chat/messages/rows.ts'
import { readUsers } from '../../chat/users/rows.ts'
import { showUsers } from '../../chat/users/view.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** Members of a larger group that are answered at most. */
const mostReceipts = 1000

/**
 * Members whose marks cover a message, by the index conversation_states_by_delivered, with the times of their first steps
 * at or above it. Who joined later has marks at the end of the history without having received anything.
 */
const selectReceipts = statement(`
  select s.uid, least(d.at, r.at) as "deliveredAt", r.at as "readAt"
  from (
    select s.uid
    from conversation_states s
    where s.app_id = $1
    and s.conversation = $2
    and s.member_delivered_id is not null
    and (s.member_delivered_sent_at, s.member_delivered_id) >= ($3::bigint, $4::bigint)
    and s.uid <> $5
    and exists (
      select from group_members g
      where g.app_id = $1
      and g.guid = $6
      and g.uid = s.uid
      and (coalesce(s.joined_sent_at, g.joined_at), coalesce(s.joined_id, 0)) < ($3, $4)
    )
    limit ${mostReceipts}
  ) s
  left join lateral (${firstStep(stepKinds.delivered)}) d on true
  left join lateral (${firstStep(stepKinds.read)}) r on true
  where d.at is not null or r.at is not null
  order by s.uid`)

function firstStep(kind: StepKind): string {
  return `
    select t.at
    from receipt_steps t
    where t.app_id = $1
    and t.conversation = $2
    and t.uid = s.uid
    and t.kind = ${kind}
    and (t.sent_at, t.id) >= ($3::bigint, $4::bigint)
    order by t.sent_at, t.id
    limit 1`
}

interface ReceiptRow {
  readonly uid: string
  readonly deliveredAt: number
  readonly readAt: number | null
}

/** Who of a group has received a message, and when. */
export async function readReceipts(
  on: Queryable,
  appId: number,
  message: StoredMessage,
  viewer: string | undefined,
): Promise<MessageReceipt[]> {
  const { conversation, sentAt, id, sender, receiver } = message
  const rows = await on.query<ReceiptRow>(selectReceipts, [appId, conversation, sentAt, id, sender, receiver])
  const uids = rows.map(({ uid }) => uid)
  const users = await readUsers(on, appId, uids)
  const shown = await showUsers(on, appId, viewer, [...users.values()])
  const recipients = new Map(shown.map((user) => [user.uid, user]))
  return rows.flatMap(({ uid, deliveredAt, readAt }) => {
    const recipient = recipients.get(uid)
    return recipient === undefined ? [] : [{ recipient, deliveredAt, ...(readAt !== null && { readAt }) }]
  })
}
