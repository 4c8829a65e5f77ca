import { type AppSettings, type Channel, channels, type SetAppSettings, type UnplannedReason } from '@parley/contract'
import type { AppSettingsStore } from '../../chat/app-settings.ts'
import type { App } from '../../chat/identity.ts'
import type { StoredGate } from '../../chat/notifications/decide.ts'
import { levelOf } from '../../chat/notifications/preferences.ts'
import type { NotificationSettingsStore } from '../../chat/notifications/settings.ts'
import { notHeldIn } from '../../chat/sight/participation.ts'
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
  /** By this one; undefined: by any. */
  readonly channel?: Channel | undefined
}

const selectProvider = statement(`
  select
  from notification_providers
  where app_id = $1
  and enabled
  and ($2::text is null or channel = $2)
  limit 1`)

const selectEvent = statement(`
  select id, message
  from events
  where app_id = $1
  and (message = $2 or id = $3)
  and trigger = any($4::text[])
  order by id
  limit 1`)

const selectMessage = statement(`
  select category, coalesce(category = 'custom' and data ->> 'sendNotification' = 'true', false) as "isNotifying"
  from messages
  where app_id = $1
  and id = $2
  and not purged
  and ${notHeldIn('messages')}`)

const selectMember = statement(`
  select uid
  from group_members
  where app_id = $1
  and guid = $2
  and uid = $3`)

/** Why a user is in no log of something, and the gates that are closed, each with who set it. */
export interface Unplanned {
  readonly reason: UnplannedReason
  readonly gates: readonly StoredGate[]
}

/** Why a user is in no log of something, as far as is known now: the first reason that holds. */
export async function whyUnplanned(
  { database, settings, notificationSettings }: UnplannedOptions,
  { appId }: Pick<App, 'appId'>,
  { uid, messageId, eventId, channel }: UnplannedAsked,
): Promise<Unplanned> {
  const ofChannel = channel ?? null
  if ((await database.query(selectProvider, [appId, ofChannel])).length === 0) {
    return closed('NO_PROVIDER', ['provider', false, 'app', false])
  }
  const values = [appId, messageId ?? null, eventId ?? null, plannedTriggers]
  const [event] = await database.query<{ id: number; message: number | null }>(selectEvent, values)
  const found = event && (await readHappenings(database, appId, { from: event.id, to: event.id, limit: 1 }))
  const [one] = found?.happened ?? []
  if (one === undefined) {
    const ofNobody = await whyNobody(database, appId, messageId ?? event?.message)
    return ofNobody ?? closed(event === undefined ? 'NO_EVENT' : 'ERASED')
  }
  if (one.actors.includes(uid)) return closed('OWN_ACTION', ['sender', uid, 'chat', false])
  if (!(await takesPart(database, appId, one, uid))) {
    return closed('NOT_A_PARTICIPANT', ['membership', false, 'chat', false])
  }
  if ((await readUser(database, appId, uid))?.deactivatedAt !== null) {
    return closed('DEACTIVATED', ['account', false, 'chat', false])
  }
  const [app, defaults] = await Promise.all([notificationSettings.of(appId), settings.of(appId)])
  const find = async (chosen: boolean, among: readonly Channel[]) => {
    const asked = { isChosen: () => chosen, channelsOf: () => among, only: uid, after: { event: 0, uid: '' }, limit: 1 }
    return (await readCandidates(database, appId, [one], asked)).length > 0
  }
  const asked = channel === undefined ? channels : [channel]
  const ofSuch = channelsOf({ ...one, members: 0 }, defaults).filter((each) => asked.includes(each))
  if (ofSuch.length === 0) return closed('MESSAGES_ONLY', [one.category, false, 'chat', false])
  const open = channelsOf(one, defaults).filter((each) => asked.includes(each))
  if (!(await find(false, open))) {
    const tooLarge = ofSuch.filter((each) => !open.includes(each))
    return open.length === 0 || (await find(false, tooLarge))
      ? closed('GROUP_TOO_LARGE', ...(await sizeGates(database, appId, defaults, tooLarge)))
      : closed('NO_DEVICE', ['device', false, 'chat', false])
  }
  if (isChosen(app, one) && !(await find(true, open))) {
    const { value, by } = levelOf(app, {}, one.kind, one.category)
    return closed('NOT_CHOSEN', [one.category, value, by, false])
  }
  return isChange(one) ? closed('NOTHING_SHOWN', ['shown', false, 'chat', false]) : closed('NOT_PLANNED')
}

/** Of a message that nobody is notified of, why that is. */
async function whyNobody(
  database: Database,
  appId: number,
  id: number | null | undefined,
): Promise<Unplanned | undefined> {
  if (id === null || id === undefined) return undefined
  const [found] = await database.query<{ category: string; isNotifying: boolean }>(selectMessage, [appId, id])
  if (found?.category === 'custom' && !found.isNotifying) {
    return closed('NOT_NOTIFYING', ['sendNotification', false, 'chat', false])
  }
  if (found?.category === 'action' || found?.category === 'call') {
    return closed('NOT_NOTIFYING', ['category', found.category, 'chat', false])
  }
  return undefined
}

function closed(reason: UnplannedReason, ...gates: readonly StoredGate[]): Unplanned {
  return { reason, gates }
}

const selectSet = statement(`
  select coalesce(settings, '{}') as "set"
  from apps
  where app_id = $1`)

/** How many members a group may have at most, by channel. */
async function sizeGates(
  database: Database,
  appId: number,
  sizes: AppSettings,
  tooLarge: readonly Channel[],
): Promise<StoredGate[]> {
  const [row] = await database.query<{ set: SetAppSettings }>(selectSet, [appId])
  return tooLarge.map((channel): StoredGate => {
    const name = `${channel}GroupSize` as const
    return [name, sizes[name], row?.set[name] === undefined ? 'default' : 'app', false]
  })
}

async function takesPart(database: Database, appId: number, one: Happened, uid: string): Promise<boolean> {
  if (one.kind === 'oneOnOne') return uid === one.first || uid === one.second
  return (await database.query(selectMember, [appId, one.first, uid])).length > 0
}
