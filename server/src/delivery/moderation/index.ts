import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import type { Log } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { contextOf } from '../../traced-context.ts'
import type { Tracing } from '../../tracing/tracing.ts'
import type { Poster } from '../outbound/http.ts'
import { createLine, type Line } from './ask/line.ts'
import {
  type Claimed,
  claimDue,
  dropQuestions,
  hasEarlier,
  hastenDue,
  putOffClaimed,
  renewLeases,
  renewMs,
} from './claim.ts'
import { createEngineLists } from './engine-lists.ts'
import { createEngineMetrics } from './metrics.ts'
import { judgeClaimed } from './pass.ts'
import { settle } from './settle.ts'

/**
 * Asks engines outside what rules want to know of messages, and settles those that wait for an answer. Each message is held
 * by a lease of its own: whoever stored it asks about it at once, and what a killed process leaves is taken by the others.
 */
export interface Questions {
  /** Messages were stored with questions: they are looked after at once. */
  wake(): void
  start(context: Context): void
  /** Takes no more; what is under way ends, or is found again by others. */
  stop(): Promise<void>
}

export interface QuestionsOptions {
  readonly database: Database
  readonly log: Log
  readonly metrics: Metrics
  readonly secrets: Secrets
  readonly poster: Poster
  readonly tracing: Tracing | undefined
}

/** Messages under way in this process: of all apps, and of one. */
const width = 300
const widthOfApp = 100
/** How often to look for what others have left. */
const lookMs = 1_500
/** How often to look for what waits because a clock was ahead. */
const hastenMs = 60_000
/** How often to look whether what comes before is settled, and for how long at most: longer than any engine may take. */
const turnLookMs = 25
const turnPatienceMs = 40_000
/** How long requests may go on when the process stops. */
const stopPatienceMs = 1_000
/** After a fault of our own a message is tried again, each time later. */
const longestPutOffSeconds = 60

/** A message that nobody else has seen; of others an edit waits, or rules in shadow ask about them. */
function isNew({ status, waiting }: Claimed): boolean {
  return status === 'pending' && waiting === null
}

export function createQuestions(options: QuestionsOptions): Questions {
  const { database, log, metrics, secrets, poster, tracing } = options
  const engineMetrics = createEngineMetrics(metrics.registry, database, () => line.paused)
  const line: Line = createLine(poster, engineMetrics)
  const lists = createEngineLists(database, secrets)
  const running = new Map<Claimed, Promise<void>>()
  /** What a sender says in a conversation appears in the order in which they said it. */
  const lastOf = new Map<string, { readonly message: number; readonly work: Promise<void> }>()
  let context: Context | undefined
  let timers: NodeJS.Timeout[] = []
  let claiming: Promise<void> | undefined
  let isAsked = false
  let isStopped = false

  const fullApps = (): number[] => {
    const counts = new Map<number, number>()
    for (const { appId } of running.keys()) counts.set(appId, (counts.get(appId) ?? 0) + 1)
    return [...counts].flatMap(([appId, count]) => (count >= widthOfApp ? appId : []))
  }
  /** Claims as long as there is something. */
  const claimAll = async (context: Context) => {
    while (isAsked && !isStopped && running.size < width) {
      isAsked = false
      const limit = Math.min(width - running.size, widthOfApp)
      const claimed = await claimDue(database, limit, fullApps())
      for (const one of claimed) begin(context, one)
      if (claimed.length === limit) isAsked = true
    }
  }
  const wake = () => {
    isAsked = true
    if (context === undefined || claiming !== undefined || isStopped) return
    claiming = claimAll(context)
      .catch((error) => {
        if (!isConnectionFailure(error)) log.error({ err: error }, 'messages that wait for engines could not be read')
      })
      .finally(() => {
        claiming = undefined
        if (isAsked && running.size < width) wake()
      })
  }
  const begin = (context: Context, claimed: Claimed) => {
    const chain = `${claimed.appId} ${claimed.conversation} ${claimed.sender}`
    const last = lastOf.get(chain)
    // What a killed process was asking about comes after later ones, which wait for it.
    const before = last !== undefined && last.message < claimed.message ? last.work : undefined
    const work = workOff(context, claimed, before).finally(() => {
      running.delete(claimed)
      if (lastOf.get(chain)?.work === work) lastOf.delete(chain)
      wake()
    })
    running.set(claimed, work)
    lastOf.set(chain, { message: claimed.message, work })
  }
  const workOff = async (context: Context, claimed: Claimed, before: Promise<void> | undefined): Promise<void> => {
    const app: App = { appId: claimed.appId, name: claimed.appName, region: claimed.region }
    const trace = claimed.questions.find((question) => question.trace !== undefined)?.trace
    const attributes = { 'parley.app': app.name, 'parley.message': claimed.message, 'parley.attempt': claimed.attempts }
    const span = tracing?.follow('moderate', trace, { kind: 'consumer', attributes })
    try {
      await settleClaimed(contextOf(context, span), app, claimed, before)
      span?.end()
    } catch (error) {
      span?.end(error)
      if (!isConnectionFailure(error)) {
        log.error({ err: error, app: app.name, message: claimed.message }, 'a message could not be moderated')
      }
      const seconds = Math.min(longestPutOffSeconds, 2 ** Math.min(6, claimed.attempts))
      // Where this fails, too, its lease runs out.
      await putOffClaimed(database, claimed, seconds).catch(() => {})
    }
  }
  const settleClaimed = async (context: Context, app: App, claimed: Claimed, before: Promise<void> | undefined) => {
    const judged = await judgeClaimed({ context, lists, line }, app, claimed)
    await before
    if (isNew(claimed)) await inItsTurn(claimed)
    // Requests may have failed because this process stops: others ask again.
    if (isStopped) return await putOffClaimed(database, claimed, 0)
    if (judged === undefined) await dropQuestions(database, claimed)
    else await settle(context, app, claimed, judged)
  }
  /** Waits for what the sender said before, as long as others ask about that. */
  const inItsTurn = async (claimed: Claimed) => {
    const patienceEnds = performance.now() + turnPatienceMs
    while (!isStopped && performance.now() < patienceEnds && (await hasEarlier(database, claimed)))
      await delay(turnLookMs)
  }
  const hasten = () =>
    hastenDue(database).catch((error) => {
      if (!isConnectionFailure(error)) log.error({ err: error }, 'messages that wait for engines could not be read')
    })
  const renew = async () => {
    if (running.size === 0) return
    // What fails here is noticed by the lease running out: then two ask, and the later answer changes nothing.
    await renewLeases(database, [...running.keys()]).catch(() => {})
  }

  return {
    wake,
    start(given) {
      context = given
      timers = [
        setInterval(wake, lookMs).unref(),
        setInterval(() => void renew(), renewMs).unref(),
        setInterval(() => void hasten(), hastenMs).unref(),
      ]
      void hasten().then(wake)
    },
    async stop() {
      isStopped = true
      for (const timer of timers) clearInterval(timer)
      await claiming
      // Engines may take long; what they have not answered by now is for others, who need not wait for the lease to end.
      await Promise.race([Promise.all(running.values()), delay(stopPatienceMs, undefined, { ref: false })])
      await Promise.all([...running.keys()].map((claimed) => putOffClaimed(database, claimed, 0))).catch(() => {})
    },
  }
}
