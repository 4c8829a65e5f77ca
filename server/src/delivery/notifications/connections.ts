import type { Database } from '../../store/database.ts'

/**
 * What is asked here is found by key. Without statistics, or with those of a time when tables were empty, the planner would
 * rather read a whole app for each row, and keep that plan while the tables fill.
 */
export const planningSettings = `
  set plan_cache_mode = force_generic_plan;
  set enable_hashjoin = off;
  set enable_mergejoin = off;
  set enable_seqscan = off;
  set jit = off`

/** As for all look-ups: nobody waits behind one statement for ever. */
const settings = `${planningSettings};
  set statement_timeout = '15s'`

const connections = 2

/**
 * The same database with connections of its own for fixed statements: those of notifications are about hundreds of rows at
 * once, and nobody who calls the service waits behind them, nor they behind callers.
 */
export function withOwnConnections(database: Database, name: string): Database {
  const channels = Array.from({ length: connections }, (_, i) => database.openChannel(`${name} ${i}`, settings))
  let next = 0
  return {
    ...database,
    async query<Row>(statement: Parameters<Database['query']>[0], values: unknown[] = []) {
      const channel = channels[next++ % channels.length] as (typeof channels)[number]
      return (await channel.query({ ...statement, values })).rows as Row[]
    },
  }
}
