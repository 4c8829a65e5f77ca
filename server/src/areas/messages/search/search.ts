import type { Log } from '../../../log.ts'
import type { Database, Queryable } from '../../../store/database.ts'
import type { ReadLoad } from '../../../store/reads.ts'
import { compileFragment, type Fragment } from '../../../store/statement.ts'
import { createSearchWriter } from './writer.ts'

/** Search in messages, as the lists use it. */
export interface MessageSearch {
  /**
   * Where one search asks: what is composed for it over connections that nothing else waits for, and look-ups by fixed
   * statements where they always go, since a plan that is made for what is asked may miss the key.
   * @param database asked on behalf of whoever searches
   */
  reader(database: Database): Queryable
  readonly load: ReadLoad
  /** Begins to fill the index behind the sends. */
  start(): void
  /** Lets the batch under way end. */
  stop(): Promise<void>
}

/** So many long searches run at once; others wait for them, rather than everything else. */
const atOnce = 4
/** What a search asks the index for takes a few milliseconds, mostly. */
const quickMs = 100

/**
 * The planner knows nothing of how often grams occur; every query is written for the index that it is to use, and planned
 * for what is asked: one word and a hundred conversations, or the other way round.
 */
const settings = `
  set plan_cache_mode = force_custom_plan;
  set enable_seqscan = off;
  set work_mem = '16MB';
  set jit = off`

/** @param timeoutMs how long one query of a search may take */
export function createMessageSearch(database: Database, log: Log, timeoutMs: number): MessageSearch {
  const reads = database.openReads({ name: 'search', atOnce, timeoutMs, quickMs, setup: settings })
  const writer = createSearchWriter(database, log)
  return {
    reader: ({ query, reader }) => ({
      query,
      async run<Row>(fragment: Fragment<Row>) {
        return (await reads.run(compileFragment(fragment), reader)).rows as Row[]
      },
    }),
    load: reads.load,
    start: writer.start,
    stop: writer.stop,
  }
}
