import type { Log } from '../../log.ts'
import type { AgeClock } from '../../store/age-clock.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Database, Transaction } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'
import { holdChain, keepChain } from './chain.ts'

const atOnce = 1_000

const selectApps = statement(`
  select app_id as "appId"
  from audit_chains`)

/** From the first that is left. */
const selectOldest = statement(`
  select seq, link, created_at as "createdAt"
  from audit_log
  where app_id = $1
  and seq > $2
  order by seq
  limit ${atOnce}`)

/** Only here, and where an app is removed, can entries be removed. */
const allowRemoval = statement(`select set_config('parley.audit_log', 'remove', true)`)

const removeTo = statement(`
  delete from audit_log
  where app_id = $1
  and seq <= $2`)

const removeEveryMs = 600_000

type Keys = Pick<Secrets, 'digest'>

interface Store {
  readonly database: Database
  readonly ageClock: AgeClock
  readonly secrets: Keys
  readonly log: Log
}

/** Removes entries of the audit log that are older than `retentionDays`, now and then. @returns ends that */
export function keepAuditLogShort({ database, ageClock, secrets, log }: Store, retentionDays: number): () => void {
  const remove = async () => {
    try {
      await removeOldEntries(database, secrets, Math.floor((await ageClock.now()) / 1000) - retentionDays * 86_400)
    } catch (err) {
      if (!isConnectionFailure(err)) log.warn({ err }, 'old entries of the audit log could not be removed')
    }
  }
  const timer = setInterval(() => void remove(), removeEveryMs).unref()
  return () => clearInterval(timer)
}

/**
 * Removes the oldest entries, of each app and of the deployment: from the beginning of the chain up to the first that is kept, in
 * small steps, so that nobody waits for them.
 * @param before epoch seconds
 */
export async function removeOldEntries(
  database: Pick<Database, 'query' | 'transaction'>,
  secrets: Keys,
  before: number,
): Promise<void> {
  for (const { appId } of await database.query<{ appId: number }>(selectApps)) {
    while ((await database.transaction((tx) => removeSome(tx, secrets, appId, before))) === atOnce);
  }
}

/** @returns how many are gone */
async function removeSome(tx: Transaction, secrets: Keys, appId: number, before: number): Promise<number> {
  const chain = await holdChain(tx, secrets, appId)
  const oldest = await tx.query<{ seq: number; link: Buffer; createdAt: number }>(selectOldest, [appId, chain.sinceSeq])
  const kept = oldest.findIndex(({ createdAt }) => createdAt >= before)
  const old = kept === -1 ? oldest : oldest.slice(0, kept)
  const last = old.at(-1)
  if (last === undefined) return 0
  await tx.query(allowRemoval)
  await tx.query(removeTo, [appId, last.seq])
  await keepChain(tx, secrets, appId, { ...chain, sinceSeq: last.seq, sinceLink: last.link })
  return old.length
}
