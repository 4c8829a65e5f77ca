import type { Database, Queryable } from '../store/database.ts'
import { createMemory } from '../store/memory.ts'
import { statement } from '../store/statement.ts'

/** Who stands in a block with a user. */
export interface BlocksOf {
  /** The users they have blocked. */
  readonly blocked: ReadonlySet<string>
  /** The users who have blocked them. */
  readonly blockers: ReadonlySet<string>
}

/** Blocks of users who do something, kept in memory and dropped when one changes. */
export interface BlockBook {
  of(appId: number, uid: string): Promise<BlocksOf>
  /** Blocks of these users changed. */
  drop(appId: number, uids: readonly string[]): void
  dropAll(): void
}

const select = statement(`
  select b.blocker, b.blocked
  from blocks b
  where b.app_id = $1
  and b.blocker = any($2::text[])
  union all
  select b.blocker, b.blocked
  from blocks b
  where b.app_id = $1
  and b.blocked = any($2::text[])`)

/** Events about blocks drop them at once; this is for what has no event. */
const keptMs = 60_000

const none: ReadonlySet<string> = new Set()
const noBlocks: BlocksOf = { blocked: none, blockers: none }

export const areApart = (blocks: BlocksOf, uid: string): boolean => blocks.blocked.has(uid) || blocks.blockers.has(uid)

/** The blocks of several users at once; who has none is not in the map. */
export async function readBlocks(
  on: Queryable,
  appId: number,
  uids: readonly string[],
): Promise<ReadonlyMap<string, BlocksOf>> {
  const wanted = new Set(uids)
  const found = new Map<string, { blocked: Set<string>; blockers: Set<string> }>()
  const entry = (uid: string) => {
    const known = found.get(uid) ?? { blocked: new Set<string>(), blockers: new Set<string>() }
    found.set(uid, known)
    return known
  }
  for (const { blocker, blocked } of await on.query<{ blocker: string; blocked: string }>(select, [appId, uids])) {
    if (wanted.has(blocker)) entry(blocker).blocked.add(blocked)
    if (wanted.has(blocked)) entry(blocked).blockers.add(blocker)
  }
  return found
}

export function createBlockBook(database: Database): BlockBook {
  const { recall, forget, forgetAll } = createMemory<string, BlocksOf>({
    max: 20_000,
    ttlMs: keptMs,
    async read(key) {
      const [appId, uid] = key.split(' ') as [string, string]
      return (await readBlocks(database, Number(appId), [uid])).get(uid) ?? noBlocks
    },
  })
  return {
    of: (appId, uid) => recall(`${appId} ${uid}`),
    drop(appId, uids) {
      for (const uid of uids) forget(`${appId} ${uid}`)
    },
    dropAll: forgetAll,
  }
}
