import { ApiError, agenticRole } from '@parley/contract'
import type { Database, Queryable, Transaction } from '../store/database.ts'
import type { Invalidation } from '../store/invalidation.ts'
import { createMemory } from '../store/memory.ts'
import { statement } from '../store/statement.ts'
import type { Audit } from './audit/audit.ts'
import type { App } from './identity.ts'

/** The system user of every app: actor and sender where no user acts, owner of groups made without one. */
export const systemUid = 'app_system'

/** Whether an app is served. All times are epoch seconds. */
export interface AppState {
  /** Since when it is paused. One that is to be deleted is paused, too. */
  readonly pausedAt: number | null
  /** From when on it is removed. */
  readonly deletesAt: number | null
  /** Since when it is being removed. */
  readonly removingAt: number | null
}

export type RegisteredApp = App & AppState

/** The apps of this deployment, kept in memory and read anew when they change. */
export interface AppRegistry {
  /** @returns undefined for an app that does not exist */
  find(name: string): Promise<RegisteredApp | undefined>
  /** The same, as far as it is known without asking the database. */
  known(name: string): RegisteredApp | undefined
  /** Makes an app with its system user and built-in roles, unless it is there. @param by as whoever makes it */
  ensure(name: string, region: string, by?: Audit): Promise<App & { created: boolean }>
  /** Has every process read an app anew, once the transaction that changes it is over. */
  changed(tx: Transaction, name: string): Promise<void>
}

/** Announced with the name of an app that was paused, resumed, deleted or taken back, or is removed. */
export const appsTopic = 'apps'

const columns = `app_id as "appId", name, region, paused_at as "pausedAt", deletes_at as "deletesAt",
    removing_at as "removingAt"`

const select = statement(`
  select ${columns}
  from apps
  where name = $1`)

const insert = statement(`
  insert into apps (name, region, created_at)
  values ($1, $2, $3)
  on conflict (name) do nothing
  returning app_id as "appId", name, region`)

const insertSystemUser = statement(`
  insert into users (app_id, uid, name, name_key, role, created_at)
  values ($1, '${systemUid}', 'System', 'system', 'default', $2)`)

const insertBuiltInRoles = statement(`
  insert into roles (app_id, role, name, created_at)
  values ($1, '${agenticRole}', 'AI agents', $2), ($1, 'default', 'Default Role', $2)`)

/** @param audit as whoever makes apps */
export function createAppRegistry(
  database: Database,
  invalidation: Pick<Invalidation, 'onChange' | 'announce'>,
  audit: Audit,
): AppRegistry {
  const known = createMemory<string, RegisteredApp | undefined>({
    max: 10_000,
    async read(name) {
      // No text of the database holds a NUL.
      if (name.includes('\0')) return undefined
      const [app] = await database.query<RegisteredApp>(select, [name])
      return app
    },
    keeps: (app) => app !== undefined,
  })
  invalidation.onChange(appsTopic, (name) => (name === undefined ? known.forgetAll() : known.forget(name)))

  return {
    find: known.recall,
    known: known.known,
    async ensure(name, region, by = audit) {
      const created = await database.transaction(async (tx) => {
        const now = Math.floor(Date.now() / 1000)
        const [app] = await tx.query<App>(insert, [name, region, now])
        if (app === undefined) return undefined
        await tx.query(insertSystemUser, [app.appId, now])
        await tx.query(insertBuiltInRoles, [app.appId, now])
        await by.record(tx, app.appId, { action: 'app_created', type: 'app', target: app.name })
        return app
      })
      if (created !== undefined) return { ...created, created: true }
      const existing = await known.recall(name)
      if (existing === undefined) throw new Error(`the app ${name} could not be made`)
      return { appId: existing.appId, name: existing.name, region: existing.region, created: false }
    },
    async changed(tx, name) {
      await invalidation.announce(tx, appsTopic, name)
      tx.afterCommit(() => known.forget(name))
    },
  }
}

/** Seconds after which a client of a paused app may ask again. */
const askAgainAfter = 10

/** 503 `ERR_MISSION_FAILED`: an app is paused. */
export class AppPausedError extends ApiError {
  constructor(name: string, advice = 'Try again later.') {
    super('ERR_MISSION_FAILED', `The app ${name} is paused. ${advice}`)
    this.retryAfter(askAgainAfter)
  }
}

/**
 * The app of a name, for those whom it serves. One that is being removed is as unknown as one that does not exist.
 * @throws AppPausedError
 */
export async function findRunning(apps: AppRegistry, name: string): Promise<RegisteredApp | undefined> {
  const key = name.toLowerCase()
  // Every request asks.
  const app = apps.known(key) ?? (await apps.find(key))
  if (app === undefined || app.removingAt !== null) return undefined
  if (app.pausedAt !== null) throw new AppPausedError(app.name)
  return app
}

/** 404: another app is as unknown as one that does not exist. */
export function unknownApp(appId: string): ApiError {
  return new ApiError('ERR_APP_NOT_FOUND', `There is no app with the id ${appId}.`)
}

const selectState = statement(`
  select ${columns}
  from apps
  where app_id = $1
  for no key update`)

/** An app as it is now, which nobody else pauses, resumes or deletes until the transaction is over. */
export async function holdApp(tx: Queryable, appId: number): Promise<RegisteredApp | undefined> {
  const [app] = await tx.query<RegisteredApp>(selectState, [appId])
  return app
}

const lock = statement(`
  select app_id
  from apps
  where app_id = $1
  for update`)

/** Changes to what an app may have only so many of are made one after the other, so that two cannot both be the last. */
export async function lockApp(tx: Transaction, appId: number): Promise<void> {
  await tx.query(lock, [appId])
}
