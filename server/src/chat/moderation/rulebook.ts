import { setImmediate as otherWork } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Log } from '../../log.ts'
import type { Database, Queryable } from '../../store/database.ts'
import type { Invalidation } from '../../store/invalidation.ts'
import { type Asks, asksOf } from './describe.ts'
import { compileEngine, type Engine } from './engine/engine.ts'
import { createTraffic, type Traffic } from './engine/traffic.ts'
import { type ListRow, listRevisionOf, readCurrentLists } from './lists.ts'
import type { ListRevision, RuleRevision } from './model.ts'
import { listIdsOf, literalsOf, type RuleRow, readRulesInForce, revisionOf } from './rules.ts'

/** The rules of an app that are on or in shadow mode, ready to judge. */
export interface Rules {
  readonly engine: Engine
  /** What is to be read of sender and receiver before a message is judged. */
  readonly asks: Asks
  /** What its users have sent lately, as far as this process knows. */
  readonly traffic: Traffic
}

/**
 * The rules and lists of apps, compiled and kept in memory. After a change the old ones hold until the new ones are ready,
 * so that no message waits for a compilation, and none goes by unjudged. Where the line was cut that tells of changes, they may have
 * changed long ago: then the next message waits for them.
 */
export interface Rulebook {
  /** @returns undefined where no rule is on or in shadow mode. That is known from memory nearly always. */
  of(appId: number): Promise<Rules | undefined>
  /** Lets every process take up a change of rules or lists, once it is committed. */
  announce(on: Queryable, appId: number): Promise<void>
  /** Takes up what was committed before. @returns when it is in force in this process, or could not be read for now */
  renew(appId: number): Promise<void>
}

const topic = 'moderation-rules'
const retryMs = 5_000

interface Entry {
  /** What holds now; absent until it was read for the first time. */
  rules?: { readonly held: Rules | undefined }
  /** It has changed since it was last read. */
  isOutdated: boolean
  /** It may have changed at any time since: nobody judges by it before it is read again. */
  isUnverified: boolean
  /** The reading that is under way. */
  reading?: Promise<void> | undefined
  /** Epoch milliseconds of the last reading that failed. */
  failedAt?: number | undefined
}

export interface RulebookOptions {
  readonly database: Database
  readonly invalidation: Invalidation
  readonly log: Log
  /** Apps whose rules are kept; those that were asked for last. */
  readonly maxApps?: number
  /** Terms of all of them together; they take some 30 MB for each 100,000. */
  readonly maxTerms?: number
}

export function createRulebook(options: RulebookOptions): Rulebook {
  const { database, invalidation, log, maxApps = 10_000, maxTerms = 2_000_000 } = options
  const traffic = new LRUCache<number, Traffic>({ max: 1_000 })
  const entries = new LRUCache<number, Entry>({ max: maxApps, maxSize: maxTerms, sizeCalculation: () => 1 })

  const trafficOf = (appId: number): Traffic => {
    const known = traffic.get(appId)
    if (known !== undefined) return known
    const made = createTraffic()
    traffic.set(appId, made)
    return made
  }
  const read = async (appId: number): Promise<{ held: Rules | undefined; terms: number }> => {
    const { rules, lists } = await readInForce(database, appId)
    if (rules.length === 0) return { held: undefined, terms: 0 }
    const engine = await compileAll(log, appId, rules, lists)
    const all = [...lists, ...rules.flatMap(literalsOf)]
    const terms = all.reduce((sum, list) => sum + list.terms.length, 0)
    return { held: engine && { engine, asks: asksOf(rules), traffic: trafficOf(appId) }, terms }
  }
  /**
   * Reads until nothing has changed meanwhile. What is read for an entry that was let go of meanwhile is for those who wait for it,
   * and is not kept: nobody notified it of changes, and there may be another by now.
   */
  const renewEntry = async (appId: number, entry: Entry): Promise<void> => {
    while (entry.isOutdated) {
      entry.isOutdated = false
      try {
        const { held, terms } = await read(appId)
        entry.rules = { held }
        if (!entry.isOutdated) entry.isUnverified = false
        entry.failedAt = undefined
        if (entries.peek(appId) !== entry) continue
        // What is set again counts as it did before, unless it was taken out.
        entries.delete(appId)
        entries.set(appId, entry, { size: 1 + terms })
      } catch (error) {
        entry.isOutdated = true
        entry.failedAt = performance.now()
        throw error
      }
    }
  }
  const startReading = (appId: number, entry: Entry): Promise<void> => {
    entry.reading ??= renewEntry(appId, entry).finally(() => {
      entry.reading = undefined
    })
    return entry.reading
  }
  const entryOf = (appId: number): Entry => {
    const known = entries.get(appId)
    if (known !== undefined) return known
    const entry: Entry = { isOutdated: true, isUnverified: false }
    entries.set(appId, entry, { size: 1 })
    return entry
  }
  const complain = (appId: number) => (err: unknown) =>
    log.error({ err, app: appId }, 'could not read the moderation rules; the previous ones stay in effect')
  /** What holds is kept where the new could not be read: the database is away, and says so elsewhere. */
  const renewBehind = async (appId: number, entry: Entry): Promise<void> => {
    if (entry.reading !== undefined) return entry.reading.catch(() => {})
    if (entry.failedAt !== undefined && performance.now() - entry.failedAt < retryMs) return
    await startReading(appId, entry).catch(complain(appId))
  }
  const outdate = (appId: number): void => {
    const entry = entries.peek(appId)
    if (entry === undefined) return
    entry.isOutdated = true
    entry.failedAt = undefined
    if (entry.rules !== undefined) void renewBehind(appId, entry)
  }
  invalidation.onChange(topic, (appId) => {
    if (appId !== undefined) return outdate(Number(appId))
    // Nobody knows what changed: each is read again when it is asked for.
    for (const key of [...entries.keys()]) {
      const entry = entries.peek(key)
      if (entry !== undefined) entry.isOutdated = entry.isUnverified = true
    }
  })

  const of = async (appId: number): Promise<Rules | undefined> => {
    const entry = entryOf(appId)
    if (entry.rules === undefined) await startReading(appId, entry)
    else if (entry.isUnverified) await renewBehind(appId, entry)
    else if (entry.isOutdated) void renewBehind(appId, entry)
    return entry.rules?.held
  }
  return {
    of,
    announce: (on, appId) => invalidation.announce(on, topic, String(appId)),
    async renew(appId) {
      const entry = entryOf(appId)
      entry.isOutdated = true
      await startReading(appId, entry).catch(complain(appId))
    },
  }
}

async function readInForce(on: Queryable, appId: number): Promise<{ rules: RuleRevision[]; lists: ListRevision[] }> {
  const rows = await readRulesInForce(on, appId)
  return { rules: rows.map(revisionOf), lists: await readListsOf(on, appId, rows) }
}

/** The lists that rules name, as they are now. @param read one list; those that no rule uses yet may not be stored */
export async function readListsOf(
  on: Queryable,
  appId: number,
  rules: readonly Pick<RuleRow, 'conditions'>[],
  read: (id: string) => Promise<ListRow | undefined> = async (id) => (await readCurrentLists(on, appId, [id]))[0],
): Promise<ListRevision[]> {
  const ids = [...new Set(rules.flatMap(({ conditions }) => listIdsOf(conditions)))]
  const lists: ListRevision[] = []
  // One at a time: a list may be long, and whoever else has something to do is let in between.
  for (const id of ids) {
    const row = await read(id)
    if (row !== undefined) lists.push(listRevisionOf(row))
    await otherWork()
  }
  return lists
}

/**
 * Compiles rules. Their words and patterns were checked when they were written, so none should fail; where one does, the others
 * hold without it, and the log says so each time they are read.
 */
async function compileAll(
  log: Log,
  appId: number,
  rules: readonly RuleRevision[],
  lists: readonly ListRevision[],
): Promise<Engine | undefined> {
  try {
    return await compileEngine(rules, lists)
  } catch (err) {
    log.error({ err, app: appId }, 'could not compile the moderation rules together; each is compiled by itself')
  }
  const sound: RuleRevision[] = []
  for (const rule of rules) {
    try {
      await compileEngine([rule], lists)
      sound.push(rule)
    } catch (err) {
      const { ruleId, revision } = rule
      log.error({ err, app: appId, ruleId, revision }, 'a moderation rule is not in effect: it could not be compiled')
    }
  }
  return sound.length === 0 ? undefined : compileEngine(sound, lists)
}
