import type { UserPreferencesIn } from '@parley/contract'
import { type ConversationKind, kindSql } from '../../../chat/kind.ts'
import { type Gate, type MailFacts, storedGate } from '../../../chat/notifications/decide.ts'
import type { ProviderRow } from '../../../chat/notifications/providers.ts'
import type { Queryable } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { addressSql, mutesJoin, unsubscribedSql, usesAddressSql } from '../facts.ts'

/** Deliveries that are open windows: of these there is one for each conversation and channel of a user. */
export const openWindows = `where channel <> 'push' and due_at is not null and closed_at is null`

/** A window that is closed, with what is known of its user now. */
export interface Window {
  readonly id: number
  readonly uid: string
  readonly conversation: number
  readonly kind: ConversationKind
  readonly first: string
  readonly second: string
  readonly isActive: boolean
  readonly takesPart: boolean
  readonly expiresAt: number
  readonly role: string | null
  readonly preferences: UserPreferencesIn | null
  readonly timezone: string | null
  readonly isMuted: boolean
  readonly mutedUntil: number | null
  readonly address: MailFacts['address']
  /** What is stored, whether it is used or not. */
  readonly contact: string | null
  readonly isUnsubscribed: boolean
  /** What was sent lately, as the key of its conversation and the time, epoch milliseconds. */
  readonly sent: ReadonlyArray<readonly [conversation: number, at: number]>
  /** The last message of this conversation that an earlier window was about; 0 where none was. */
  readonly notifiedSentAt: number
  readonly notifiedId: number
  /** The last message that it may be about; null where it has not been looked at yet. */
  readonly untilId: number | null
}

const close = statement(`
  update notification_deliveries
  set closed_at = $3
  where app_id = $1
  and day = 0
  and id = any($2::bigint[])
  and closed_at is null`)

/** Since a day has 25 hours now and then, and is looked at for each user by their own clock. */
const longestDayMs = 26 * 3_600_000

const select = statement(`
  select t.id, t.uid, t.conversation, ${kindSql('c.kind')} as kind, c.first, c.second, t.until_id as "untilId", u.role,
    u.uid is not null and u.deactivated_at is null as "isActive", c.kind = 1 or g.uid is not null as "takesPart",
    t.expires_at as "expiresAt",
    p.preferences, p.timezone, mu.uid is not null as "isMuted", mu.until as "mutedUntil", ${addressSql} as address,
    case t.channel when 'email' then k.email else k.phone end as contact,
    ${unsubscribedSql('t.uid', 't.channel', 't.conversation')} as "isUnsubscribed",
    coalesce(notified.sent_at, 0) as "notifiedSentAt", coalesce(notified.id, 0) as "notifiedId",
    array(
      select json_build_array(o.conversation, o.closed_at)
      from notification_deliveries o
      where o.app_id = t.app_id
      and o.uid = t.uid
      and o.channel = t.channel
      and o.closed_at > $4::bigint - ${longestDayMs}
      and o.until_id is not null
      and o.status in ('pending', 'delivered')
      and o.id <> t.id
    ) as sent
  from (
    select d.app_id, d.id, d.uid, d.channel, d.conversation, d.until_id, d.expires_at, ${usesAddressSql} as uses_address
    from notification_deliveries d
    join notification_providers n on n.app_id = d.app_id and n.key = $3
    where d.app_id = $1
    and d.day = 0
    and d.id = any($2::bigint[])
  ) t
  join conversations c on c.app_id = t.app_id and c.key = t.conversation
  left join users u on u.app_id = t.app_id and u.uid = t.uid
  left join group_members g on c.kind = 2 and g.app_id = t.app_id and g.guid = c.first and g.uid = t.uid
  left join notification_preferences p on p.app_id = t.app_id and p.uid = t.uid
  ${mutesJoin('t.uid', 'c')}
  left join notification_contacts k on k.app_id = t.app_id and k.uid = t.uid
  left join lateral (
    select o.until_sent_at as sent_at, o.until_id as id
    from notification_deliveries o
    where o.app_id = t.app_id
    and o.uid = t.uid
    and o.channel = t.channel
    and o.closed_at is not null
    and o.conversation = t.conversation
    and o.until_id is not null
    and (o.status = 'delivered' or (o.status = 'pending' and o.id < t.id))
    and o.id <> t.id
    order by o.until_sent_at desc, o.until_id desc
    limit 1
  ) notified on true`)

/**
 * Closes windows, and reads what decides whether they are sent. Whatever is planned after they are closed opens the next
 * ones, and whatever was planned before is read after that.
 * @param now epoch milliseconds
 */
export async function closeWindows(
  on: Queryable,
  appId: number,
  provider: Pick<ProviderRow, 'key'>,
  ids: readonly number[],
  now: number,
): Promise<Window[]> {
  await on.query(close, [appId, ids, now])
  return on.query<Window>(select, [appId, ids, provider.key, now])
}

/** How a window was decided, and the last message that it may be about from now on, whenever it is tried again. */
export interface DecidedWindow {
  readonly id: number
  readonly until: { readonly sentAt: number; readonly id: number } | undefined
  readonly gates: readonly Gate[] | undefined
  /** Ids of what it was decided for. */
  readonly messages: readonly number[] | undefined
}

const storeDecided = statement(`
  update notification_deliveries d
  set until_sent_at = coalesce(d.until_sent_at, w.until_sent_at),
    until_id = coalesce(d.until_id, w.until_id),
    message = coalesce(d.until_id, w.until_id),
    gates = coalesce(w.gates, d.gates),
    messages = coalesce(w.messages, d.messages)
  from json_to_recordset($3::json) as w(id bigint, until_sent_at bigint, until_id bigint, gates json, messages bigint[])
  where d.app_id = $1
  and d.day = 0
  and d.id = any($2::bigint[])
  and d.id = w.id
  and d.status = 'pending'`)

/** Before anything is sent, so that a repeat is about the same messages. */
export async function storeDecidedWindows(
  on: Queryable,
  appId: number,
  decided: readonly DecidedWindow[],
): Promise<void> {
  if (decided.length === 0) return
  const rows = decided.map(({ id, until, gates, messages }) => ({
    ...{ id, until_sent_at: until?.sentAt, until_id: until?.id, gates: gates?.map(storedGate), messages },
  }))
  await on.query(storeDecided, [appId, decided.map(({ id }) => id), JSON.stringify(rows)])
}
