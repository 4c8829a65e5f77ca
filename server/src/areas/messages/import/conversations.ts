import type { LRUCache } from 'lru-cache'
import { kindSql } from '../../../chat/kind.ts'
import { partsOf } from '../../../chat/naming.ts'
import type { Transaction } from '../../../store/database.ts'
import { createConversations, lockConversations, namingOf } from '../write/conversations.ts'
import { type LockedConversation, nameOf } from './plan.ts'
import type { ImportRow } from './row.ts'

/** One-to-one conversations that are known to be there, by name; one that is not any more is made again. */
export type KnownPairs = LRUCache<string, true>

const lock =
  lockConversations(`c.app_id as "appId", c.key, ${kindSql('c.kind')} as kind, c.first, c.second, c.created_at as "createdAt",
    c.last_sent_at as "lastSentAt", c.last_id as "lastId", c.listed_sent_at as "listedSentAt", c.listed_id as "listedId"`)

/**
 * Makes the one-to-one conversations of a batch that are missing, and locks all, in the order in which everybody does.
 * One whose user or group was deleted is missing from what is locked.
 */
export async function lockAll(
  tx: Transaction,
  known: KnownPairs,
  rows: readonly ImportRow[],
  now: number,
): Promise<LockedConversation[]> {
  const wanted = new Map(rows.map((row) => [nameOfRow(row), row]))
  const pairs = new Map([...wanted].filter(([, { kind }]) => kind === 'user'))
  const unknown = [...pairs].filter(([name]) => !known.has(name)).map(([, row]) => row)
  const [, locked] = await Promise.all([create(tx, unknown, now), lockRows(tx, [...wanted.values()])])
  if (locked.length === wanted.size) {
    tx.afterCommit(() => {
      for (const name of pairs.keys()) known.set(name, true)
    })
    return locked
  }
  // A pair thought known may be gone: a user deleted for good and made again.
  for (const name of pairs.keys()) known.delete(name)
  const [, all] = await Promise.all([create(tx, [...pairs.values()], now), lockRows(tx, [...wanted.values()])])
  return all
}

/** The name of the conversation of a row among those of all apps. */
export function nameOfRow(row: ImportRow): string {
  return nameOf(row, partsOf(row))
}

/** Those of deactivated users too: what they wrote and got is history. */
async function create(tx: Transaction, rows: readonly ImportRow[], now: number): Promise<void> {
  if (rows.length === 0) return
  const { appIds, firsts, seconds } = namingOf(rows)
  await tx.query(createConversations, [appIds, firsts, seconds, now, true])
}

function lockRows(tx: Transaction, rows: readonly ImportRow[]): Promise<LockedConversation[]> {
  const { appIds, kinds, firsts, seconds } = namingOf(rows)
  return tx.query<LockedConversation>(lock, [appIds, kinds, firsts, seconds])
}
