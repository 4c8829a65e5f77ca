import { sql } from 'kysely'
import { texts } from './chat.ts'
import { until } from './until.ts'
import type { World } from './world.ts'

/** The texts that a message list finds, in its order. */
export async function find(world: World, searchKey: string, path = '/messages', as?: string): Promise<string[]> {
  const query = `searchKey=${encodeURIComponent(searchKey)}&limit=1000`
  return texts(await world.get(`${path}${path.includes('?') ? '&' : '?'}${query}`, as === undefined ? {} : { as }))
}

/** Resolves when the index holds every message that is stored by now. */
export async function indexed({ context: { database } }: Pick<World, 'context'>): Promise<void> {
  const [drawn] = await database.run(sql<{ id: number }>`select last_value as id from message_ids`)
  const reached = async () => {
    const [progress] = await database.run(sql<{ id: number }>`select indexed_id as id from search_progress`)
    return progress?.id ?? 0
  }
  await until(async () => (await reached()) >= (drawn?.id ?? 0), { progress: reached })
}

/** What the index holds of an app's messages: the folded text of each by its id, empty where it has gone. */
export async function entriesOf(world: World): Promise<Map<number, string>> {
  const rows = await world.context.database.run(sql<{ id: number; body: string }>`
    select message_id as id, body
    from search_entries
    where app_id = ${world.app.appId}
    order by message_id`)
  return new Map(rows.map(({ id, body }) => [id, body]))
}

/**
 * Keeps the index from taking in what is sent from now on: a transaction with a number and the lock of a writer might
 * still store a message with an earlier id. It ends, and the index goes on, when `work` is done.
 */
export async function withoutIndex<Result>(world: World, work: () => Promise<Result>): Promise<Result> {
  return world.context.database.transaction(async (tx) => {
    // However long the work takes on a busy machine.
    await tx.run(sql`set local idle_in_transaction_session_timeout = 0`)
    await tx.run(sql`lock table messages in row exclusive mode`)
    await tx.run(sql`select pg_current_xact_id()`)
    return work()
  })
}
