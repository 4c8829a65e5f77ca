import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import { nowMs } from '../../store/clock.ts'
import type { Fragment } from '../../store/statement.ts'

/**
 * Whether what a notification `d` is about may be shown, now or once it is sent: not what was stopped before any attempt, nor what
 * the provider refused. What got no proper answer may be shown, also if it was stopped after that.
 */
export const mayBeShownSql = `(d.status <> 'stopped' or d.attempts > 0)
    and d.reason is distinct from 'PROVIDER_ERROR'`

/** Whether a push `d` about a message may be shown or is just being sent: what is due later is stopped once its message is gone. */
const maybeSentSql = `d.channel = 'push'
    and d.reaction is null
    and ${mayBeShownSql}
    and (d.status <> 'pending' or d.attempts > 0 or coalesce(d.due_at <= ${nowMs}, false))`

/**
 * Whether the deletion of its message has yet to find where a push `d` went: it may be shown there, and nobody has taken it back.
 * Such rows outlive the message, as ids alone.
 */
export const toTakeBackSql = `${maybeSentSql}
    and not exists (
      select
      from notification_deliveries b
      where b.app_id = d.app_id
      and b.message = d.message
      and b.uid = d.uid
      and b.provider = d.provider
      and b.digest is not distinct from d.digest
      and b.trigger = 'message_deleted'
      and b.status = 'delivered'
    )`

/** Messages of one conversation on one device: more than devices show. */
const mostTakenBack = 100
/** As of other pushes. */
const timeToLiveMs = 3_600_000

/** Stands for the event of a notification, where there is none of what happened. */
export const noEvent = 0

/**
 * Has messages taken back where they are removed with others and there is no event of that: as their deletions would, by pushes that name them
 * in `messages` alone. What users have read is left, as they have seen it go: else a whole conversation would be sent. Those who send
 * find these pushes within some seconds. To be said before anything is removed.
 * @param messages which: `= any(...)`, `in (...)`
 * @param goesToo a user who is removed with them and with their conversations
 */
export function takeBackRemoved(appId: number, messages: Fragment, goesToo?: string): Fragment {
  const conversation = goesToo === undefined ? sql`s.conversation` : sql`null::bigint`
  return sql`
    insert into notification_days.waiting (app_id, uid, channel, provider_kind, provider_id, provider, digest, platform, trigger,
      event, conversation, kind, receiver, messages, status, gates, due_at, expires_at, created_at)
    select s.app_id, s.uid, s.channel, s.provider_kind, s.provider_id, s.provider, s.digest, s.platform, 'message_deleted',
      ${sql.lit(noEvent)}, ${conversation}, s.kind, s.receiver, array[s.message], 'pending', '[]'::json, s.at,
      s.at + ${sql.lit(timeToLiveMs)}, s.at
    from (
      select d.*, ${sql.raw(nowMs)} as at,
        dense_rank() over (partition by d.uid, d.provider, d.digest, d.conversation order by d.message desc) as place,
        row_number() over (partition by d.uid, d.provider, d.digest, d.message order by d.id) as copy
      from notification_deliveries d
      join notification_providers p on p.app_id = d.app_id and p.key = d.provider and p.enabled
      join messages m on m.app_id = d.app_id and m.id = d.message
      left join conversation_states r on r.app_id = d.app_id and r.uid = d.uid and r.conversation = m.conversation
      where d.app_id = ${appKey(appId)}
      and d.message ${messages}
      ${goesToo === undefined ? sql`` : sql`and d.uid <> ${goesToo}`}
      and (m.sent_at, m.id) > (coalesce(r.read_sent_at, 0), coalesce(r.read_id, 0))
      and ${sql.raw(toTakeBackSql)}
    ) s
    where s.copy = 1
    and s.place <= ${sql.lit(mostTakenBack)}`
}
