import type { Channel } from '../../store/channel.ts'
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

/**
 * What became of attempts need not be on the disk before the next thing is done: where the database itself crashes, the last
 * few tenths of a second are sent again, with their names, as all that was under way. What is planned must be: its id goes out
 * with it, and may not be drawn again for another.
 */
const settingsOfResults = `${settings};
  set synchronous_commit = off`

/** Connections of the notifier and of the planner each. */
const several = 2

/**
 * The same database with connections of its own for fixed statements: those of notifications are about hundreds of rows at
 * once, and nobody who calls the service waits behind them, nor they behind callers.
 */
export function withOwnConnections(database: Database, name: string): Database {
  return over(
    database,
    Array.from({ length: several }, (_, i) => database.openChannel(`${name} ${i}`, settings, true)),
  )
}

/**
 * The same for what became of attempts, on a connection apart: whoever reads what is due next would wait behind it until the
 * disk has it, several times for each portion.
 */
export function withConnectionOfResults(database: Database, name: string): Database {
  return over(database, [database.openChannel(name, settingsOfResults, true)])
}

function over(database: Database, channels: readonly Channel[]): Database {
  let next = 0
  return {
    ...database,
    async query<Row>(statement: Parameters<Database['query']>[0], values: unknown[] = []) {
      const channel = channels[next++ % channels.length] as Channel
      return (await channel.query({ ...statement, values })).rows as Row[]
    },
  }
}
