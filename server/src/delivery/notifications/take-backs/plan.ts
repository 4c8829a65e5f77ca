import type { StoredGate } from '../../../chat/notifications/decide.ts'
import { nowMs } from '../../../store/clock.ts'
import type { Queryable } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { addJobsOfAsked, askSenders } from '../jobs.ts'
import { readButShownSql } from './shown.ts'

/** What somebody reads in one go, conversation by conversation, is taken back by one push for each device. */
const waitMs = 1_000
/** As of other pushes. */
const timeToLiveMs = 3_600_000

/** Takings back that nobody has looked at yet: of these there is one for each device. */
const openTakeBacks = `where trigger = 'messages_read' and due_at is not null and closed_at is null`

const write = statement(`
  with marked as materialized (
    select distinct on (e.data ->> 'uid') e.data ->> 'uid' as uid, e.id as event, e.conversation
    from events e
    where e.app_id = $1
    and e.id > $2
    and e.id <= $3
    and e.trigger = 'message_read_receipt'
    order by e.data ->> 'uid', e.id desc
  ),
  made as (
    insert into notification_days.waiting (app_id, uid, channel, provider_kind, provider_id, provider, digest, platform,
      trigger, event, conversation, kind, receiver, status, gates, due_at, expires_at, created_at)
    select $1::int, r.uid, 'push', t.kind, t.id, t.provider, t.digest, t.platform,
      'messages_read', r.event, r.conversation, 1, r.uid, 'pending', $5::json, $4::bigint + ${waitMs},
      $4::bigint + ${timeToLiveMs}, $4::bigint
    from marked r
    cross join lateral (
      select n.key as provider, n.kind, n.id, null::bytea as digest, null::text as platform
      from notification_providers n
      where n.app_id = $1
      and n.channel = 'push'
      and n.kind = 'custom'
      and n.enabled
      union all
      select n.key, n.kind, n.id, d.digest, d.platform
      from push_tokens d
      join notification_providers n on n.app_id = d.app_id and n.key = d.provider
      where d.app_id = $1
      and d.uid = r.uid
      and d.type = 'chat'
      and n.enabled
    ) t
    where exists (${readButShownSql({ uid: 'r.uid', provider: 't.provider', digest: 't.digest', takenBack: 'true' })})
    on conflict (app_id, uid, provider, digest) ${openTakeBacks} do nothing
    returning app_id, provider
  ),
  asked as (${askSenders('made', `${nowMs} + ${waitMs}`)}
  )
  ${addJobsOfAsked}`)

/**
 * Plans that what was read is taken back where it may be shown. Planned twice, it is taken back once.
 * @param from, to ids of events: those after the first, up to the second
 * @param now epoch milliseconds
 */
export async function planTakeBacks(
  on: Queryable,
  appId: number,
  { from, to, now }: { readonly from: number; readonly to: number; readonly now: number },
): Promise<void> {
  // What else decides is looked at when it is about to be sent.
  const gates: readonly StoredGate[] = [['pushTakeBackRead', true, 'app', true]]
  await on.query(write, [appId, from, to, now, JSON.stringify(gates)])
}
