import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { Database, Queryable, Transaction } from './database.ts'
import { createSecrets, type DataKeys, decrypt, encrypt, firstVersion, type Secrets } from './secrets.ts'
import { statement } from './statement.ts'

/**
 * The keys that secrets are kept with are random, and stand in the database, wrapped by the master key: so the master key can
 * be changed while everything runs, by wrapping them once more. A database from before that was written with keys derived
 * from its master key: it keeps them, wrapped.
 */
export interface OpenSecrets extends Secrets {
  readonly held: HeldKeys
  /**
   * Reads what there is now: keys that were added, the version that is written with.
   * @param masterKeys those that may open it, the most likely first
   * @throws MasterKeyError when none does; then what was held before stays
   */
  reload(masterKeys: readonly string[]): Promise<void>
  /** Calls `listener` whenever keys were read anew. */
  onReload(listener: () => void): void
}

/** What a process works with. */
export interface HeldKeys extends DataKeys {
  /** Stands for the master key that opened them. */
  readonly master: string
}

type Purpose = 'digest' | 'seal'

interface Row {
  readonly purpose: Purpose
  readonly version: number
  readonly master: string
  readonly wrapped: Buffer
}

/** Announced when keys were added or taken away, or another version is to be written with. */
export const dataKeysTopic = 'data-keys'

/** The master key is not that of the database. */
export class MasterKeyError extends Error {
  /** @param changedAt when the master key of this database was changed last, as a date */
  constructor(changedAt?: string) {
    const since = changedAt === undefined ? '' : ` It was changed on ${changedAt}.`
    super(
      `The master key is not the one that this database was written with.${since} Set PARLEY_MASTER_KEY to that key, ` +
        'or restore keys.env of the data folder from its backup.',
    )
    this.name = 'MasterKeyError'
  }
}

/** Stands for a master key where it must not be seen. @param masterKey 64 hexadecimal characters */
export function masterName(masterKey: string): string {
  return derive(masterKey, 'master key name').toString('hex', 0, 8)
}

/** What stands in a row. @param about the purpose and the version, so that one is not taken for another */
export function wrap(masterKey: string, about: Pick<Row, 'purpose' | 'version'>, key: Buffer): Buffer {
  return encrypt(derive(masterKey, 'wrap'), key, `${about.purpose} ${about.version}`)
}

/** The keys that databases were written with before theirs were random. */
export function derivedKeys(masterKey: string): DataKeys {
  const seal = new Map([[firstVersion, derive(masterKey, 'seal')]])
  return { digest: derive(masterKey, 'digest'), seal, current: firstVersion }
}

function derive(masterKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', Buffer.from(masterKey, 'hex'), '', `parley ${purpose}`, 32))
}

const selectRows = statement(`
  select purpose, version, master, wrapped
  from data_keys
  order by purpose, version`)

const insertRow = statement(`
  insert into data_keys (purpose, version, master, wrapped, created_at)
  values ($1, $2, $3, $4, extract(epoch from now())::bigint)`)

/** Whoever makes or changes keys does so alone. */
const lock = statement(`select pg_advisory_xact_lock(7206951002)`)

export async function lockKeys(tx: Transaction): Promise<void> {
  await tx.query(lock)
}

export async function storeKey(
  tx: Transaction,
  masterKey: string,
  { purpose, version, key }: Pick<Row, 'purpose' | 'version'> & { readonly key: Buffer },
): Promise<void> {
  await tx.query(insertRow, [purpose, version, masterName(masterKey), wrap(masterKey, { purpose, version }, key)])
}

/** What the deployment notes about its keys. */
export type KeyNote =
  /** The version that is written with. */
  | 'seal_version'
  /** The version that everything which was sealed before is sealed under by now. */
  | 'resealed_version'
  /** The name of the newest master key. */
  | 'master_key'
  /** The day on which that was made. */
  | 'master_key_changed_at'

const selectNotes = statement(`
  select name, value
  from settings
  where name = any(array['seal_version', 'resealed_version', 'master_key', 'master_key_changed_at', 'master_key_check'])`)

const writeNote = statement(`
  insert into settings (name, value)
  values ($1, $2)
  on conflict (name) do update
  set value = excluded.value`)

export async function readKeyNotes(on: Queryable): Promise<ReadonlyMap<string, string>> {
  const rows = await on.query<{ name: string; value: string }>(selectNotes)
  return new Map(rows.map(({ name, value }) => [name, value]))
}

export async function noteKeys(on: Queryable, name: KeyNote, value: string): Promise<void> {
  await on.query(writeNote, [name, value])
}

/**
 * Opens the keys of a database; the first start makes them.
 * @param masterKeys those that may open them, the most likely first: 64 hexadecimal characters each
 * @throws MasterKeyError saying what to do, since with another key every API key and token would be unknown
 */
export async function openSecrets(database: Database, masterKeys: readonly string[]): Promise<OpenSecrets> {
  let held = (await read(database, masterKeys)) ?? (await make(database, masterKeys))
  const listeners: Array<() => void> = []
  return {
    ...createSecrets(() => held),
    get held() {
      return held
    },
    async reload(others) {
      const found = await read(database, others)
      if (found === undefined) throw new MasterKeyError()
      held = found
      for (const listener of listeners) listener()
    },
    onReload: (listener) => void listeners.push(listener),
  }
}

/** @returns undefined where there are no keys yet */
async function read(on: Queryable, masterKeys: readonly string[]): Promise<HeldKeys | undefined> {
  const rows = await on.query<Row>(selectRows)
  if (rows.length === 0) return undefined
  const notes = await readKeyNotes(on)
  for (const masterKey of masterKeys) {
    const master = masterName(masterKey)
    const own = rows.filter((row) => row.master === master)
    const unwrap = ({ purpose, version, wrapped }: Row) =>
      decrypt(derive(masterKey, 'wrap'), wrapped, `${purpose} ${version}`)
    const digest = own.find(({ purpose }) => purpose === 'digest')
    if (digest === undefined) continue
    const seal = new Map(own.filter(({ purpose }) => purpose === 'seal').map((row) => [row.version, unwrap(row)]))
    return { master, digest: unwrap(digest), seal, current: Number(notes.get('seal_version') ?? firstVersion) }
  }
  throw new MasterKeyError(notes.get('master_key_changed_at'))
}

/** Several processes may start at once: the first makes the keys, the others find them. */
function make(database: Database, masterKeys: readonly string[]): Promise<HeldKeys> {
  return database.transaction(async (tx) => {
    await lockKeys(tx)
    const found = await read(tx, masterKeys)
    if (found !== undefined) return found
    const check = (await readKeyNotes(tx)).get('master_key_check')
    const isOf = (key: string) => check === checkOf(derivedKeys(key))
    const masterKey = check === undefined ? masterKeys[0] : masterKeys.find(isOf)
    if (masterKey === undefined) throw new MasterKeyError()
    const keys = check === undefined ? randomKeys() : derivedKeys(masterKey)
    await storeKey(tx, masterKey, { purpose: 'digest', version: firstVersion, key: keys.digest })
    for (const [version, key] of keys.seal) await storeKey(tx, masterKey, { purpose: 'seal', version, key })
    await noteKeys(tx, 'master_key', masterName(masterKey))
    return { ...keys, master: masterName(masterKey) }
  })
}

/**
 * What tells of a database which master keys open it, as a backup notes it: their names, or what one from before keeps.
 * @param ask answers SQL
 * @returns undefined where nothing was ever kept under a key
 */
export async function readKeyCheck(
  ask: (text: string) => Promise<{ readonly rows: ReadonlyArray<Record<string, unknown>> }>,
): Promise<string | undefined> {
  const { rows } = await ask(`select to_regclass('data_keys') is not null as there`)
  const names = rows[0]?.there === true ? (await ask('select distinct master from data_keys')).rows : []
  if (names.length > 0) return names.map(({ master }) => master).join(' ')
  const { rows: noted } = await ask(`select value from settings where name = 'master_key_check'`)
  return noted[0]?.value as string | undefined
}

/** @param check what `readKeyCheck` has answered */
export function opensWith(check: string, masterKey: string): boolean {
  return check.split(' ').includes(masterName(masterKey)) || check === checkOf(derivedKeys(masterKey))
}

/** What a database from before keeps of its master key. */
function checkOf({ digest }: DataKeys): string {
  return createHmac('sha256', digest).update('master key check').digest('hex')
}

function randomKeys(): DataKeys {
  return { digest: randomBytes(32), seal: new Map([[firstVersion, randomBytes(32)]]), current: firstVersion }
}
