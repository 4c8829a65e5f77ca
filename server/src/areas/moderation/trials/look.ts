import { setImmediate as otherWork, setTimeout as pause } from 'node:timers/promises'
import type { Engine } from '../../../chat/moderation/engine/engine.ts'
import type { Context } from '../../../context.ts'
import type { JobRunner } from '../../../jobs/runner.ts'
import type { Log } from '../../../log.ts'
import { isConnectionFailure } from '../../../store/connection.ts'
import type { Database } from '../../../store/database.ts'
import { ofService } from '../../../store/reader.ts'
import { compileFragment, statement } from '../../../store/statement.ts'
import { compileAlone } from './compile.ts'
import { type Findings, noFindings, note, storeFindings } from './findings.ts'
import { judgedPast, nextPortion, type PastMessage, portionSize } from './portion.ts'
import { dryRunTask, type RunRow, readListsAsThen, readRun } from './runs.ts'

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

/** So long others wait at most, in milliseconds. */
const sliceMs = 1.5
/** Others had something to do when they were let in for longer than this; then they get more time than the dry run. */
const busyMs = 0.3
const restMs = 4

export function createDryRuns({
  database,
  jobs,
  log,
}: Pick<Context, 'database' | 'log'> & { readonly jobs: JobRunner }): DryRuns {
  const reads = database.openReads({ name: 'dry runs', atOnce: 1, timeoutMs: 60_000 })
  let isStopping = false
  let turn: Promise<unknown> = Promise.resolve()

  const readPortion = async (appId: number, run: RunRow): Promise<PastMessage[]> =>
    (await reads.run(compileFragment(nextPortion(appId, run)), ofService)).rows
  jobs.register(dryRunTask, (payload) => {
    const { appId, ruleId, run } = payload as Payload
    const working = turn.then(() => lookThrough(database, log, readPortion, { appId, ruleId, run }, () => isStopping))
    turn = working.catch(() => {})
    return working
  })
  return {
    stop() {
      isStopping = true
    },
  }
}

async function lookThrough(
  database: Database,
  log: Log,
  readPortion: (appId: number, run: RunRow) => Promise<PastMessage[]>,
  payload: Payload,
  isStopping: () => boolean,
): Promise<void> {
  const { appId, ruleId, run } = payload
  const end = (status: 'done' | 'failed', error: string | null) =>
    database.query(finish, [appId, ruleId, run, status, error, Math.floor(Date.now() / 1000)])
  try {
    const first = await readRun(database, appId, ruleId)
    if (first?.run !== run || first.status !== 'running') return
    const engine = await compileAlone(first.definition.rule, await readListsAsThen(database, appId, first.definition))
    let position: RunRow = first
    for (;;) {
      // The job fails, and is done again elsewhere.
      if (isStopping()) throw new StoppingError()
      const messages = await readPortion(appId, position)
      const last = messages.at(-1)
      if (last === undefined) break
      const findings = await judgeAll(engine, messages)
      const goesOn = await database.transaction((tx) => storeFindings(tx, payload, last, findings))
      if (!goesOn) return
      if (messages.length < portionSize) break
      position = { ...position, positionAt: last.sentAt, positionId: last.id }
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

/** Judges messages in short slices, since sends are served by the same thread; while they come, it rests between them. */
async function judgeAll(engine: Engine, messages: readonly PastMessage[]): Promise<Findings> {
  const findings = noFindings()
  let began = performance.now()
  for (const message of messages) {
    if (message.data === null) continue
    const { hits } = engine.judge(judgedPast(message, message.data))
    note(findings, message, hits[0])
    if (performance.now() - began < sliceMs) continue
    const letIn = performance.now()
    await otherWork()
    if (performance.now() - letIn > busyMs) await pause(restMs)
    began = performance.now()
  }
  return findings
}
