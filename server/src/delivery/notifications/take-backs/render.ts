import type { NotificationReason } from '@parley/contract'
import type { AppSettingsStore } from '../../../chat/app-settings.ts'
import { decidedGone, decideTakeBack, type Gate } from '../../../chat/notifications/decide.ts'
import { readUnreadTotals } from '../../../chat/notifications/unread.ts'
import type { RolePolicies } from '../../../chat/roles/policies.ts'
import type { Database, Queryable } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { viewerOf } from '../ask-again.ts'
import type { DueNotification } from '../due.ts'
import { readButShownSql } from './shown.ts'

/** Notifies one device that messages were read elsewhere, so that it removes what it shows of them. */
export interface TakeBack {
  readonly uid: string
  readonly action: 'read'
  /** Of the notifications that go, the newest first. */
  readonly tags: readonly string[]
  /** When it was read, epoch milliseconds. */
  readonly sentAt: number
  readonly unread: number
}

export type RenderedTakeBack =
  | { readonly notice: TakeBack }
  | { readonly lapse: NotificationReason; readonly gates: readonly Gate[] }
  | 'later'

/** More than devices show; also of a mistake in what is known to be shown, nothing else can come. */
const mostTags = 100

const close = statement(`
  update notification_deliveries
  set closed_at = $3
  where app_id = $1
  and day = 0
  and id = any($2::bigint[])
  and closed_at is null`)

/** What it names is fixed once, so that a repeat names the same, and nothing that is under way is left behind. */
const fixMessages = statement(`
  update notification_deliveries t
  set messages = case when not f.is_under_way then coalesce(t.messages, f.messages) end
  from (
    select o.id, coalesce(bool_or(r.is_under_way) and o.messages is null, false) as is_under_way,
      coalesce((array_agg(distinct r.message order by r.message desc) filter (where r.message is not null))[:${mostTags}], '{}')
        as messages
    from notification_deliveries o
    left join lateral (${readButShownSql({ uid: 'o.uid', provider: 'o.provider', digest: 'o.digest', takenBack: 'b.id <> o.id' })}
    ) r on true
    where o.app_id = $1
    and o.day = 0
    and o.id = any($2::bigint[])
    group by o.id, o.messages
  ) f
  where t.app_id = $1
  and t.day = 0
  and t.id = any($2::bigint[])
  and t.id = f.id
  returning t.id, f.is_under_way as "isUnderWay", coalesce(t.messages, '{}') as messages,
    exists (
      select
      from users u
      where u.app_id = t.app_id
      and u.uid = t.uid
      and u.deactivated_at is null
    ) as "isActive"`)

interface Fixed {
  readonly id: number
  readonly isUnderWay: boolean
  readonly messages: readonly number[]
  readonly isActive: boolean
}

export interface TakeBackOptions {
  readonly database: Database
  readonly settings: AppSettingsStore
  readonly policies: RolePolicies
  readonly now: () => number
}

/**
 * Makes of what is due what is taken back now, and decides it. Whatever is read after this is taken back by the next one.
 * While something is just being sent that was read, that is waited for.
 */
export async function renderTakeBacks(
  { database, settings, policies, now }: TakeBackOptions,
  appId: number,
  due: readonly DueNotification[],
): Promise<ReadonlyMap<number, RenderedTakeBack>> {
  if (due.length === 0) return new Map()
  const ids = due.map(({ id }) => id)
  const ofApp = await policies.ofApp(appId)
  const viewers = due.map((one) => viewerOf(one, ofApp))
  await database.query(close, [appId, ids, now()])
  const [fixed, unread, app] = await Promise.all([
    readFixed(database, appId, ids),
    readUnreadTotals(database, appId, viewers),
    settings.of(appId),
  ])
  return new Map(
    due.map((one): [number, RenderedTakeBack] => {
      const found = fixed.get(one.id)
      const isInTime = now() < one.expiresAt
      if (found === undefined) {
        const { reason: lapse, gates } = decidedGone('event', { isInTime })
        return [one.id, { lapse, gates }]
      }
      if (found.isUnderWay) return [one.id, 'later']
      const facts = {
        isActive: found.isActive,
        hasDevice: one.digest === null || one.sealed !== null,
        isInTime,
        shown: found.messages.length,
      }
      const { reason, gates } = decideTakeBack(facts, app)
      if (reason !== undefined) return [one.id, { lapse: reason, gates }]
      const { uid, createdAt: sentAt } = one
      const tags = found.messages.map(String)
      return [one.id, { notice: { uid, action: 'read', tags, sentAt, unread: unread.get(uid) ?? 0 } }]
    }),
  )
}

async function readFixed(on: Queryable, appId: number, ids: readonly number[]): Promise<ReadonlyMap<number, Fixed>> {
  const rows = await on.query<Fixed>(fixMessages, [appId, ids])
  return new Map(rows.map((row) => [row.id, row]))
}
