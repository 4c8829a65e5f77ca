import { ApiError, agenticRole } from '@parley/contract'
import { LRUCache } from 'lru-cache'
import type { Database, Transaction } from '../store/database.ts'
import { statement } from '../store/statement.ts'
import type { Audit } from './audit/audit.ts'
import type { App } from './identity.ts'

/** The system user of every app: actor and sender where no user acts, owner of groups made without one. */
export const systemUid = 'app_system'

/** The apps of this deployment, kept in memory; an app never changes its key or name. */
export interface AppRegistry {
  /** @returns undefined for an app that does not exist */
  find(name: string): Promise<App | undefined>
  /** Makes an app with its system user and built-in roles, unless it is there. */
  ensure(name: string, region: string): Promise<App & { created: boolean }>
}

const select = statement(`
  select app_id as "appId", name, region
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
export function createAppRegistry(database: Database, audit: Audit): AppRegistry {
  const known = new LRUCache<string, App>({ max: 10_000 })

  const find = async (name: string): Promise<App | undefined> => {
    const cached = known.get(name)
    if (cached !== undefined) return cached
    const [app] = await database.query<App>(select, [name])
    if (app !== undefined) known.set(name, app)
    return app
  }

  return {
    find,
    async ensure(name, region) {
      const created = await database.transaction(async (tx) => {
        const now = Math.floor(Date.now() / 1000)
        const [app] = await tx.query<App>(insert, [name, region, now])
        if (app === undefined) return undefined
        await tx.query(insertSystemUser, [app.appId, now])
        await tx.query(insertBuiltInRoles, [app.appId, now])
        await audit.record(tx, app.appId, { action: 'app_created', type: 'app', target: app.name })
        return app
      })
      if (created !== undefined) return { ...created, created: true }
      const existing = await find(name)
      if (existing === undefined) throw new Error(`the app ${name} could not be made`)
      return { ...existing, created: false }
    },
  }
}

/** 404: another app is as unknown as one that does not exist. */
export function unknownApp(appId: string): ApiError {
  return new ApiError('ERR_APP_NOT_FOUND', `There is no app with the id ${appId}.`)
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
