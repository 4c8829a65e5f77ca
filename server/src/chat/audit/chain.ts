import type { Log } from '../../log.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Database, Queryable, Transaction } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'
import { type ChainedEntry, chainedColumns } from './entries.ts'
import { type Chain, isEqual, linkOf, macOfChain, seal } from './seal.ts'

/** Entries are linked soon after they are committed, and not in the transactions that write them: those would wait for each other. */
const linkEveryMs = 1_000
const atOnce = 500
/** The end of a chain goes to the log, too: whoever owns the database can take back what only the database has. */
const logEveryMs = 3_600_000

const selectApps = statement(`
  select distinct app_id as "appId"
  from audit_log
  where seq is null`)

const chainColumns = `seq, link, since_seq as "sinceSeq", since_link as "sinceLink", adopted_to as "adoptedTo", mac`

const selectChain = statement(`
  select ${chainColumns}
  from audit_chains
  where app_id = $1`)

const lockChain = statement(`
  select ${chainColumns}
  from audit_chains
  where app_id = $1
  for update`)

const selectBefore = statement(`
  select coalesce(max(seq), 0) as seq, coalesce(max(id) filter (where seal is null), 0) as "adoptedTo"
  from audit_log
  where app_id = $1`)

const insertChain = statement(`
  insert into audit_chains (app_id, seq, link, since_seq, since_link, adopted_to, mac)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (app_id) do nothing`)

const updateChain = statement(`
  update audit_chains
  set seq = $2,
    link = $3,
    since_seq = $4,
    since_link = $5,
    adopted_to = $6,
    mac = $7
  where app_id = $1`)

const selectUnlinked = statement(`
  select ${chainedColumns}
  from audit_log
  where app_id = $1
  and seq is null
  order by id
  limit ${atOnce}`)

const writeLinks = statement(`
  update audit_log a
  set seq = n.seq,
    link = n.link,
    seal = coalesce(a.seal, n.seal)
  from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[]) n (created_at, id, seq, link, seal)
  where a.app_id = $1
  and a.created_at = n.created_at
  and a.id = n.id`)

type Keys = Pick<Secrets, 'digest'>
export type KeptChain = Chain & { readonly mac: Buffer }

const nothing = Buffer.alloc(0)

/** Where the chain of an app stands; undefined before its first link. */
export async function readChain(on: Queryable, appId: number): Promise<KeptChain | undefined> {
  const [chain] = await on.query<KeptChain>(selectChain, [appId])
  return chain
}

const selectLast = statement(`
  select coalesce(max(seq), 0) as seq
  from audit_log
  where app_id = $1
  and seq is not null`)

/**
 * The chain of an app, which nobody else extends or shortens meanwhile. One that somebody has removed or changed begins anew behind
 * what was linked: the log goes on, and shows it.
 */
export async function holdChain(tx: Transaction, secrets: Keys, appId: number): Promise<Chain> {
  const [known] = await tx.query<KeptChain>(lockChain, [appId])
  if (known !== undefined) {
    const [last] = await tx.query<{ seq: number }>(selectLast, [appId])
    const seq = Math.max(last?.seq ?? 0, known.seq)
    if (seq === known.seq && isEqual(known.mac, macOfChain(secrets, appId, known))) return known
    const anew = { seq, link: nothing, sinceSeq: seq, sinceLink: nothing, adoptedTo: 0 }
    await keepChain(tx, secrets, appId, anew)
    return anew
  }
  const [before] = await tx.query<{ seq: number; adoptedTo: number }>(selectBefore, [appId])
  const { seq = 0, adoptedTo = 0 } = before ?? {}
  const chain = { seq, link: nothing, sinceSeq: seq, sinceLink: nothing, adoptedTo }
  await tx.query(insertChain, valuesOf(secrets, appId, chain))
  const [made] = await tx.query<KeptChain>(lockChain, [appId])
  return made as KeptChain
}

export async function keepChain(tx: Transaction, secrets: Keys, appId: number, chain: Chain): Promise<void> {
  await tx.query(updateChain, valuesOf(secrets, appId, chain))
}

function valuesOf(secrets: Keys, appId: number, chain: Chain): unknown[] {
  const { seq, link, sinceSeq, sinceLink, adoptedTo } = chain
  return [appId, seq, link, sinceSeq, sinceLink, adoptedTo, macOfChain(secrets, appId, chain)]
}

/** Links what was written since the last time, of all apps. @returns the chains that have grown */
export async function linkEntries(
  database: Pick<Database, 'query' | 'transaction'>,
  secrets: Keys,
): Promise<Map<number, Chain>> {
  const grown = new Map<number, Chain>()
  for (const { appId } of await database.query<{ appId: number }>(selectApps)) {
    for (;;) {
      const step = await database.transaction((tx) => linkSome(tx, secrets, appId))
      if (step === undefined) break
      grown.set(appId, step.chain)
      if (step.count < atOnce) break
    }
  }
  return grown
}

async function linkSome(
  tx: Transaction,
  secrets: Keys,
  appId: number,
): Promise<{ chain: Chain; count: number } | undefined> {
  const before = await holdChain(tx, secrets, appId)
  const entries = await tx.query<ChainedEntry>(selectUnlinked, [appId])
  if (entries.length === 0) return undefined
  let { seq, link } = before
  const links = entries.map((entry) => {
    const { id, createdAt } = entry
    const isAdopted = entry.seal === null && id <= before.adoptedTo
    const ownSeal = isAdopted ? seal(secrets, appId, entry) : entry.seal
    seq++
    link = linkOf(secrets, appId, link, seq, ownSeal)
    return { createdAt, id, seq, link, seal: ownSeal }
  })
  await tx.query(writeLinks, [
    appId,
    links.map(({ createdAt }) => createdAt),
    links.map(({ id }) => id),
    links.map((one) => one.seq),
    links.map((one) => one.link),
    links.map((one) => one.seal),
  ])
  const chain = { ...before, seq, link }
  await keepChain(tx, secrets, appId, chain)
  return { chain, count: entries.length }
}

const selectWithoutSeal = statement(`
  select ${chainedColumns}
  from audit_log
  where app_id = $1
  and seal is null
  and seq is null
  order by id`)

const writeSeals = statement(`
  update audit_log a
  set seal = n.seal
  from unnest($2::bigint[], $3::bigint[], $4::bytea[]) n (created_at, id, seal)
  where a.app_id = $1
  and a.created_at = n.created_at
  and a.id = n.id`)

/** Seals what was brought from another service, in the transaction that brings it. */
export async function sealUnsealed(tx: Transaction, secrets: Keys, appId: number): Promise<void> {
  const entries = await tx.query<ChainedEntry>(selectWithoutSeal, [appId])
  await tx.query(writeSeals, [
    appId,
    entries.map(({ createdAt }) => createdAt),
    entries.map(({ id }) => id),
    entries.map((entry) => seal(secrets, appId, entry)),
  ])
}

/** Links entries soon after they are written, as one of however many processes there are. @returns ends that */
export function startAuditChain(
  { database, secrets, log }: { readonly database: Database; readonly secrets: Keys; readonly log: Log },
  everyMs = linkEveryMs,
): () => Promise<void> {
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const loggedAt = new Map<number, number>()
  const run = async () => {
    try {
      for (const [appId, { seq, link }] of await linkEntries(database, secrets)) {
        if (performance.now() < (loggedAt.get(appId) ?? Number.NEGATIVE_INFINITY) + logEveryMs) continue
        loggedAt.set(appId, performance.now())
        log.info({ appId, head: headOf({ seq, link }) }, 'head of the audit log')
      }
    } catch (err) {
      if (!isConnectionFailure(err)) log.error({ err }, 'entries of the audit log could not be linked')
    }
    if (!isOver) timer = setTimeout(start, everyMs).unref()
  }
  let running: Promise<void> | undefined
  const start = () => {
    running = run()
  }
  start()
  return async () => {
    isOver = true
    clearTimeout(timer)
    await running
  }
}

/** Long enough that nobody finds another, and short enough that the log takes it for no key. */
const headBytes = 12

/** The end of a chain, as it is noted and compared. */
export function headOf({ seq, link }: Pick<Chain, 'seq' | 'link'>): string {
  return `${seq}:${link.subarray(0, headBytes).toString('hex')}`
}
