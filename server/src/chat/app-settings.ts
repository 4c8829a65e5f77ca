import type { AppSettings, SetAppSettings, SettingsChange } from '@parley/contract'
import type { Database, Queryable } from '../store/database.ts'
import type { Invalidation } from '../store/invalidation.ts'
import { createMemory } from '../store/memory.ts'
import { statement } from '../store/statement.ts'
import type { Audit } from './audit/audit.ts'
import { changesOf } from './audit/changes.ts'
import { changeIdleTimeout } from './credentials/idle-timeout.ts'
import type { App } from './identity.ts'
import { waitForStep } from './retention/lock.ts'

/** What each app has set, kept in memory and dropped when it changes, since many requests ask for it. */
export interface AppSettingsStore {
  /** As they hold: what was set, else the default of the deployment. */
  of(appId: number): Promise<AppSettings>
  /** The same, as far as it is known without asking the database. */
  known(appId: number): AppSettings | undefined
  /** @returns the settings as they hold afterwards. Values are taken as valid. */
  change(app: App, change: SettingsChange, audit: Audit): Promise<AppSettings>
}

/** Announced with the app's surrogate key when its settings have changed. */
export const settingsTopic = 'app-settings'
const maxApps = 10_000

const select = statement(`
  select settings
  from apps
  where app_id = $1`)

const lock = statement(`
  select settings
  from apps
  where app_id = $1
  for no key update`)

const update = statement(`
  update apps
  set settings = $2
  where app_id = $1`)

interface Row {
  readonly settings: SetAppSettings | null
}

/** @param defaults of the deployment, for what an app has not set */
export function createAppSettings(
  database: Database,
  invalidation: Invalidation,
  defaults: AppSettings,
): AppSettingsStore {
  const { recall, known, forget, forgetAll } = createMemory<number, AppSettings>({
    max: maxApps,
    read: (appId) => readSettings(database, appId, defaults),
  })
  invalidation.onChange(settingsTopic, (appId) => (appId === undefined ? forgetAll() : forget(Number(appId))))

  return {
    of: recall,
    known,
    change: ({ appId, name: target }, change, audit) =>
      database.transaction(async (tx) => {
        if (changesRetention(change)) await waitForStep(tx, appId)
        const [row] = await tx.query<Row>(lock, [appId])
        const changed = Object.entries({ ...row?.settings, ...change }).filter(([, value]) => value !== null)
        const settings = Object.fromEntries(changed) as SetAppSettings
        await tx.query(update, [appId, JSON.stringify(settings)])
        const held = { ...defaults, ...settings }
        const before = row?.settings?.tokenIdleTimeout ?? defaults.tokenIdleTimeout
        await changeIdleTimeout(tx, appId, before, held.tokenIdleTimeout)
        const details = changesOf({ ...defaults, ...row?.settings }, held)
        await audit.record(tx, appId, { action: 'app_settings_updated', type: 'app', target, details })
        await invalidation.announce(tx, settingsTopic, String(appId))
        tx.afterCommit(() => forget(appId))
        return held
      }),
  }
}

/** A step that removes messages has read the rule before: the answer to the change is given once it is over. */
function changesRetention(change: SettingsChange): boolean {
  return change.messageRetentionDays !== undefined || change.messageRetention !== undefined
}

async function readSettings(on: Queryable, appId: number, defaults: AppSettings): Promise<AppSettings> {
  const [row] = await on.query<Row>(select, [appId])
  return { ...defaults, ...row?.settings }
}
