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
      const now = Math.floor((await ageClock.now()) / 1000)
      await removeOldEntries(database, secrets, now - retentionDays * 86_400, now)
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
 * @param now epoch seconds: what is from later was written while the clock was ahead, and goes with what is old behind it
 */
export async function removeOldEntries(
  database: Pick<Database, 'query' | 'transaction'>,
  secrets: Keys,
  before: number,
  now: number,
): Promise<void> {
  for (const { appId } of await database.query<{ appId: number }>(selectApps)) {
    while (await database.transaction((tx) => removeSome(tx, secrets, appId, before, now)));
  }
}

/** @returns whether some are gone, and there may be more */
async function removeSome(
  tx: Transaction,
  secrets: Keys,
  appId: number,
  before: number,
  now: number,
): Promise<boolean> {
  const chain = await holdChain(tx, secrets, appId)
  const last = await findLastOld(tx, appId, chain.sinceSeq, before, now)
  if (last === undefined) return false
  await tx.query(allowRemoval)
  await tx.query(removeTo, [appId, last.seq])
  await keepChain(tx, secrets, appId, { ...chain, sinceSeq: last.seq, sinceLink: last.link })
  return true
}

interface Link {
  readonly seq: number
  readonly link: Buffer
  readonly createdAt: number
}

/** The last old one of the next entries, before any that is kept. Where they are all from the future, it looks behind them. */
async function findLastOld(
  tx: Transaction,
  appId: number,
  since: number,
  before: number,
  now: number,
): Promise<Link | undefined> {
  for (let after = since; ; ) {
    const next = await tx.query<Link>(selectOldest, [appId, after])
    const kept = next.findIndex(({ createdAt }) => createdAt >= before && createdAt <= now)
    const last = (kept === -1 ? next : next.slice(0, kept)).findLast(({ createdAt }) => createdAt < before)
    const end = next.at(-1)
    if (last !== undefined || kept !== -1 || end === undefined) return last
    after = end.seq
  }
}
