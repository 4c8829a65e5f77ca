import type { Events } from '../../events/index.ts'
import type { ReceiptOfAll } from '../../events/types.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { insertIntoEvents, storedDataSql } from '../events/stored.ts'
import { everyMember } from './receipt-steps.ts'

/** Groups, the lowest marks among their members, and whether those are higher than the group's staircase. */
const lowest = `lowest as (
    select c.app_id, c.key, c.first as guid, wanted.is_heard, wanted.keeps_delivered, wanted.keeps_read,
      c.all_delivered_sent_at, c.all_delivered_id, c.all_read_sent_at, c.all_read_id,
      d.sent_at as delivered_sent_at, d.id as delivered_id, r.sent_at as read_sent_at, r.id as read_id,
      (d.sent_at, d.id) > (c.all_delivered_sent_at, c.all_delivered_id) as delivers,
      (r.sent_at, r.id) > (c.all_read_sent_at, c.all_read_id) as reads
    from wanted
    join conversations c
      on c.app_id = wanted.app_id and c.kind = 2 and c.first = wanted.guid and c.second = ''
    cross join lateral (
      select s.member_delivered_sent_at as sent_at, s.member_delivered_id as id
      from conversation_states s
      where s.app_id = c.app_id and s.conversation = c.key and s.member_delivered_id is not null
      order by s.member_delivered_sent_at, s.member_delivered_id
      limit 1
    ) d
    cross join lateral (
      select s.member_read_sent_at as sent_at, s.member_read_id as id
      from conversation_states s
      where s.app_id = c.app_id and s.conversation = c.key and s.member_read_id is not null
      order by s.member_read_sent_at, s.member_read_id
      limit 1
    ) r
  ),
  raised as (
    update conversations c
    set all_delivered_sent_at = case when l.delivers then l.delivered_sent_at else c.all_delivered_sent_at end,
      all_delivered_id = case when l.delivers then l.delivered_id else c.all_delivered_id end,
      all_read_sent_at = case when l.reads then l.read_sent_at else c.all_read_sent_at end,
      all_read_id = case when l.reads then l.read_id else c.all_read_id end
    from lowest l
    where c.app_id = l.app_id
    and c.key = l.key
    and (l.delivers or l.reads)
  )`

const appendSteps = `insert into receipt_steps (app_id, conversation, uid, kind, sent_at, id, at)
  select app_id, key, '${everyMember}', 1, delivered_sent_at, delivered_id, $3::bigint from lowest where delivers
  union all
  select app_id, key, '${everyMember}', 2, read_sent_at, read_id, $3::bigint from lowest where reads
  on conflict do nothing`

/**
 * Raises the staircase of groups to the lowest mark among their members: what everybody has received or read by now
 * gets this moment as its `deliveredAt` or `readAt`. Under the conversations' locks, so that two last readers cannot
 * both miss it. A group without members keeps its staircase. Parameters: app ids, guids, epoch seconds.
 */
export const raiseGroupReceipts = statement(`
  with wanted as (
    select distinct app_id, guid, false as is_heard, false as keeps_delivered, false as keeps_read
    from unnest($1::int[], $2::text[]) as g(app_id, guid)
  ),
  ${lowest}
  ${appendSteps}`)

/**
 * As `raiseGroupReceipts`, where somebody may hear of it: keeps the events and gives what is to be published. A delivery
 * that reading implies already is not published by itself. More parameters, for each group: whether anybody hears, and whether
 * `message_delivered_to_all` and `message_read_by_all` are kept. @see RisenRow
 */
export const raiseAndPublishGroupReceipts = statement(`
  with wanted as (
    select app_id, guid, bool_or(is_heard) as is_heard, bool_or(keeps_delivered) as keeps_delivered,
      bool_or(keeps_read) as keeps_read
    from unnest($1::int[], $2::text[], $4::boolean[], $5::boolean[], $6::boolean[])
      as g(app_id, guid, is_heard, keeps_delivered, keeps_read)
    group by app_id, guid
  ),
  ${lowest},
  stepped as (
    ${appendSteps}
  ),
  published as materialized (
    select l.app_id, l.key, l.guid, t.trigger, t.is_kept, m.id
    from lowest l
    cross join lateral (
      values
        ('message_delivered_to_all', l.keeps_delivered,
          l.delivers and not (l.reads and (l.read_sent_at, l.read_id) = (l.delivered_sent_at, l.delivered_id)),
          l.all_delivered_sent_at, l.all_delivered_id, l.delivered_sent_at, l.delivered_id),
        ('message_read_by_all', l.keeps_read, l.reads,
          l.all_read_sent_at, l.all_read_id, l.read_sent_at, l.read_id)
    ) as t(trigger, is_kept, rises, from_sent_at, from_id, to_sent_at, to_id)
    cross join lateral (
      select m.id
      from messages m
      where m.app_id = l.app_id
      and m.conversation = l.key
      and m.countable
      and (m.sent_at, m.id) > (t.from_sent_at, t.from_id)
      and (m.sent_at, m.id) <= (t.to_sent_at, t.to_id)
      order by m.sent_at desc, m.id desc
      limit 1
    ) m
    where l.is_heard
    and t.rises
  ),
  kept as (
    ${insertIntoEvents}
    select app_id, trigger, key, id,
      ${storedDataSql('message_read_by_all', { kind: '2', first: 'guid', second: `''`, at: '$3::bigint' })}, $3::bigint
    from published
    where is_kept
  )
  select app_id as "appId", key as conversation, guid, trigger, id as "messageId"
  from published`)

/** A staircase that rose past a message. */
export interface RisenRow {
  readonly appId: number
  readonly conversation: number
  readonly guid: string
  readonly trigger: ReceiptOfAll['trigger']
  /** The newest message that everybody has received or read by now. */
  readonly messageId: number
}

/** Which receipts of whole groups somebody hears of, in one app. */
export interface GroupReceiptSubscriptions {
  readonly isHeard: boolean
  readonly keepsDelivered: boolean
  readonly keepsRead: boolean
}

export async function groupReceiptSubscriptions(events: Events, appId: number): Promise<GroupReceiptSubscriptions> {
  return groupReceiptSubscriptionsOf(await events.listens(appId), events.bus.isHeard)
}

/** @param kept the triggers that are kept for an app */
export function groupReceiptSubscriptionsOf(kept: ReadonlySet<string>, isHeard: boolean): GroupReceiptSubscriptions {
  const keepsDelivered = kept.has('message_delivered_to_all')
  const keepsRead = kept.has('message_read_by_all')
  return { isHeard: isHeard || keepsDelivered || keepsRead, keepsDelivered, keepsRead }
}

/** Publishes what `raiseAndPublishGroupReceipts` gave, once it is committed. @param at epoch seconds */
export function publishRisen(events: Events, rows: readonly RisenRow[], at: number): void {
  for (const { appId, conversation, guid, trigger, messageId } of rows) {
    const place = { conversation, kind: 'group', first: guid, second: '' } as const
    events.publish(appId, { trigger, place, messageId, at })
  }
}

/** Raises the staircases of groups of one app after marks or members have changed, under the conversations' locks. */
export async function raiseReceipts(
  events: Events,
  tx: Transaction,
  appId: number,
  guids: readonly string[],
  now: number,
): Promise<void> {
  if (guids.length === 0) return
  const same = <Value>(value: Value): Value[] => guids.map(() => value)
  const { isHeard, keepsDelivered, keepsRead } = await groupReceiptSubscriptions(events, appId)
  if (!isHeard) {
    await tx.query(raiseGroupReceipts, [same(appId), guids, now])
    return
  }
  const rows = await tx.query<RisenRow>(raiseAndPublishGroupReceipts, [
    same(appId),
    guids,
    now,
    same(isHeard),
    same(keepsDelivered),
    same(keepsRead),
  ])
  if (rows.length > 0) tx.afterCommit(() => publishRisen(events, rows, now))
}
