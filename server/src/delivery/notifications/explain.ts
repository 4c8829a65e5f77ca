import type { UnplannedReason } from '@parley/contract'
import type { AppSettingsStore } from '../../chat/app-settings.ts'
import type { App } from '../../chat/identity.ts'
import { hasProvider } from '../../chat/notifications/providers.ts'
import type { NotificationSettingsStore } from '../../chat/notifications/settings.ts'
import { readUser } from '../../chat/users/rows.ts'
import type { Database } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { readCandidates } from './candidates.ts'
import { type Happened, isChange, readHappenings } from './happenings.ts'
import { channelsOf, isChosen } from './plan.ts'
import { plannedTriggers } from './triggers.ts'

export interface UnplannedOptions {
  readonly database: Database
  readonly settings: AppSettingsStore
  readonly notificationSettings: NotificationSettingsStore
}

/** What there is no notification of: an event, or whatever is about a message. */
export interface UnplannedAsked {
  readonly uid: string
  readonly messageId: number | undefined
  readonly eventId: number | undefined
}

const selectEvent = statement(`
  select id
  from events
  where app_id = $1
  and (message = $2 or id = $3)
  and trigger = any($4::text[])
  order by id
  limit 1`)

const selectMember = statement(`
  select uid
  from group_members
  where app_id = $1
  and guid = $2
  and uid = $3`)

/** Why a user is in no log of something, as far as is known now: the first reason that holds. */
export async function whyUnplanned(
  { database, settings, notificationSettings }: UnplannedOptions,
  { appId }: Pick<App, 'appId'>,
  { uid, messageId, eventId }: UnplannedAsked,
): Promise<UnplannedReason> {
  if (!(await hasProvider(database, appId))) return 'NO_PROVIDER'
  const values = [appId, messageId ?? null, eventId ?? null, plannedTriggers]
  const [event] = await database.query<{ id: number }>(selectEvent, values)
  if (event === undefined) return 'NO_EVENT'
  const { happened } = await readHappenings(database, appId, { from: event.id, to: event.id, limit: 1 })
  const [one] = happened
  if (one === undefined) return 'NOT_CHOSEN'
  if (one.actors.includes(uid)) return 'OWN_ACTION'
  if (!(await takesPart(database, appId, one, uid))) return 'NOT_A_PARTICIPANT'
  if ((await readUser(database, appId, uid))?.deactivatedAt !== null) return 'DEACTIVATED'
  const [app, defaults] = await Promise.all([notificationSettings.of(appId), settings.of(appId)])
  if (channelsOf(one, defaults).length === 0) return 'GROUP_TOO_LARGE'
  const find = (chosen: boolean) =>
    readCandidates(database, appId, [one], {
      isChosen: () => chosen,
      channelsOf: () => channelsOf(one, defaults),
      only: uid,
      after: { event: 0, uid: '' },
      limit: 1,
    })
  if ((await find(false)).length === 0) return 'NO_DEVICE'
  if (isChosen(app, one) && (await find(true)).length === 0) return 'NOT_CHOSEN'
  return isChange(one) ? 'NOTHING_SHOWN' : 'NOT_PLANNED'
}

async function takesPart(database: Database, appId: number, one: Happened, uid: string): Promise<boolean> {
  if (one.kind === 'oneOnOne') return uid === one.first || uid === one.second
  return (await database.query(selectMember, [appId, one.first, uid])).length > 0
}
