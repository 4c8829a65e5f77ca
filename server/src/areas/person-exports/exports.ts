import { randomUUID } from 'node:crypto'
import type { AnswerOf, getUserExport, PersonRecordKind } from '@parley/contract'
import type { Audit } from '../../chat/audit/audit.ts'
import type { JsonText } from '../../chat/json.ts'
import { lockUser } from '../../chat/users/locks.ts'
import type { Context } from '../../context.ts'
import { addJobsOf } from '../../jobs/add-jobs.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { askedAlready, noExport } from './errors.ts'

/** The copy of a person's data that they asked for last. Times are epoch seconds. */
export interface ExportRow {
  readonly uid: string
  readonly run: string
  readonly status: 'asked' | 'making' | 'ready' | 'failed'
  readonly askedAt: number
  readonly releasedAt: number | null
  readonly madeAt: number | null
  readonly expiresAt: number | null
  readonly records: number
}

/** The job that puts one together. */
export const personExportTask = 'person_export'
export const dayOf = 86_400
/** For so long it is kept. */
export const keptSeconds = 7 * dayOf

const columns = `uid, run, status, asked_at as "askedAt", released_at as "releasedAt", made_at as "madeAt",
    expires_at as "expiresAt", records`

const select = statement(`
  select ${columns}
  from person_exports
  where app_id = $1
  and uid = $2`)

const lock = statement(`
  select ${columns}
  from person_exports
  where app_id = $1
  and uid = $2
  for update`)

/** What is set where it is made anew. */
const fromTheBeginning = `expires_at = null,
    section = 0,
    conversation = 0,
    sent_at = 0,
    message = 0,
    records = 0`

/** Whoever asks twice at once waits for the first. @returns nothing where the last is of the same day */
const ask = statement(`
  insert into person_exports as e (app_id, uid, run, status, asked_at)
  values ($1, $2, $3, 'asked', $4)
  on conflict (app_id, uid) do update
  set run = excluded.run,
    status = 'asked',
    asked_at = excluded.asked_at,
    released_at = null,
    made_at = null,
    ${fromTheBeginning}
  where e.asked_at <= excluded.asked_at - ${dayOf}
  returning ${columns}`)

/** What it has so far is of the time when it failed: none of that may go with what is seen now. */
const beginAnew = statement(`
  update person_exports
  set run = $3,
    ${fromTheBeginning}
  where app_id = $1
  and uid = $2`)

const forgetRecords = statement(`
  delete from person_export_records
  where app_id = $1
  and uid = $2`)

const addJobs = addJobsOf({
  task: personExportTask,
  payload: `json_build_object('appId', app_id, 'uid', uid, 'run', run)`,
  key: `'person-export:' || run`,
})

const release = statement(`
  with released as (
    update person_exports
    set status = 'making',
      released_at = $3
    where app_id = $1
    and uid = $2
    returning app_id, uid, run
  )
  ${addJobs('released')}`)

const resume = statement(addJobs(`person_exports where status = 'making'`))

/** Has exports gone on with whose jobs are lost: those of jobs are in no backup. */
export async function resumeExports(on: Queryable): Promise<void> {
  await on.query(resume)
}

const nowSeconds = () => Math.floor(Date.now() / 1000)

/** A user asks for their data. @throws 409 `ERR_EXPORT_ALREADY_ASKED` within a day */
export async function askFor(
  { database, settings, audit }: Pick<Context, 'database' | 'settings' | 'audit'>,
  appId: number,
  uid: string,
): Promise<ExportRow> {
  const { personExports } = await settings.of(appId)
  return database.transaction(async (tx) => {
    await lockUser(tx, appId, uid)
    const [row] = await tx.query<ExportRow>(ask, [appId, uid, randomUUID(), nowSeconds()])
    if (row === undefined) throw askedAlready(((await readExport(tx, appId, uid))?.askedAt ?? nowSeconds()) + dayOf)
    await tx.query(forgetRecords, [appId, uid])
    await audit.record(tx, appId, { action: 'person_export_asked', type: 'user', target: uid })
    return personExports === 'atOnce' ? begin(tx, appId, uid) : row
  })
}

/** The app releases what a user has asked for. @throws 404 `ERR_EXPORT_NOT_FOUND` */
export function releaseExport(
  { database, audit }: Pick<Context, 'database' | 'audit'>,
  appId: number,
  uid: string,
): Promise<ExportRow> {
  return database.transaction(async (tx) => {
    const [row] = await tx.query<ExportRow>(lock, [appId, uid])
    if (row === undefined || isExpired(row)) throw noExport(uid)
    if (row.status === 'making' || row.status === 'ready') return row
    if (row.status === 'failed') {
      await tx.query(beginAnew, [appId, uid, randomUUID()])
      await tx.query(forgetRecords, [appId, uid])
    }
    await audit.record(tx, appId, { action: 'person_export_released', type: 'user', target: uid })
    return begin(tx, appId, uid)
  })
}

async function begin(tx: Transaction, appId: number, uid: string): Promise<ExportRow> {
  await tx.query(release, [appId, uid, nowSeconds()])
  return (await readExport(tx, appId, uid)) as ExportRow
}

async function readExport(on: Queryable, appId: number, uid: string): Promise<ExportRow | undefined> {
  const [row] = await on.query<ExportRow>(select, [appId, uid])
  return row
}

const isExpired = ({ expiresAt }: ExportRow) => expiresAt !== null && expiresAt <= nowSeconds()

const selectRecords = statement(`
  select place, kind, record::text as record
  from person_export_records
  where app_id = $1
  and run = $2
  and place > $3
  order by place
  limit $4`)

interface RecordRow {
  readonly place: number
  readonly kind: PersonRecordKind
  readonly record: string
}

/**
 * A page of what a user has asked for, as far as it is made. That somebody fetches it is recorded with its first page; where the
 * next begins is told by the one before alone.
 * @throws 404 `ERR_EXPORT_NOT_FOUND`, also for a page of another one
 */
export async function fetchExport(
  { database, audit }: { readonly database: Queryable; readonly audit: Audit },
  appId: number,
  uid: string,
  { after, limit = 500 }: { readonly after?: string; readonly limit?: number },
): Promise<JsonText<AnswerOf<typeof getUserExport>>> {
  const row = await readExport(database, appId, uid)
  if (row === undefined || isExpired(row)) throw noExport(uid)
  const [run, place] = after?.split('_') ?? [row.run, '0']
  if (run !== row.run) throw noExport(uid)
  const found =
    row.status === 'ready' && limit > 0
      ? await database.query<RecordRow>(selectRecords, [appId, run, Number(place), limit + 1])
      : []
  if (row.status === 'ready' && limit > 0 && after === undefined) {
    await audit.record(database, appId, { action: 'person_export_fetched', type: 'user', target: uid })
  }
  const page = found.slice(0, limit)
  const written = page.map(({ kind, record }) => `{"kind":"${kind}","record":${record}}`)
  const next = found.length > limit ? { next: { after: `${run}_${page.at(-1)?.place}` } } : {}
  const meta = JSON.stringify({ current: { limit, count: page.length }, ...next })
  const data = `{"export":${JSON.stringify(showExport(row))},"records":[${written.join(',')}]}`
  return `{"data":${data},"meta":${meta}}` as JsonText<AnswerOf<typeof getUserExport>>
}

export function showExport({ uid, status, askedAt, releasedAt, madeAt, expiresAt, records }: ExportRow) {
  return {
    uid,
    status,
    askedAt,
    ...(releasedAt !== null && { releasedAt }),
    ...(madeAt !== null && { madeAt }),
    ...(expiresAt !== null && { expiresAt }),
    ...(status === 'ready' && { records }),
  }
}
