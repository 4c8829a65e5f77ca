import { setTimeout as delay } from 'node:timers/promises'
import { identifyViewer, type Viewer } from '../../chat/sight/sight.ts'
import type { Context } from '../../context.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { keptSeconds, personExportTask } from './exports.ts'
import { batchLock } from './lock.ts'
import { type Cursor, conversationsOf, type MessageRecord, readOfConversation } from './messages.ts'
import { sections, writeSection } from './sections.ts'

/** Puts together what persons have asked for, and removes it when its time is over. */
export interface PersonExports {
  /** Ends the making under way; another process goes on with it. */
  stop(): void
}

/** How far an export has come, under its lock. */
interface Progress {
  readonly section: number
  readonly conversation: number
  readonly sentAt: number
  readonly message: number
  readonly records: number
}

/** Messages in one step, and conversations that are looked at for them. */
const batchSize = 200
const waitMs = 50
const removeEveryMs = 60_000

/** Not while something is removed for good: see the wait in `tables.ts`. */
const tryLock = statement(`select pg_try_advisory_xact_lock(${batchLock('$1')}) as locked`)

const lockProgress = statement(`
  select section, conversation, sent_at as "sentAt", message, records
  from person_exports
  where app_id = $1
  and uid = $2
  and run = $3
  and status = 'making'
  for update`)

const advance = statement(`
  update person_exports
  set section = $3, conversation = $4, sent_at = $5, message = $6, records = $7
  where app_id = $1
  and uid = $2`)

const writeMessages = statement(`
  insert into person_export_records (app_id, run, place, uid, kind, record, conversation, message, names)
  select $1, $2::uuid, $3::bigint + n.place, $4, n.kind, n.text::json, $5::bigint, n.id, array(
    select json_array_elements_text(n.names::json)
  )
  from unnest($6::text[], $7::text[], $8::bigint[], $9::text[]) with ordinality as n(kind, text, id, names, place)`)

const finish = statement(`
  update person_exports e
  set status = 'ready',
    made_at = $3,
    expires_at = $4,
    records = (select count(*) from person_export_records r where r.app_id = e.app_id and r.run = e.run)
  where e.app_id = $1
  and e.uid = $2`)

const fail = statement(`
  update person_exports
  set status = 'failed',
    expires_at = $4
  where app_id = $1
  and uid = $2
  and run = $3
  and status = 'making'`)

const removeExpired = statement(`
  delete from person_exports e
  where e.expires_at <= $1
  and not exists (select from person_export_records r where r.app_id = e.app_id and r.run = e.run)`)

/** By the primary key, in small batches. */
const removeRecords = statement(`
  with expired as (
    select app_id, run
    from person_exports
    where expires_at <= $1
  ),
  old as (
    select r.app_id, r.run, r.place
    from expired e
    join person_export_records r on r.app_id = e.app_id and r.run = e.run
    limit 1000
  )
  delete from person_export_records r
  using old
  where r.app_id = old.app_id
  and r.run = old.run
  and r.place = old.place
  returning r.app_id`)

const nowSeconds = () => Math.floor(Date.now() / 1000)

type Maker = Pick<Context, 'database' | 'ageClock' | 'policies' | 'audit' | 'jobs' | 'log'>

export function startPersonExports({ database, ageClock, policies, audit, jobs, log }: Maker): PersonExports {
  const stopping = new AbortController()

  /** Does one step, where nothing stands against it. @returns undefined where there is nothing more to do */
  const step = (appId: number, uid: string, run: string, conversations: readonly number[]) =>
    database.transaction(async (tx): Promise<'done' | 'wait' | undefined> => {
      const [lock] = await tx.query<{ locked: boolean }>(tryLock, [appId])
      if (lock?.locked !== true) return 'wait'
      const [progress] = await tx.query<Progress>(lockProgress, [appId, uid, run])
      if (progress === undefined) return undefined
      const section = sections[progress.section]
      if (section !== undefined) {
        const write = writeSection.get(section)
        const [written] =
          write === undefined ? [] : await tx.query<{ count: number }>(write, [appId, uid, run, progress.records])
        const records = progress.records + (written?.count ?? 0)
        await tx.query(advance, [appId, uid, progress.section + 1, 0, 0, 0, records])
        return 'done'
      }
      // What is set on them may change while this goes on.
      const viewer = await identifyViewer(tx, policies, appId, uid)
      if (await writeMore(tx, appId, uid, run, viewer, progress, conversations)) return 'done'
      const now = nowSeconds()
      await tx.query(finish, [appId, uid, now, now + keptSeconds])
      await audit.record(tx, appId, { action: 'person_export_made', type: 'user', target: uid })
      return undefined
    })

  const make = async (appId: number, uid: string, run: string): Promise<void> => {
    // What another process has just changed may not be known here yet.
    policies.forget(appId)
    const conversations = await conversationsOf(database, appId, uid)
    for (;;) {
      stopping.signal.throwIfAborted()
      const began = performance.now()
      const did = await step(appId, uid, run, conversations)
      if (did === undefined) return
      // A rest as long as it took, so that others are not held up.
      await delay(did === 'wait' ? waitMs : performance.now() - began, undefined, { signal: stopping.signal })
    }
  }

  jobs.register(personExportTask, async (payload) => {
    const { appId, uid, run } = payload as { readonly appId: number; readonly uid: string; readonly run: string }
    try {
      await make(appId, uid, run)
    } catch (err) {
      // The job fails, and is done again: here, or by another process.
      if (stopping.signal.aborted || isConnectionFailure(err)) throw err
      log.error({ err }, 'could not collect the data of a user for an export')
      await database.query(fail, [appId, uid, run, nowSeconds() + keptSeconds])
    }
  })

  const removeOld = async () => {
    try {
      await removeOldExports(database, Math.floor((await ageClock.now()) / 1000))
    } catch (err) {
      if (!isConnectionFailure(err)) log.warn({ err }, 'could not remove expired exports of personal data')
    }
  }
  const timer = setInterval(() => void removeOld(), removeEveryMs).unref()

  return {
    stop() {
      stopping.abort()
      clearInterval(timer)
    },
  }
}

/** Writes the next messages. @returns false where there are none */
async function writeMore(
  tx: Transaction,
  appId: number,
  uid: string,
  run: string,
  viewer: Viewer,
  progress: Progress,
  conversations: readonly number[],
): Promise<boolean> {
  const { conversation, sentAt, message, records, section } = progress
  const rest = conversations.filter((key) => key >= conversation)
  let looked = 0
  for (const key of rest) {
    const after: Cursor =
      key === conversation ? { conversation, sentAt, id: message } : { conversation: key, sentAt: 0, id: 0 }
    const found = await readOfConversation(tx, appId, viewer, after, batchSize)
    const last = found.at(-1)
    looked++
    if (last === undefined && looked < batchSize) continue
    if (last !== undefined) await write(tx, appId, uid, run, records, key, found)
    const to = last ?? { id: Number.MAX_SAFE_INTEGER, sentAt: Number.MAX_SAFE_INTEGER }
    await tx.query(advance, [appId, uid, section, key, to.sentAt, to.id, records + found.length])
    return true
  }
  return false
}

function write(
  tx: Transaction,
  appId: number,
  uid: string,
  run: string,
  records: number,
  conversation: number,
  found: readonly MessageRecord[],
) {
  return tx.query(writeMessages, [
    ...[appId, run, records, uid, conversation],
    found.map(({ kind }) => kind),
    found.map(({ text }) => text),
    found.map(({ id }) => id),
    found.map(({ names }) => JSON.stringify(names)),
  ])
}

/** @param now epoch seconds */
export async function removeOldExports(database: Context['database'], now: number): Promise<void> {
  while ((await database.query(removeRecords, [now])).length > 0);
  await database.query(removeExpired, [now])
}
