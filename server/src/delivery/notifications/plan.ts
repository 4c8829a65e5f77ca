import {
  type AppSettings,
  type Channel,
  channels,
  type NotificationCategory,
  type NotificationReason,
} from '@parley/contract'
import type { AppSettingsStore } from '../../chat/app-settings.ts'
import { decide, reasonToOpenNone, storedGate } from '../../chat/notifications/decide.ts'
import { levelOf } from '../../chat/notifications/preferences.ts'
import type { AppNotifications, NotificationSettingsStore } from '../../chat/notifications/settings.ts'
import type { RolePolicies } from '../../chat/roles/policies.ts'
import { dayMs } from '../../chat/usage/clock.ts'
import { countEnded } from '../../chat/usage/notification-counts.ts'
import { textArray } from '../../store/arrays.ts'
import type { Database } from '../../store/database.ts'
import { createRecordset } from '../../store/recordset.ts'
import { statement } from '../../store/statement.ts'
import type { Tracing } from '../../tracing/tracing.ts'
import type { Wakes } from '../outbound/wakes.ts'
import { type Candidate, readCandidates } from './candidates.ts'
import { dayOf } from './flights.ts'
import { createHandingOver, type Receiver } from './hand-over.ts'
import { type Happened, isChange, readHappenings } from './happenings.ts'
import { addJobsOfAsked, askSenders } from './jobs.ts'
import type { SendingHands } from './ready.ts'
import { readSentBefore } from './sent-before.ts'
import { planTakeBacks } from './take-backs/plan.ts'
import { timeToLiveMs } from './time-to-live.ts'
import { openWindows } from './unread/windows.ts'

export interface PlanOptions {
  readonly database: Database
  readonly settings: AppSettingsStore
  readonly notificationSettings: NotificationSettingsStore
  readonly policies: RolePolicies
  /** Who sends in this process: what need not wait is handed to them. */
  readonly hands: SendingHands
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Wakes those who send, once something is planned here. */
  readonly wakes: Pick<Wakes, 'wake'>
  readonly tracing: Tracing | undefined
}

const eventsAtOnce = 400
const candidatesAtOnce = 2_000
interface Position {
  /** Everything up to this event is planned; where `uid` is not '', of this one only the users up to that. */
  readonly event: number
  readonly uid: string
}

/** What is written of one user and device. */
interface Planned {
  readonly candidate: Candidate
  readonly one: Happened
  readonly reason: NotificationReason | undefined
  /** The place of its gates among those of the page, from 1. */
  readonly gates: number
  readonly waitMs: number
  /** It waits until an operator has it sent. */
  readonly isHeld: boolean
  readonly isWindow: boolean
  /** Who sends it at once; undefined: it waits. */
  readonly to?: Receiver | undefined
}

const planned = createRecordset<Planned>(
  [
    ['uid', 'text', ({ candidate }) => candidate.recipient.uid],
    ['channel', 'text', ({ candidate }) => candidate.channel],
    ['provider_kind', 'text', ({ candidate }) => candidate.providerKind],
    ['provider_id', 'text', ({ candidate }) => candidate.providerId],
    ['provider', 'bigint', ({ candidate }) => candidate.provider],
    ['digest', 'text', ({ candidate }) => candidate.digest?.toString('base64') ?? null],
    ['platform', 'text', ({ candidate }) => candidate.platform],
    ['trigger', 'text', ({ one }) => one.trigger],
    ['event', 'bigint', ({ one }) => one.event],
    ['conversation', 'bigint', ({ one }) => one.conversation],
    // A window is of no message in particular: it stays where one is removed.
    ['message', 'bigint', ({ one, isWindow }) => (isWindow ? null : one.message)],
    ['opened_sent_at', 'bigint', ({ one, isWindow }) => (isWindow ? one.sentAt : null)],
    ['opened_id', 'bigint', ({ one, isWindow }) => (isWindow ? one.message : null)],
    ['reaction', 'bigint', ({ one }) => one.reaction],
    ['kind', 'smallint', ({ one }) => (one.kind === 'group' ? 2 : 1)],
    ['receiver', 'text', ({ one, candidate }) => (one.kind === 'group' ? one.first : candidate.recipient.uid)],
    ['reason', 'text', ({ reason }) => reason ?? null],
    ['gates', 'int', ({ gates }) => gates],
    // Without a time nothing is due (chat/held-by-restore.ts).
    ['wait_ms', 'bigint', ({ isHeld, waitMs }) => (isHeld ? null : waitMs)],
    [
      'expires_in',
      'bigint',
      ({ candidate, isWindow, waitMs }) => timeToLiveMs[candidate.channel] + (isWindow ? waitMs : 0),
    ],
    ['holder', 'text', ({ to }) => to?.holder ?? null],
    ['place', 'int', ({ to }) => to?.place ?? null],
  ],
  { alias: 'd', first: 7 },
)

/** As JSON: what most users have not touched is the same for all of them, so it is sent once for a page and not for each row. */
const gatesOfPage = `$${7 + planned.length}::json[]`
const columns = `app_id, uid, channel, provider_kind, provider_id, provider, digest, platform, trigger, event, conversation,
      message, reaction, kind, receiver, gates, expires_at, created_at, opened_sent_at, opened_id, status`
const values = `d.app_id, d.uid, d.channel, d.provider_kind, d.provider_id, d.provider, decode(d.digest, 'base64'), d.platform,
      d.trigger, d.event, d.conversation, d.message, d.reaction, d.kind, d.receiver, (${gatesOfPage})[d.gates], $6::bigint + d.expires_in,
      $6::bigint, d.opened_sent_at, d.opened_id`

/** Of a window that nobody has closed in time: what joined it now would be too late with it. */
const isOver = 'waiting.expires_at <= $6::bigint'
const begunAnew = ['event', 'gates', 'due_at', 'expires_at', 'created_at', 'opened_sent_at', 'opened_id']
  .map((column) => `${column} = case when ${isOver} then excluded.${column} else waiting.${column} end`)
  .join(',\n      ')

/**
 * What is stopped goes to the log at once, and so does what is handed over, pending. What comes while a window is open belongs
 * to it; where its time is over, it begins anew with that. Where another provider has been set up since, that one closes it.
 * Whoever closes it at this moment is waited for: then the next one is opened. A provider that is left alone has a job for when
 * its pause is over, so that its outage does not slow down planning for other providers.
 */
const write = statement(`
  with moved as (
    update notification_plans
    set event = $4,
      uid = $5
    where app_id = $1
    and event = $2
    and uid = $3
    returning app_id
  ),
  planned as materialized (
    select m.app_id, d.*
    from moved m
    cross join ${planned.sql}
  ),
  stopped as (
    insert into notification_deliveries (${columns}, day, reason, ended_at)
    select ${values}, 'stopped', $6::bigint / ${dayMs}, d.reason, $6::bigint
    from planned d
    where d.reason is not null
    returning app_id, channel, status, ended_at
  ),
  made as (
    insert into notification_days.waiting (${columns}, due_at)
    select ${values}, 'pending', $6::bigint + d.wait_ms
    from planned d
    where d.reason is null
    and d.holder is null
    on conflict (app_id, uid, channel, conversation) ${openWindows} do update
    set provider = excluded.provider,
      provider_kind = excluded.provider_kind,
      provider_id = excluded.provider_id,
      ${begunAnew}
    where waiting.provider <> excluded.provider
    or ${isOver}
    returning app_id, provider
  ),
  named as materialized (
    select nextval('notification_ids') as id, d.*
    from planned d
    where d.holder is not null
  ),
  handed as (
    insert into notification_deliveries (${columns}, id, day, due_at)
    select ${values}, 'pending', d.id, $6::bigint / ${dayMs}, $6::bigint
    from named d
  ),
  flights as (
    insert into notification_flights (app_id, provider, first, holder, day, ids)
    select d.app_id, d.provider, min(d.id), d.holder, $6::bigint / ${dayMs}, array_agg(d.id)
    from named d
    group by d.app_id, d.provider, d.holder
  ),
  counted as (${countEnded('select * from stopped')}
  ),
  asked as (${askSenders('made')}
  ),
  added as (
    ${addJobsOfAsked}
  )
  select (select count(*) from moved) as moved, (select jobs from added) as jobs,
    (select array_agg(id order by place) from named) as handed`)

/** From where to plan, up to the horizon. */
export interface Stretch extends Position {
  readonly horizon: number
  /** Up to here, events are from before a restore: what they mean waits until an operator has it sent. */
  readonly heldUntil: number
}

/**
 * Plans up to the horizon, or until `signal` says stop. While a page is decided and written, the next one is read. What another has
 * planned meanwhile is not planned again: then it ends.
 */
export async function planStretch(
  options: PlanOptions,
  appId: number,
  start: Stretch,
  signal: AbortSignal,
): Promise<void> {
  let reading: Promise<Page> | undefined = readPage(options, appId, start)
  while (reading !== undefined) {
    const page: Page = await reading
    reading = page.isLast || signal.aborted ? undefined : readPage(options, appId, { ...start, ...page.next })
    // It is of no use where writing this one fails.
    reading?.catch(() => {})
    if (!(await planTraced(options, appId, page))) return
  }
}

/** A page of what happened, with everybody whom it concerns. */
interface Page {
  readonly from: Position
  readonly next: Position
  /** Nothing is left up to the horizon. */
  readonly isLast: boolean
  readonly happened: readonly Happened[]
  readonly candidates: readonly Candidate[]
  readonly heldUntil: number
}

async function readPage(options: PlanOptions, appId: number, stretch: Stretch): Promise<Page> {
  const { event, uid, horizon, heldUntil } = stretch
  const { database } = options
  const page = await readHappenings(database, appId, {
    from: uid === '' ? event + 1 : event,
    ...{ to: horizon, limit: eventsAtOnce },
  })
  const [app, defaults] = await Promise.all([options.notificationSettings.of(appId), options.settings.of(appId)])
  const concerning = page.happened.filter((one) => channelsOf(one, defaults).length > 0)
  const happened = firstOfMembers(concerning, candidatesAtOnce)
  const last = happened.length < concerning.length ? happened.at(-1)?.event : page.last
  const found = await readCandidates(database, appId, happened, {
    isChosen: (one) => isChosen(app, one),
    channelsOf: (one) => channelsOf(one, defaults),
    after: { event, uid },
    limit: candidatesAtOnce,
    withTokens: options.hands.endpoints(),
  })
  const isCut = found.length === candidatesAtOnce
  const candidates = isCut ? withoutLastUser(found) : found
  const next = isCut ? positionOf(candidates) : { event: last ?? horizon, uid: '' }
  return { from: { event, uid }, next, isLast: !isCut && last === undefined, happened, candidates, heldUntil }
}

/** As `planPage`, with a part of each trace that what happened belongs to. */
async function planTraced(options: PlanOptions, appId: number, page: Page): Promise<boolean> {
  const { tracing } = options
  if (tracing === undefined) return planPage(options, appId, page)
  const spans = page.happened.flatMap(({ trace, event }) => {
    if (trace === null) return []
    const candidates = page.candidates.filter((candidate) => candidate.event === event).length
    const attributes = { 'parley.event': event, 'parley.candidates': candidates }
    return tracing.follow('plan notifications', trace, { kind: 'consumer', attributes }) ?? []
  })
  try {
    const isPlanned = await planPage(options, appId, page)
    for (const span of spans) span.end()
    return isPlanned
  } catch (error) {
    for (const span of spans) span.end(error)
    throw error
  }
}

/** @returns false where another has planned it meanwhile */
async function planPage(options: PlanOptions, appId: number, page: Page): Promise<boolean> {
  const { database, now } = options
  const { from, next, happened, candidates, heldUntil } = page
  const [app, defaults] = await Promise.all([options.notificationSettings.of(appId), options.settings.of(appId)])
  const at = now()
  const byEvent = new Map(happened.map((one) => [one.event, one]))
  const considered = await withoutUnsent(database, appId, candidates, byEvent)
  const opened = new Set<string>()
  const gatesOf = createPlaces()
  const handing = createHandingOver(options, appId, at)
  const rows = considered.flatMap((candidate): Planned | [] => {
    const isHeld = candidate.event <= heldUntil
    const one = byEvent.get(candidate.event) as Happened
    const { recipient, channel, mail } = candidate
    const decision = decide(one, recipient, app, defaults, at, mail)
    const gates = gatesOf.placeOf(JSON.stringify(decision.gates.map(storedGate)))
    if (channel === 'push') {
      const waitMs = recipient.isOnline ? defaults.pushWaitOnlineSeconds * 1000 : 0
      const isForNow = decision.reason === undefined && waitMs === 0 && !isHeld
      const to = isForNow ? handing.receiverOf(candidate, one) : undefined
      return { candidate, one, reason: decision.reason, gates, waitMs, isHeld, isWindow: false, to }
    }
    const reason = reasonToOpenNone(decision)
    const window = `${channel} ${recipient.uid} ${one.conversation}`
    if (reason === undefined && opened.has(window)) return []
    if (reason === undefined) opened.add(window)
    const waitMs = app.settings.preferences[channel].intervalInSeconds * 1000
    return { candidate, one, reason, gates, waitMs, isHeld, isWindow: reason === undefined }
  })
  // Before the position moves: what is planned twice is taken back once, what is not planned never.
  if (defaults.pushTakeBackRead && next.event > heldUntil)
    await planTakeBacks(database, appId, { from: from.event, to: next.event, now: at })
  const values = [...planned.values(rows), textArray(gatesOf.values)]
  const parameters = [appId, from.event, from.uid, next.event, next.uid, at, ...values]
  // What is handed over is made ready while it is written.
  const [[written]] = await Promise.all([database.query<Written>(write, parameters), handing.prepare()])
  await handing.finish(written?.handed ?? [], dayOf(at))
  const open = rows.filter(({ reason, to }) => reason === undefined && to === undefined)
  for (const provider of new Set(open.map(({ candidate }) => candidate.provider))) options.wakes.wake(provider)
  return written?.moved !== 0
}

interface Written {
  readonly moved: number
  /** The ids of what is handed over, by its place. */
  readonly handed: readonly number[] | null
}

/** Values that many rows share: each is kept once, and rows have its place, from 1. */
function createPlaces(): { placeOf(value: string): number; readonly values: readonly string[] } {
  const values: string[] = []
  const places = new Map<string, number>()
  return {
    values,
    placeOf(value) {
      const place = places.get(value) ?? values.push(value)
      places.set(value, place)
      return place
    },
  }
}

/**
 * As many as their members fill a page, and at least one: everybody whom they concern is looked up, also those whom only the
 * next pages have room for.
 */
export function firstOfMembers<One extends Pick<Happened, 'members'>>(
  happened: readonly One[],
  most: number,
): readonly One[] {
  let members = 0
  const enough = happened.findIndex((one) => {
    members += one.members
    return members >= most
  })
  return enough < 0 ? happened : happened.slice(0, enough + 1)
}

type GroupSizes = Pick<AppSettings, 'pushGroupSize' | 'emailGroupSize' | 'smsGroupSize'>

/** The channels by which something is sent at all: not in groups that are too large for them; e-mail and SMS of messages only. */
export function channelsOf(
  { members, category }: Pick<Happened, 'members' | 'category'>,
  sizes: GroupSizes,
): Channel[] {
  return channels.filter((channel) => {
    const most = sizes[`${channel}GroupSize`]
    return (most === 0 || members <= most) && (channel === 'push' || ofUnread.includes(category))
  })
}

const ofUnread: readonly NotificationCategory[] = ['messages', 'replies', 'quotedReplies']

/** Whether only those are notified who chose so: nobody else can be, so nobody else is looked at. */
export function isChosen(app: AppNotifications, { kind, category }: Happened): boolean {
  const { value } = levelOf(app, {}, kind, category)
  return value === 1 || (category === 'reactions' && value === 2)
}

/** Edits and deletions go only where the message was sent: elsewhere nothing is shown that they could replace. */
async function withoutUnsent(
  database: Database,
  appId: number,
  candidates: readonly Candidate[],
  byEvent: ReadonlyMap<number, Happened>,
): Promise<readonly Candidate[]> {
  const changed = ({ event }: Candidate) =>
    isChange(byEvent.get(event)) ? (byEvent.get(event)?.message ?? undefined) : undefined
  const messages = new Set(candidates.flatMap((one) => changed(one) ?? []))
  if (messages.size === 0) return candidates
  const sentBefore = await readSentBefore(database, appId, messages)
  return candidates.filter((one) => {
    const message = changed(one)
    return message === undefined || sentBefore.isPlanned(message, { ...one, uid: one.recipient.uid })
  })
}

/** A user's devices stay together; whoever is left out comes first on the next page. */
function withoutLastUser(found: readonly Candidate[]): readonly Candidate[] {
  const last = found.at(-1)
  const kept = found.filter(({ event, recipient }) => event !== last?.event || recipient.uid !== last.recipient.uid)
  return kept.length === 0 ? found : kept
}

function positionOf(candidates: readonly Candidate[]): Position {
  const last = candidates.at(-1) as Candidate
  return { event: last.event, uid: last.recipient.uid }
}
