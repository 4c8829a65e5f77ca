import type { App } from '../../chat/identity.ts'
import type { ProviderRow } from '../../chat/notifications/providers.ts'
import type { Database } from '../../store/database.ts'
import { drain } from '../outbound/drain.ts'
import type { EndpointKey } from '../outbound/endpoints.ts'
import type { Some } from '../outbound/keyed-queue.ts'
import { createLeases } from '../outbound/lease.ts'
import type { Pace } from '../outbound/pace.ts'
import type { Outcome, Round } from '../outbound/round.ts'
import type { Seats } from '../outbound/seats.ts'
import type { Wakes } from '../outbound/wakes.ts'
import { type AttemptOptions, attempt, type Sendable } from './attempt.ts'
import { type DueNotification, selectDue } from './due.ts'
import { longestPauseMs, providerEndpoints } from './endpoints.ts'
import { type Flight, takeOverFlights } from './flights.ts'
import type { Freshness } from './freshness.ts'
import type { NotificationMetrics } from './metrics.ts'
import { makeReady, type Ready, type Rendered, type SendingHands } from './ready.ts'
import { renderNotifications } from './render.ts'
import { hastenRetries, nextStep, type SendResult, writeResults } from './results.ts'
import type { Sender, Senders } from './senders.ts'
import { renderTakeBacks } from './take-backs/render.ts'
import { renderUnread, type UnreadOptions } from './unread/render.ts'

export interface SendOptions extends UnreadOptions, AttemptOptions {
  readonly senders: Senders
  /** Where what became of attempts is written. */
  readonly results: Database
  readonly metrics: NotificationMetrics
  readonly pace: Pace
  readonly wakes: Wakes
  readonly seats: Seats
  /** Where those who plan find who sends. */
  readonly hands: SendingHands
  readonly freshness: Freshness
}

/** Enough that none of those who send waits while the next portion is read; by a provider that is slow, fewer are read. */
const room = 400
/** What replaces something that is just being sent waits for so long. */
const laterMs = 500
/** Each e-mail is made of several messages. */
const unreadAtOnce = 25
const firstDelayMs = 1_000
/** Somebody waits for a notification, and one that is tried now and then does no harm. */
const maxPauseMs = 10_000
/** What became of what was due together is written together. */
const resultsMs = 50
const leases = createLeases<OpenRow>(providerEndpoints)

interface OpenRow extends ProviderRow {
  readonly appName: string
  readonly region: string
}

/** A provider, ready to send. */
interface Target {
  readonly enabled: boolean
  readonly width: number
  readonly batch: number | undefined
  readonly room: number
  readonly unwritten: number | undefined
  readonly kind: string
  readonly app: App
  readonly provider: ProviderRow
  readonly sender: Sender
}

/** Sends what is due by one provider. */
export function sendDue(options: SendOptions, key: EndpointKey, signal: AbortSignal): Promise<void> {
  const { database, log, pace, seats } = options
  const begin = () => beginRound(options, key)
  const work = 'sending notifications'
  const timing = { firstDelayMs, maxPauseMs, resultsMs }
  const onDue = (look: () => void) => options.wakes.listen(key.endpoint, look)
  return drain({ database, log, pace, seats, leases, work, room, begin, onDue, ...timing }, key, signal)
}

function beginRound(options: SendOptions, key: EndpointKey): Round<OpenRow, Target, Ready, SendResult> {
  const { database, senders } = options
  /** Its credentials are long: they are looked at every few milliseconds, and unsealed when they have changed. */
  let last: { readonly row: OpenRow; readonly app: App; readonly sender: Sender } | undefined
  /** What was handed over and is not written, by id. */
  const flights = new Map<number, Flight>()
  return {
    async begin(hand) {
      await takeOverFlights(database, key, hand.holder)
      return options.hands.open(key.endpoint, {
        holder: hand.holder,
        get room() {
          return hand.room
        },
        take(items) {
          const isTaken = hand.take(items)
          // What is not taken waits, and is read as such where the lease is kept after all.
          if (isTaken) for (const { id, flight } of items) if (flight !== undefined) flights.set(id, flight)
          return isTaken
        },
      })
    },
    open(row) {
      if (last === undefined || !isSame(last.row, row)) {
        const app = { appId: key.appId, name: row.appName, region: row.region }
        last = { row, app, sender: senders.of(app, row) }
      }
      const { app, sender } = last
      const { width, unwritten, batch } = sender
      const room = options.freshness.roomOf(key.endpoint, width * (batch?.size ?? 1))
      const paced = { enabled: row.enabled, width, room, unwritten, batch: batch?.size }
      return { ...paced, kind: row.kind, app, provider: row, sender }
    },
    async read({ app, provider }, { except, limit }) {
      const atOnce = provider.channel === 'push' ? limit : Math.min(limit, unreadAtOnce)
      const due = await selectDue(database, key, { except, limit: atOnce })
      const rendered = await render(options, app, provider, due)
      return due.map((one) => makeReady(one, rendered.get(one.id)))
    },
    attempt: (target, all) => attemptNotifications(options, target, all),
    async write(results) {
      options.metrics.ended(last?.row.kind ?? '', results)
      for (const [day, ofDay] of byDay(results, flights)) {
        const landed = landing(ofDay, flights)
        await writeResults(options.results, key, { day, landed }, ofDay)
        for (const { id } of ofDay) flights.delete(id)
      }
    },
    recover: () => hastenRetries(database, key),
  }
}

/** Those that waited have day 0. */
function byDay(results: readonly SendResult[], flights: ReadonlyMap<number, Flight>): Map<number, SendResult[]> {
  const days = new Map<number, SendResult[]>()
  for (const result of results) {
    const day = flights.get(result.id)?.day ?? 0
    const ofDay = days.get(day)
    if (ofDay === undefined) days.set(day, [result])
    else ofDay.push(result)
  }
  return days
}

/** @returns those that are over with these results */
function landing(results: readonly SendResult[], flights: ReadonlyMap<number, Flight>): number[] {
  return results.flatMap(({ id }) => {
    const flight = flights.get(id)
    return flight !== undefined && --flight.left === 0 ? flight.first : []
  })
}

function isSame(one: OpenRow, other: OpenRow): boolean {
  return (
    one.sealed.equals(other.sealed) &&
    one.appName === other.appName &&
    one.region === other.region &&
    JSON.stringify(one.settings) === JSON.stringify(other.settings)
  )
}

function render(
  options: SendOptions,
  app: App,
  provider: ProviderRow,
  due: readonly DueNotification[],
): Promise<ReadonlyMap<number, Rendered>> {
  const { channel } = provider
  return channel === 'push'
    ? renderPushes(options, app, due)
    : renderUnread(options, app, { ...provider, channel }, due)
}

async function renderPushes(
  options: SendOptions,
  app: App,
  due: readonly DueNotification[],
): Promise<ReadonlyMap<number, Rendered>> {
  const takeBacks = due.filter(({ trigger }) => trigger === 'messages_read')
  const news = takeBacks.length === 0 ? due : due.filter(({ trigger }) => trigger !== 'messages_read')
  const [rendered, takenBack] = await Promise.all([
    renderNotifications(options, app, news),
    renderTakeBacks(options, app.appId, takeBacks),
  ])
  return new Map<number, Rendered>([...rendered, ...takenBack])
}

/** What becomes of what is not sent. */
function unsent({ id, attempts, rendered }: Ready): SendResult {
  if (rendered === 'later') return { id, status: 'pending', dueIn: laterMs, attempts }
  const { lapse: reason, gates } =
    rendered !== undefined && 'lapse' in rendered ? rendered : { lapse: 'NOT_FOUND' as const, gates: undefined }
  const status = reason === 'TIMED_OUT' && attempts > 0 ? 'failed' : 'stopped'
  return { id, status, reason, attempts, ...(gates && { gates }) }
}

/** What is due again at once. */
function untried({ id, attempts }: Pick<Ready, 'id' | 'attempts'>): SendResult {
  return { id, status: 'pending', dueIn: 0, attempts }
}

async function attemptNotifications(
  options: SendOptions,
  target: Target,
  all: readonly Ready[],
): Promise<Outcome<SendResult>> {
  const results: SendResult[] = []
  const sendable: Sendable[] = []
  for (const due of all) {
    const { rendered } = due
    if (typeof rendered !== 'object' || !('notice' in rendered)) results.push(unsent(due))
    else if (options.freshness.isStale(due)) results.push(untried(due))
    else sendable.push({ due, notice: rendered.notice })
  }
  if (!isSome(sendable)) return { results }
  const { attempts, ofProvider } = await attempt(options, target, sendable)
  // What failed together is due together.
  const random = Math.random()
  for (const [i, { due }] of sendable.entries()) {
    const made = attempts[i]
    if (made !== undefined) results.push(nextStep(due, made, options.now(), random))
    else results.push(untried(due))
  }
  const wasCalled = ofProvider !== undefined && ofProvider.outcome !== 'postponed'
  if (wasCalled) options.freshness.took(target.provider.key, ofProvider.durationMs)
  if (target.sender.hasOwnBreakers === true || !wasCalled) return { results }
  const { outcome, retryAfter, isProviderWell } = ofProvider
  // Every refusal is about one device.
  const failed = outcome === 'failed' && isProviderWell !== true
  return {
    results,
    worked: !failed,
    ...(failed && retryAfter !== undefined && { putOffMs: Math.min(retryAfter * 1000, longestPauseMs) }),
  }
}

function isSome<Item>(items: readonly Item[]): items is Some<Item> {
  return items.length > 0
}
