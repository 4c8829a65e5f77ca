import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'

const lookMs = 100
const patienceMs = 15 * 60_000

/** The newest message of all apps. */
export async function readLastId(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ id: string }>(
    `select coalesce(max(m.id), 0) as id
    from apps a
    cross join lateral (select max(id) as id from messages where app_id = a.app_id) m`,
  )
  return Number(rows[0]?.id)
}

/** Every message up to this one is in the search index, which is filled behind the writes. */
export async function readIndexedId(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ id: string }>('select indexed_id as id from search_progress')
  return Number(rows[0]?.id)
}

/**
 * Waits until the search index has the messages up to this one.
 * @param onWaiting told every second how many are still missing
 * @returns the seconds that it took
 */
export async function whenIndexed(database: pg.Client, id: number, onWaiting = (_left: number) => {}): Promise<number> {
  const startedAt = performance.now()
  for (let looks = 0; ; looks++) {
    const left = id - (await readIndexedId(database))
    if (left <= 0) return looks === 0 ? 0 : (performance.now() - startedAt) / 1000
    if (performance.now() - startedAt > patienceMs) throw new Error(`the search index still lacks ${left} messages`)
    if (looks % 10 === 0) onWaiting(left)
    await delay(lookMs)
  }
}
