import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { resumeDryRuns } from '../areas/moderation/index.ts'
import { resumeDoctorRuns } from '../areas/operators/index.ts'
import { resumeExports } from '../areas/person-exports/index.ts'
import { createAudit } from '../chat/audit/audit.ts'
import { type Held, hold, readHeld } from '../chat/held-by-restore.ts'
import { enqueueDeliveries } from '../delivery/webhooks/enqueue.ts'
import { createEvents } from '../events/index.ts'
import { createLog } from '../log.ts'
import { createAgeClock } from '../store/age-clock.ts'
import type { ConnectionSettings } from '../store/connection.ts'
import { derivedKeys, openSecrets } from '../store/data-keys.ts'
import { type Database, openDatabase, type Queryable } from '../store/database.ts'
import { createInvalidation } from '../store/invalidation.ts'
import { createSecrets, type Secrets } from '../store/secrets.ts'
import { statement } from '../store/statement.ts'
import { tables } from '../tables.ts'
import { nameOf, readSequences } from './catalog.ts'
import type { SequenceEntry } from './format.ts'
import { type Applied, applyLedger } from './ledger/apply.ts'
import type { LedgerEntry } from './ledger/destinations.ts'

/** What was done to a database that was brought back, before anybody is served. */
export interface Finished {
  /** What the ledger had done again, by kind. */
  readonly applied: Applied
  /** What waits for an operator (`parley held`). */
  readonly held: readonly Held[]
}

/**
 * How far sequences are moved by a restore: past everything that was given out between the backup and the loss, however much that
 * was. Ids are safe up to 2^53, which leaves room for some thousand restores.
 */
const jump = { bigint: 1_000_000_000_000n, integer: 1_000_000n } as const

const selectType = `
  select data_type as type, max_value::text as max
  from pg_sequences
  where schemaname = $1
  and sequencename = $2`

/** Moves each sequence on from where it was. @param jumps how many times; none: to where it was */
export async function moveSequences(
  client: pg.ClientBase,
  sequences: readonly SequenceEntry[],
  jumps: bigint,
): Promise<void> {
  for (const sequence of sequences) {
    const { rows } = await client.query<{ type: string; max: string }>(selectType, [sequence.schema, sequence.name])
    const [found] = rows
    if (found === undefined || (sequence.lastValue === null && jumps === 0n)) continue
    const step = (jump[found.type as keyof typeof jump] ?? jump.integer) * jumps
    const next = BigInt(sequence.lastValue ?? 0) + step
    if (next >= BigInt(found.max)) throw new Error(`The sequence ${sequence.name} has no numbers left.`)
    await client.query('select setval($1::regclass, $2::bigint)', [nameOf(sequence), String(next)])
  }
}

const selectLedgerIds = `
  select (select value from settings where name = 'ledger') as of,
    (select max(id)::text from ledger) as last`

const ledgerIds = 'ledger_id_seq'

/** How many restores there were by the time that a number of the ledger was given out. */
const restoresBy = (id: bigint) => id / jump.bigint

/**
 * Moves each sequence past whatever was given out, also by what came of other restores of the same backup: each leaves an entry in
 * the ledger, and so its number tells how many there were.
 * @param kept where they stood at the end of the backup; some came by migrations since
 */
async function moveOn(
  client: pg.ClientBase,
  kept: readonly SequenceEntry[],
  entries: readonly LedgerEntry[],
): Promise<void> {
  const keptValues = new Map(kept.map((sequence) => [nameOf(sequence), sequence.lastValue]))
  const sequences = (await readSequences(client)).map((sequence) => {
    const values = [sequence.lastValue, keptValues.get(nameOf(sequence)) ?? null].filter((value) => value !== null)
    return { ...sequence, lastValue: values.length === 0 ? null : String(largest(values.map(BigInt))) }
  })
  const { rows } = await client.query<{ of: string; last: string | null }>(selectLedgerIds)
  const given = BigInt(sequences.find(({ name }) => name === ledgerIds)?.lastValue ?? 0)
  const own = entries.filter(({ of }) => of === rows[0]?.of).map(({ id }) => BigInt(id))
  const known = largest([given, BigInt(rows[0]?.last ?? 0), ...own])
  await moveSequences(client, sequences, restoresBy(known) + 1n - restoresBy(given))
}

const largest = (values: readonly bigint[]) => values.reduce((one, other) => (one > other ? one : other))

/** Nothing is to be done again for it: by its number the next restore sees this one. */
const noteRestore = statement(`
  insert into ledger (kind, app_id, digest, at)
  values ('restored', 0, '', (extract(epoch from clock_timestamp()) * 1000)::bigint)`)

/** What somebody may have used since: one-time addresses and sign-ins of operators; and the backup that was being made. */
const forgotten = [
  'delete from operator_links',
  'delete from operator_sign_ins',
  "delete from backup_runs where status = 'running'",
].map(statement)

const selectEvents = statement(`
  select h.id as horizon, coalesce((select max(id) from events), 0) as last
  from event_horizon h`)

/**
 * Up to the place that the sequence has come to everything is settled. Cursors of before, those from after the backup among them, lead
 * nowhere: whoever has one begins anew.
 */
const moveHorizon = statement(`
  with moved as (
    update event_horizon h
    set id = (select last_value from event_ids),
      held_until = (select last_value from event_ids)
    returning h.id
  )
  update apps
  set events_pulled_from = m.id,
    events_followed_from = m.id
  from moved m`)

/** What was under way in jobs, which are not copied. Those of webhooks and notifications are found missing by themselves. */
export async function resumeJobs(on: Queryable): Promise<void> {
  await resumeDoctorRuns(on)
  await resumeDryRuns(on)
  await resumeExports(on)
}

/**
 * Makes a database that was brought back fit to serve: nothing is given out twice, nothing that was sent is sent again, what was
 * erased or revoked since is so again, and clients and back ends see that they must begin anew.
 * @param sequences where they stood at the end of the backup; those that it does not have: where they stand
 */
export async function finish(
  client: pg.ClientBase,
  {
    connection,
    sequences = [],
    entries,
    masterKey,
  }: {
    readonly connection: ConnectionSettings
    readonly sequences?: readonly SequenceEntry[] | undefined
    readonly entries: readonly LedgerEntry[]
    readonly masterKey: string | undefined
  },
): Promise<Finished> {
  await moveOn(client, sequences, entries)
  const log = createLog('silent')
  const database = openDatabase(connection)
  try {
    const secrets = await secretsOf(database, masterKey)
    const invalidation = createInvalidation(database)
    const audit = createAudit(secrets, { caller: 'command' })
    const events = createEvents(database, invalidation, { log, ageClock: createAgeClock(database, log), retention: 0 })
    await database.query(noteRestore)
    const applied = await applyLedger({ database, events, tables, audit, secrets, log }, entries)
    const [{ horizon, last } = { horizon: 0, last: 0 }] = await database.query<{ horizon: number; last: number }>(
      selectEvents,
    )
    // What had happened and was not yet made out for webhooks.
    await database.transaction((tx) => enqueueDeliveries(tx, horizon, last))
    for (const each of forgotten) await database.query(each)
    await hold(database)
    await resumeJobs(database)
    await database.query(moveHorizon)
    return { applied, held: await readHeld(database) }
  } finally {
    await database.close()
  }
}

/** Where no master key is at hand, nothing is unsealed or looked for by a digest. */
async function secretsOf(database: Database, masterKey: string | undefined): Promise<Secrets> {
  if (masterKey !== undefined) return openSecrets(database, [masterKey])
  const made = derivedKeys(randomBytes(32).toString('hex'))
  return createSecrets(() => made)
}
