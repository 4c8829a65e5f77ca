import { isDeepStrictEqual } from 'node:util'
import { defaultNotificationSettings, type NotificationSettings, type NotificationSettingsIn } from '@parley/contract'
import type { Database, Queryable, Transaction } from '../../store/database.ts'
import type { Invalidation } from '../../store/invalidation.ts'
import { createMemory } from '../../store/memory.ts'
import { statement } from '../../store/statement.ts'
import { lockApp } from '../apps.ts'
import type { Audit } from '../audit/audit.ts'
import { changesOf } from '../audit/changes.ts'
import type { App } from '../identity.ts'

/** What an app has decided about its notifications. */
export interface AppNotifications {
  /** As it holds: what was set, else the default. */
  readonly settings: NotificationSettings
  /** What was set. */
  readonly set: NotificationSettingsIn
}

type NamedApp = Pick<App, 'appId' | 'name'>

/** The settings of apps, kept in memory, since everything that is planned asks for them. */
export interface NotificationSettingsStore {
  of(appId: number): Promise<AppNotifications>
  /** Values are taken as valid; what is not known is left out. */
  change(app: NamedApp, change: NotificationSettingsIn, audit: Audit): Promise<void>
  reset(app: NamedApp, audit: Audit): Promise<void>
}

const topic = 'notification-settings'

const select = statement(`
  select settings
  from notification_settings
  where app_id = $1`)

const write = statement(`
  insert into notification_settings (app_id, settings)
  values ($1, $2)
  on conflict (app_id) do update
  set settings = excluded.settings`)

const remove = statement(`
  delete from notification_settings
  where app_id = $1`)

export function createNotificationSettings(database: Database, invalidation: Invalidation): NotificationSettingsStore {
  const memory = createMemory<number, AppNotifications>({
    max: 10_000,
    read: async (appId) => {
      const set = await read(database, appId)
      return { set, settings: merge(defaultNotificationSettings, set) }
    },
  })
  invalidation.onChange(topic, (appId) => (appId === undefined ? memory.forgetAll() : memory.forget(Number(appId))))
  return {
    of: memory.recall,
    change: (app, change, audit) =>
      changing(app, audit, async (tx, before) => {
        const set = pick(defaultNotificationSettings, before, change)
        await tx.query(write, [app.appId, JSON.stringify(set)])
        return set
      }),
    reset: (app, audit) =>
      changing(app, audit, async (tx) => {
        await tx.query(remove, [app.appId])
        return {}
      }),
  }

  /** One change at a time; what changes nothing is not recorded. */
  function changing(
    { appId, name: target }: NamedApp,
    audit: Audit,
    work: (tx: Transaction, before: NotificationSettingsIn) => Promise<NotificationSettingsIn>,
  ): Promise<void> {
    return database.transaction(async (tx) => {
      await lockApp(tx, appId)
      const before = await read(tx, appId)
      const after = await work(tx, before)
      if (!isDeepStrictEqual(before, after)) {
        const details = changesOf(before, after)
        await audit.record(tx, appId, { action: 'notification_settings_updated', type: 'app', target, details })
      }
      await invalidation.announce(tx, topic, String(appId))
      tx.afterCommit(() => memory.forget(appId))
    })
  }
}

async function read(on: Queryable, appId: number): Promise<NotificationSettingsIn> {
  const [row] = await on.query<{ settings: NotificationSettingsIn }>(select, [appId])
  return row?.settings ?? {}
}

type Tree = { readonly [name: string]: unknown }

/** An object whose members are known; `customJson` is the app's own and is taken whole. */
const isTree = (value: unknown, name?: string): value is Tree =>
  name !== 'customJson' && typeof value === 'object' && value !== null && !Array.isArray(value)

/** The defaults, with what was set in their place. */
export function merge<Whole>(defaults: Whole, set: object): Whole {
  const given = set as Tree
  const members = Object.entries(defaults as Tree).map(([name, fallback]) => {
    if (!Object.hasOwn(given, name)) return [name, fallback]
    const value = given[name]
    return [name, isTree(fallback, name) && isTree(value) ? merge(fallback, value) : value]
  })
  return Object.fromEntries(members) as Whole
}

/** What was set before, changed: of both only the members that the defaults have. */
export function pick<Set extends object>(defaults: object, before: Set, change: Set): Set {
  const [old, given] = [before as Tree, change as Tree]
  const members = Object.entries(defaults).flatMap(([name, fallback]) => {
    const value = given[name] === undefined ? old[name] : given[name]
    if (value === undefined) return []
    if (!isTree(fallback, name)) return [[name, value]]
    const picked = pick(fallback, isTree(old[name]) ? old[name] : {}, isTree(given[name]) ? given[name] : {})
    return Object.keys(picked).length === 0 ? [] : [[name, picked]]
  })
  return Object.fromEntries(members) as Set
}
