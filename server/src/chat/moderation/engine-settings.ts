import type { EngineFailureAction } from '@parley/contract'
import type { Database, Queryable, Transaction } from '../../store/database.ts'
import type { Invalidation } from '../../store/invalidation.ts'
import { createMemory } from '../../store/memory.ts'
import { statement } from '../../store/statement.ts'
import { lockApp } from '../apps.ts'
import type { Audit } from '../audit/audit.ts'
import { changesOf } from '../audit/changes.ts'
import type { App } from '../identity.ts'

/** What can be asked outside: the address of a list, a language model, what finds labels of pictures and videos. */
export type EngineName = 'custom-api' | 'llm' | 'labels'

/** One engine of an app, as it is set. */
export interface EngineSetting {
  /** null: that of the list, or none. */
  readonly url: string | null
  readonly model: string | null
  /** Sealed. */
  readonly key: Buffer | null
  readonly onError: EngineFailureAction
  /** Messages of the conversation that are sent along. */
  readonly contextMessages: number
}

export type EngineSettings = Readonly<Record<EngineName, EngineSetting>>

/** The engines of apps, kept in memory, since every message that waits asks for them. */
export interface EngineSettingsStore {
  of(appId: number): Promise<EngineSettings>
  /** @param next what it is from now on, by what it is now. Recorded in the audit log, without secrets. */
  change(
    app: Pick<App, 'appId' | 'name'>,
    engine: EngineName,
    audit: Audit,
    next: (present: EngineSetting) => EngineSetting,
  ): Promise<EngineSetting>
  /** @returns whether there was one */
  remove(app: Pick<App, 'appId' | 'name'>, engine: EngineName, audit: Audit): Promise<boolean>
}

/** Announced with the app's surrogate key. */
const topic = 'moderation-engines'

const unset: EngineSetting = { url: null, model: null, key: null, onError: 'approve-message', contextMessages: 0 }

const select = statement(`
  select engine, url, model, key_sealed as key, on_error as "onError", context_messages as "contextMessages"
  from moderation_engines
  where app_id = $1`)

const write = statement(`
  insert into moderation_engines (app_id, engine, url, model, key_sealed, on_error, context_messages, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (app_id, engine) do update
  set url = excluded.url,
    model = excluded.model,
    key_sealed = excluded.key_sealed,
    on_error = excluded.on_error,
    context_messages = excluded.context_messages,
    updated_at = excluded.updated_at`)

const remove = statement(`
  delete from moderation_engines
  where app_id = $1
  and engine = $2
  returning engine`)

export function createEngineSettings(database: Database, invalidation: Invalidation): EngineSettingsStore {
  const memory = createMemory<number, EngineSettings>({ max: 10_000, read: (appId) => read(database, appId) })
  invalidation.onChange(topic, (appId) => (appId === undefined ? memory.forgetAll() : memory.forget(Number(appId))))

  const changing = <Result>(appId: number, work: (tx: Transaction) => Promise<Result>): Promise<Result> =>
    database.transaction(async (tx) => {
      await lockApp(tx, appId)
      const result = await work(tx)
      await invalidation.announce(tx, topic, String(appId))
      tx.afterCommit(() => memory.forget(appId))
      return result
    })

  return {
    of: memory.recall,
    change: ({ appId }, engine, audit, next) =>
      changing(appId, async (tx) => {
        const present = (await read(tx, appId))[engine]
        const setting = next(present)
        const { url, model, key, onError, contextMessages } = setting
        const now = Math.floor(Date.now() / 1000)
        await tx.query(write, [appId, engine, url, model, key, onError, contextMessages, now])
        const details = { keyChanged: key !== present.key, ...changesOf(recorded(present), recorded(setting)) }
        await audit.record(tx, appId, { action: 'moderation_engine_updated', type: 'engine', target: engine, details })
        return setting
      }),
    remove: ({ appId }, engine, audit) =>
      changing(appId, async (tx) => {
        const present = (await read(tx, appId))[engine]
        const removed = await tx.query(remove, [appId, engine])
        if (removed.length === 0) return false
        const details = changesOf(recorded(present), undefined)
        await audit.record(tx, appId, { action: 'moderation_engine_deleted', type: 'engine', target: engine, details })
        return true
      }),
  }
}

/** What the audit log has of an engine. */
function recorded({ url, model, onError, contextMessages }: EngineSetting) {
  return { url: url && withoutQuery(url), model, onError, contextMessages }
}

/** An address without what may be secret in it. */
export function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/, '')
}

async function read(on: Queryable, appId: number): Promise<EngineSettings> {
  const rows = await on.query<EngineSetting & { engine: EngineName }>(select, [appId])
  const set = Object.fromEntries(rows.map(({ engine, ...setting }) => [engine, setting]))
  return { 'custom-api': unset, llm: unset, labels: unset, ...set }
}
