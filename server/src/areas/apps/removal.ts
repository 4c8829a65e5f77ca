import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { deployment } from '../../chat/audit/audit.ts'
import type { App } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import { appKey } from '../../store/app-key.ts'
import { isLeaseOver, nowMs } from '../../store/clock.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

type Store = Pick<Context, 'database' | 'apps' | 'audit' | 'media' | 'tables' | 'log'>

/** Removes apps when their time has come, as one of however many processes there are. */
export interface Removals {
  /** Lets the step under way end. */
  stop(): Promise<void>
}

/** How often it is looked for apps to remove. What a killed process was removing goes on once its lease is over. */
const lookEveryMs = 15_000
const leaseMs = 20_000
const renewEveryMs = 5_000
/** Rows that go in one transaction. */
const rowsAtOnce = 500

const claim = statement(`
  with due as (
    select app_id
    from apps
    where deletes_at <= $1
    and (removing_until is null or ${isLeaseOver('removing_until', leaseMs)})
    and app_id = coalesce($2, app_id)
    order by deletes_at
    limit 1
    for update skip locked
  )
  update apps a
  set removing_at = coalesce(a.removing_at, $1),
    removing_until = ${nowMs} + ${leaseMs}
  from due d
  where a.app_id = d.app_id
  returning a.app_id as "appId", a.name, a.region`)

const renew = statement(`
  update apps
  set removing_until = ${nowMs} + ${leaseMs}
  where app_id = $1`)

const letGo = statement(`
  update apps
  set removing_until = null
  where app_id = $1`)

const withApp = statement(`
  select table_name::text as name
  from information_schema.columns
  where table_schema = 'public'
  and column_name = 'app_id'`)

const removeRow = statement(`
  delete from apps
  where app_id = $1
  and removing_at is not null
  returning app_id`)

const withdraw = ['operators', 'operator_links', 'operator_tokens'].map((table) =>
  statement(`
  update ${table}
  set apps = array_remove(apps, $1)
  where $1 = any(apps)`),
)

export function startRemovals(context: Store & Pick<Context, 'ageClock'>): Removals {
  const stopping = new AbortController()
  const run = async () => {
    while (!stopping.signal.aborted) {
      try {
        const now = Math.floor((await context.ageClock.now()) / 1000)
        await removeDueApps(context, now, { signal: stopping.signal })
      } catch (err) {
        if (!isConnectionFailure(err)) context.log.error({ err }, 'could not look for apps to remove')
      }
      // Not all processes at once.
      const wait = lookEveryMs * (0.7 + Math.random() * 0.6)
      await delay(wait, undefined, { ref: false, signal: stopping.signal }).catch(() => {})
    }
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/**
 * Removes the apps that are to be removed by now and that nobody removes.
 * @param now epoch seconds @param only this app
 */
export async function removeDueApps(
  context: Store,
  now: number,
  { only, signal }: { readonly only?: number; readonly signal?: AbortSignal } = {},
): Promise<void> {
  while (signal?.aborted !== true) {
    const app = await claimApp(context, now, only)
    if (app === undefined) return
    try {
      if (await removeApp(context, app, signal)) continue
      await context.database.query(letGo, [app.appId])
    } catch (err) {
      if (isConnectionFailure(err)) throw err
      // Its lease is kept until it runs out, so that those behind it have their turn.
      context.log.error({ err, app: app.name }, 'an app could not be removed; it will be tried again')
    }
  }
}

/** From then on the app is as unknown as one that does not exist, and cannot be taken back. */
function claimApp({ database, apps }: Store, now: number, only: number | undefined): Promise<App | undefined> {
  return database.transaction(async (tx) => {
    const [app] = await tx.query<App>(claim, [now, only ?? null])
    if (app !== undefined) await apps.changed(tx, app.name)
    return app
  })
}

/** @returns false where it was told to stop */
async function removeApp(context: Store, app: App, signal: AbortSignal | undefined): Promise<boolean> {
  const { database, media, log } = context
  const removeRows = await tablesOf(context)
  let renewedAt = performance.now()
  /** Does a step again until it finds nothing, with a rest as long as it took, so that others are not held up. */
  const finish = async (step: () => Promise<number>): Promise<number> => {
    for (let count = 0; ; ) {
      if (signal?.aborted === true) return count
      const began = performance.now()
      const removed = await step()
      if (removed === 0) return count
      count += removed
      await delay(performance.now() - began)
      if (performance.now() - renewedAt < renewEveryMs) continue
      renewedAt = performance.now()
      await database.query(renew, [app.appId])
    }
  }
  log.info({ app: app.name }, 'an app is being removed')
  // Rows that a trigger or a process at the end of its work leaves behind are found by another pass.
  for (let count = 1; count > 0; ) {
    count = await finish(() => media.removeSome(app))
    for (const remove of removeRows) count += await finish(() => remove(app.appId))
    if (signal?.aborted === true) return false
  }
  await forget(context, app)
  log.info({ app: app.name }, 'an app was removed')
  return true
}

/** A step for each table with rows of apps, in the order in which users and groups are erased; the files went before. */
async function tablesOf({ database, tables }: Store): Promise<Array<(appId: number) => Promise<number>>> {
  const found = await database.query<{ name: string }>(withApp)
  const names = new Set(found.map(({ name }) => name))
  return tables.flatMap(({ name }) =>
    names.has(name) && name !== 'apps' && name !== 'media_files'
      ? (appId: number) => removeSome(database, name, appId)
      : [],
  )
}

/**
 * By an index each time: what was removed before is passed over there, whoever looks through the table meets it again. With an app
 * its audit log goes, which is not changed otherwise.
 */
const byIndex = statement(
  `select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
    set_config('parley.audit_log', 'remove', true)`,
)

/** Several parts of a table have rows of the same place, but only those of the app go. */
function removeSome(database: Database, table: string, appId: number): Promise<number> {
  return database.transaction(async (tx) => {
    await tx.query(byIndex)
    const [gone] = await tx.run<{ count: number }>(sql`
      with gone as (
        delete from ${sql.table(table)}
        where app_id = ${appKey(appId)}
        and ctid = any(array(
          select ctid from ${sql.table(table)} where app_id = ${appKey(appId)} limit ${rowsAtOnce}
        ))
        returning 1
      )
      select count(*) as count from gone`)
    return gone?.count ?? 0
  })
}

/** The last of an app; that it was removed stays in the audit log of the deployment. */
function forget({ database, apps, audit }: Store, { appId, name }: App): Promise<void> {
  return database.transaction(async (tx) => {
    const [removed] = await tx.query(removeRow, [appId])
    if (removed === undefined) return
    for (const from of withdraw) await tx.query(from, [appId])
    await audit.record(tx, deployment, { action: 'app_removed', type: 'app', target: name })
    await apps.changed(tx, name)
  })
}
