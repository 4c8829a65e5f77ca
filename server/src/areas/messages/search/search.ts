import type { Log } from '../../../log.ts'
import type { Channel } from '../../../store/channel.ts'
import type { Database, Queryable } from '../../../store/database.ts'
import { compileFragment, type Fragment } from '../../../store/statement.ts'
import { createSearchWriter } from './writer.ts'

/** Search in messages, as the lists use it. */
export interface MessageSearch {
  /**
   * Where one search asks: what is composed for it over connections that nothing else waits for, and look-ups by fixed
   * statements where they always go, since a plan that is made for what is asked may miss the key.
   */
  reader(): Queryable
  /** Begins to fill the index behind the sends. */
  start(): void
  /** Lets the batch under way end. */
  stop(): Promise<void>
}

/** So many searches run at once; others wait for them, rather than everything else. */
const readers = 2

/**
 * The planner knows nothing of how often grams occur; every query is written for the index that it is to use, and planned
 * for what is asked: one word and a hundred conversations, or the other way round.
 */
const settings = `
  set plan_cache_mode = force_custom_plan;
  set enable_seqscan = off;
  set work_mem = '16MB';
  set jit = off`

export function createMessageSearch(database: Database, log: Log): MessageSearch {
  const channels = Array.from({ length: readers }, (_, i) => database.openChannel(`parley search ${i}`, settings))
  const queryables = channels.map((channel) => queryableOf(channel, database))
  const writer = createSearchWriter(database, log)
  let next = 0
  return {
    reader: () => queryables[next++ % readers] as Queryable,
    start: writer.start,
    stop: writer.stop,
  }
}

function queryableOf(channel: Channel, database: Database): Queryable {
  return {
    query: database.query,
    async run<Row>(fragment: Fragment<Row>) {
      return (await channel.query(compileFragment(fragment))).rows as Row[]
    },
  }
}
