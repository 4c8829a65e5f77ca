import type { Database, Queryable, Transaction } from '../../store/database.ts'
import type { Invalidation } from '../../store/invalidation.ts'
import { createMemory } from '../../store/memory.ts'
import { statement } from '../../store/statement.ts'
import { predefinedReasons, shippedAt } from './predefined.ts'

/** A reason that users can give for flagging a message. */
export interface ReasonRow {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly predefined: boolean
  readonly removed: boolean
  /** Epoch seconds. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** The reasons of apps, kept in memory, since every front end asks for them when it starts. */
export interface ReasonsStore {
  of(appId: number): Promise<readonly ReasonRow[]>
  /** They change in a transaction: every process reads them anew once it is committed. */
  announce(tx: Transaction, appId: number): Promise<void>
}

/** Announced with the app's surrogate key. */
const topic = 'moderation-reasons'

export function createReasons(database: Database, invalidation: Invalidation): ReasonsStore {
  const memory = createMemory<number, ReasonRow[]>({ max: 10_000, read: (appId) => readReasons(database, appId) })
  invalidation.onChange(topic, (appId) => (appId === undefined ? memory.forgetAll() : memory.forget(Number(appId))))
  return {
    of: memory.recall,
    async announce(tx, appId) {
      await invalidation.announce(tx, topic, String(appId))
      tx.afterCommit(() => memory.forget(appId))
    },
  }
}

const columns = `id, name, description, predefined, removed, created_at as "createdAt", updated_at as "updatedAt"`

const selectAll = statement(`
  select ${columns}
  from moderation_reasons
  where app_id = $1
  order by key`)

const selectOne = statement(`
  select ${columns}
  from moderation_reasons
  where app_id = $1
  and id = $2`)

function shipped(id: string): ReasonRow | undefined {
  const reason = Object.hasOwn(predefinedReasons, id) ? predefinedReasons[id] : undefined
  return reason && { id, ...reason, predefined: true, removed: false, createdAt: shippedAt, updatedAt: shippedAt }
}

/** The reasons of an app: the predefined ones, then its own, the oldest first. */
export async function readReasons(on: Queryable, appId: number): Promise<ReasonRow[]> {
  const rows = await on.query<ReasonRow>(selectAll, [appId])
  const stored = new Map(rows.map((row) => [row.id, row]))
  const predefined = Object.keys(predefinedReasons).flatMap((id) => stored.get(id) ?? shipped(id) ?? [])
  const own = rows.filter(({ id }) => !Object.hasOwn(predefinedReasons, id))
  return [...predefined, ...own].filter(({ removed }) => !removed)
}

/** A reason that is there. */
export async function readReason(on: Queryable, appId: number, id: string): Promise<ReasonRow | undefined> {
  const row = await readFormerReason(on, appId, id)
  return row?.removed === true ? undefined : row
}

/** A reason, also one that was removed. */
export async function readFormerReason(on: Queryable, appId: number, id: string): Promise<ReasonRow | undefined> {
  const [row] = await on.query<ReasonRow>(selectOne, [appId, id])
  return row ?? shipped(id)
}
