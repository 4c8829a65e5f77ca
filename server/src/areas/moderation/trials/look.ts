import { setImmediate as otherWork, setTimeout as pause } from 'node:timers/promises'
import type { Engine } from '../../../chat/moderation/engine/engine.ts'
import type { Context } from '../../../context.ts'
import type { JobRunner } from '../../../jobs/runner.ts'
import type { Log } from '../../../log.ts'
import { watchDemand } from '../../../metrics.ts'
import { isConnectionFailure } from '../../../store/connection.ts'
import type { Database } from '../../../store/database.ts'
import { ofService } from '../../../store/reader.ts'
import { compileFragment, statement } from '../../../store/statement.ts'
import { compileAlone } from './compile.ts'
import { type Findings, noFindings, note, storeFindings } from './findings.ts'
import { judgedPast, nextPortion, type PastMessage } from './portion.ts'
import { dryRunTask, holdPaused, type RunRow, readListsAsThen, readRun } from './runs.ts'

/** Looks through messages for dry runs, one after the other. */
export interface DryRuns {
  /** Lets the portion under way end; another process goes on with the rest. */
  stop(): void
}

interface Payload {
  readonly appId: number
  readonly ruleId: string
  readonly run: string
}

const finish = statement(`
  update moderation_dry_runs
  set status = $4,
    error = $5,
    finished_at = $6
  where app_id = $1
  and rule_id = $2
  and run = $3
  and status = 'running'`)

/** How much is done at a time. */
interface Gait {
  /** So many messages are read at once. */
  readonly portion: number
  /** So long others wait at most, in milliseconds. */
  readonly sliceMs: number
  /** After each portion it rests so many times as long as that took. */
  readonly restTimes: number
}

/** What was found in so many messages is stored together. */
const storedAtOnce = 500

const gaits: Readonly<Record<'alone' | 'besideClients', Gait>> = {
  alone: { portion: 500, sliceMs: 1.5, restTimes: 0 },
  besideClients: { portion: 100, sliceMs: 0.5, restTimes: 2 },
}

export function createDryRuns({
  database,
  jobs,
  log,
  metrics,
}: Pick<Context, 'database' | 'log' | 'metrics'> & { readonly jobs: JobRunner }): DryRuns {
  const reads = database.openReads({ name: 'dry runs', atOnce: 1, timeoutMs: 60_000 })
  let isStopping = false
  let turn: Promise<unknown> = Promise.resolve()

  const isAsked = watchDemand(metrics.demand)
  const gait = () => gaits[isAsked(performance.now()) ? 'besideClients' : 'alone']

  const readPortion: ReadPortion = async (appId, run, limit) =>
    (await reads.run(compileFragment(nextPortion(appId, run, limit)), ofService)).rows
  jobs.register(dryRunTask, (payload) => {
    const { appId, ruleId, run } = payload as Payload
    const working = turn.then(() =>
      lookThrough(database, log, { readPortion, gait }, { appId, ruleId, run }, () => isStopping),
    )
    turn = working.catch(() => {})
    return working
  })
  return {
    stop() {
      isStopping = true
    },
  }
}

type ReadPortion = (appId: number, run: RunRow, limit: number) => Promise<PastMessage[]>

async function lookThrough(
  database: Database,
  log: Log,
  { readPortion, gait }: { readonly readPortion: ReadPortion; readonly gait: () => Gait },
  payload: Payload,
  isStopping: () => boolean,
): Promise<void> {
  const { appId, ruleId, run } = payload
  const end = (status: 'done' | 'failed', error: string | null) =>
    database.query(finish, [appId, ruleId, run, status, error, Math.floor(Date.now() / 1000)])
  try {
    const first = await readRun(database, appId, ruleId)
    if (first?.run !== run || first.status !== 'running') return
    if (await holdPaused(database, appId, ruleId, run)) return
    const engine = await compileAlone(first.definition.rule, await readListsAsThen(database, appId, first.definition))
    let position: RunRow = first
    let findings = noFindings()
    let [unstored, isOver] = [0, false]
    while (!isOver) {
      // The job fails, and is done again elsewhere.
      if (isStopping()) throw new StoppingError()
      const { portion, sliceMs, restTimes } = gait()
      const began = performance.now()
      const messages = await readPortion(appId, position, portion)
      await judgeAll(engine, messages, sliceMs, findings)
      const last = messages.at(-1)
      if (last !== undefined) position = { ...position, positionAt: last.sentAt, positionId: last.id }
      unstored += messages.length
      isOver = messages.length < portion
      if (unstored >= storedAtOnce || (isOver && unstored > 0)) {
        const [upTo, found] = [position, findings]
        if (!(await database.transaction((tx) => storeFindings(tx, payload, upTo, found)))) return
        findings = noFindings()
        unstored = 0
        if (!isOver && (await holdPaused(database, appId, ruleId, run))) return
      }
      if (restTimes > 0) await pause(restTimes * (performance.now() - began))
    }
    await end('done', null)
  } catch (err) {
    if (err instanceof StoppingError || isConnectionFailure(err)) throw err
    log.error({ err, app: appId, ruleId }, 'a dry run of a rule failed')
    await end('failed', 'The service could not go on; its log says why.')
  }
}

class StoppingError extends Error {
  constructor() {
    super('the service stops')
  }
}

/** Judges messages in short slices, since clients are served by the same thread. */
async function judgeAll(
  engine: Engine,
  messages: readonly PastMessage[],
  sliceMs: number,
  findings: Findings,
): Promise<void> {
  let began = performance.now()
  for (const message of messages) {
    if (message.data === null) continue
    const { hits } = engine.judge(judgedPast(message, message.data))
    note(findings, message, hits[0])
    if (performance.now() - began < sliceMs) continue
    await otherWork()
    began = performance.now()
  }
}
