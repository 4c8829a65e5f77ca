import { randomUUID } from 'node:crypto'
import { type BodyOf, badRequest, type startDryRun } from '@parley/contract'
import { lockApp } from '../../../chat/apps.ts'
import type { App } from '../../../chat/identity.ts'
import { listRevisionOf, readListRevision } from '../../../chat/moderation/lists.ts'
import type { ListRevision, RuleRevision } from '../../../chat/moderation/model.ts'
import { listIdsOf, revisionOf } from '../../../chat/moderation/rules.ts'
import type { Context } from '../../../context.ts'
import { addJobsOf } from '../../../jobs/add-jobs.ts'
import { nowMs } from '../../../store/clock.ts'
import type { Queryable } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { unknownDryRun } from '../errors.ts'
import { listStore } from '../lists/store.ts'
import { requireRule } from '../rules/change.ts'

/** What a dry run tries: the rule and its lists, as they were when it began. */
export interface Definition {
  readonly rule: RuleRevision
  readonly lists: ReadonlyArray<{ readonly listId: string; readonly revision: number }>
}

/** A dry run as it is kept. */
export interface RunRow {
  readonly run: string
  readonly definition: Definition
  /** Epoch seconds. */
  readonly from: number
  readonly to: number
  /** Of the messages, up to 1. */
  readonly share: number
  readonly status: 'running' | 'done' | 'stopped' | 'failed'
  /** Of the message up to which it has looked. */
  readonly positionAt: number
  readonly positionId: number
  /** When the first of its messages was sent. */
  readonly beganAt: number
  readonly looked: number
  readonly hits: number
  readonly error: string | null
  readonly createdAt: number
  readonly finishedAt: number | null
}

/** The job that looks through messages for one dry run. */
export const dryRunTask = 'moderation_dry_run'

const addJobs = addJobsOf({
  task: dryRunTask,
  payload: `json_build_object('appId', app_id, 'ruleId', rule_id, 'run', run)`,
  key: `'dry-run:' || run`,
})

const addLater = addJobsOf({
  task: dryRunTask,
  payload: `json_build_object('appId', app_id, 'ruleId', rule_id, 'run', run)`,
  key: `'dry-run:' || run`,
  runAt: 'run_at',
})

/** How often it is looked whether a paused app goes on, in milliseconds. */
const lookAgainMs = 5_000

const resume = statement(addJobs(`moderation_dry_runs where status = 'running'`))

/** Has dry runs gone on with whose jobs are lost: those of jobs are in no backup. */
export async function resumeDryRuns(on: Queryable): Promise<void> {
  await on.query(resume)
}

const hold = statement(`
  with held as (
    select r.app_id, r.rule_id, r.run, ${nowMs} + ${lookAgainMs} as run_at
    from moderation_dry_runs r
    join apps a on a.app_id = r.app_id
    where r.app_id = $1
    and r.rule_id = $2
    and r.run = $3
    and r.status = 'running'
    and a.paused_at is not null
  ),
  added as (${addLater('held')}
  )
  select (select count(*) from held) as held, (select jobs from added) as jobs`)

/** Where the app is paused, a dry run is put off. @returns whether it was */
export async function holdPaused(on: Queryable, appId: number, ruleId: string, run: string): Promise<boolean> {
  const [row] = await on.query<{ held: number }>(hold, [appId, ruleId, run])
  return row?.held === 1
}

const firstMessage = statement(`
  select sent_at as "sentAt"
  from messages
  where app_id = $1
  and sent_at between $2 and $3
  order by sent_at, id
  limit 1`)

const forget = ['days', 'senders', 'examples'].map((what) =>
  statement(`
  delete from moderation_dry_run_${what}
  where app_id = $1
  and rule_id = $2`),
)

const write = statement(`
  with written as (
    insert into moderation_dry_runs (app_id, rule_id, run, definition, from_at, to_at, share, status, position_at, position_id,
      began_at, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, 'running', $8, 0, $8, $9)
    on conflict (app_id, rule_id) do update
    set run = excluded.run,
      definition = excluded.definition,
      from_at = excluded.from_at,
      to_at = excluded.to_at,
      share = excluded.share,
      status = excluded.status,
      position_at = excluded.position_at,
      position_id = excluded.position_id,
      began_at = excluded.began_at,
      looked = 0,
      hits = 0,
      error = null,
      created_at = excluded.created_at,
      finished_at = null
    returning app_id, rule_id, run
  )
  ${addJobs('written')}`)

const select = statement(`
  select run, definition, from_at as "from", to_at as "to", share, status, position_at as "positionAt",
    position_id as "positionId", began_at as "beganAt", looked, hits, error, created_at as "createdAt",
    finished_at as "finishedAt"
  from moderation_dry_runs
  where app_id = $1
  and rule_id = $2`)

const stop = statement(`
  update moderation_dry_runs
  set status = 'stopped',
    finished_at = $3
  where app_id = $1
  and rule_id = $2
  and status = 'running'`)

const aMonth = 30 * 86_400

/** Begins a dry run of a rule in the background; an earlier one of it is forgotten. @throws 404 `ERR_RULE_NOT_FOUND`; 400 */
export async function beginDryRun(
  { database, audit }: Pick<Context, 'database' | 'audit'>,
  app: App,
  ruleId: string,
  { from, to, sample = 1 }: BodyOf<typeof startDryRun>,
): Promise<RunRow> {
  const { appId } = app
  const now = Math.floor(Date.now() / 1000)
  const [fromAt, toAt] = [Number(from ?? now - aMonth), Number(to ?? now)]
  if (fromAt > toAt) throw badRequest([{ path: 'body/from', message: 'must not be later than to' }])
  return database.transaction(async (tx) => {
    await lockApp(tx, appId)
    const row = await requireRule(tx, app, ruleId)
    const lists: Array<Definition['lists'][number]> = []
    for (const id of listIdsOf(row.conditions)) {
      const former = await listStore.readFormer(tx, appId, id)
      if (former?.row.active !== true) continue
      await listStore.keepShipped(tx, appId, former)
      lists.push({ listId: id, revision: former.row.revision })
    }
    for (const statementOf of forget) await tx.query(statementOf, [appId, ruleId])
    const [first] = await tx.query<{ sentAt: number }>(firstMessage, [appId, fromAt, toAt])
    const definition: Definition = { rule: revisionOf(row), lists }
    await tx.query(write, [
      ...[appId, ruleId, randomUUID(), JSON.stringify(definition), fromAt, toAt, sample],
      ...[first?.sentAt ?? toAt, now],
    ])
    const details = { from: fromAt, to: toAt, sample }
    await audit.record(tx, appId, { action: 'moderation_dry_run_started', type: 'rule', target: ruleId, details })
    return requireRun(tx, appId, ruleId)
  })
}

/** Stops a dry run, if it runs; what it found stays. @throws 404 `ERR_DRY_RUN_NOT_FOUND` */
export async function endDryRun({ database }: Pick<Context, 'database'>, appId: number, ruleId: string): Promise<void> {
  await requireRun(database, appId, ruleId)
  await database.query(stop, [appId, ruleId, Math.floor(Date.now() / 1000)])
}

export async function readRun(on: Queryable, appId: number, ruleId: string): Promise<RunRow | undefined> {
  const [row] = await on.query<RunRow>(select, [appId, ruleId])
  return row
}

/** @throws 404 `ERR_DRY_RUN_NOT_FOUND` */
export async function requireRun(on: Queryable, appId: number, ruleId: string): Promise<RunRow> {
  const row = await readRun(on, appId, ruleId)
  if (row === undefined) throw unknownDryRun(ruleId)
  return row
}

/** The lists of a dry run, as they were when it began. */
export async function readListsAsThen(on: Queryable, appId: number, { lists }: Definition): Promise<ListRevision[]> {
  const rows = await Promise.all(lists.map(({ listId, revision }) => readListRevision(on, appId, listId, revision)))
  return rows.flatMap((row) => (row === undefined ? [] : [listRevisionOf(row)]))
}
