import { randomBytes } from 'node:crypto'
import {
  dataKeysTopic,
  type HeldKeys,
  type KeyNote,
  lockKeys,
  masterName,
  noteKeys,
  readKeyNotes,
  storeKey,
} from './data-keys.ts'
import type { Database, Queryable, Transaction } from './database.ts'
import type { Invalidation } from './invalidation.ts'
import { firstVersion } from './secrets.ts'
import { statement } from './statement.ts'

export interface RotationStore {
  readonly database: Database
  readonly invalidation: Pick<Invalidation, 'announce'>
  /** Writes down what is done, in the transaction in which it is. @param master the name of the new master key */
  record(tx: Transaction, step: 'begun' | 'ended' | 'taken back', master: string): Promise<void>
}

/** How far the change of the master key has come. */
export interface MasterState {
  /** The names of all that open the keys: two while one is being changed. */
  readonly masters: readonly string[]
  /** The name of the newest. */
  readonly newest: string
  /** The day on which it was made; undefined for the first. */
  readonly changedAt: string | undefined
  /** The newest version of the key that seals. */
  readonly newestSeal: number
  /** The version that is written with. */
  readonly currentSeal: number
  /** The version that everything is sealed under at least. */
  readonly resealed: number
}

const selectMasters = statement(`
  select master, max(version) filter (where purpose = 'seal') as seal
  from data_keys
  group by master
  order by min(created_at), master`)

export async function readMasterState(on: Queryable): Promise<MasterState> {
  const [rows, notes] = [await on.query<{ master: string; seal: number }>(selectMasters), await readKeyNotes(on)]
  const version = (name: KeyNote) => Number(notes.get(name) ?? firstVersion)
  return {
    masters: rows.map(({ master }) => master),
    newest: notes.get('master_key') ?? '',
    changedAt: notes.get('master_key_changed_at'),
    newestSeal: Math.max(firstVersion, ...rows.map(({ seal }) => seal)),
    currentSeal: version('seal_version'),
    resealed: version('resealed_version'),
  }
}

/** Why a step of the change cannot be done now; the text is for whoever gave the command. */
export class RotationError extends Error {}

/**
 * Lets another master key open everything, beside the present one, and adds a key to seal with from `writeWithNewest` on. What runs
 * goes on without noticing.
 * @param held opened with `masterKey`
 * @throws RotationError where a change has begun and not ended
 */
export async function addMasterKey(
  { database, invalidation, record }: RotationStore,
  held: HeldKeys,
  { masterKey, newKey }: { readonly masterKey: string; readonly newKey: string },
): Promise<void> {
  await database.transaction(async (tx) => {
    await lockKeys(tx)
    const state = await readMasterState(tx)
    if (state.masters.length > 1) {
      throw new RotationError(
        'The master key is being changed already: go on with --finish, or take it back with --abandon.',
      )
    }
    if (state.masters.includes(masterName(newKey))) throw new RotationError('This is the present master key.')
    const version = state.newestSeal + 1
    const added = { purpose: 'seal', version, key: randomBytes(32) } as const
    await storeKey(tx, masterKey, added)
    await storeKey(tx, newKey, added)
    await storeKey(tx, newKey, { purpose: 'digest', version: firstVersion, key: held.digest })
    for (const [before, key] of held.seal) await storeKey(tx, newKey, { purpose: 'seal', version: before, key })
    await noteKeys(tx, 'master_key', masterName(newKey))
    await noteKeys(tx, 'master_key_changed_at', new Date().toISOString().slice(0, 10))
    await record(tx, 'begun', masterName(newKey))
    await announce(invalidation, tx)
  })
}

/** From now on the newest key seals. Every process must have it. */
export async function writeWithNewest({ database, invalidation }: Omit<RotationStore, 'record'>): Promise<void> {
  await database.transaction(async (tx) => {
    await lockKeys(tx)
    const { newestSeal } = await readMasterState(tx)
    await noteKeys(tx, 'seal_version', String(newestSeal))
    await announce(invalidation, tx)
  })
}

const removeMaster = statement(`
  delete from data_keys
  where master = $1`)

/** Ends the master keys before the newest: nothing opens with them any more. @returns how many they were */
export function endOldMasterKeys({ database, invalidation, record }: RotationStore): Promise<number> {
  return database.transaction(async (tx) => {
    await lockKeys(tx)
    const { masters, newest } = await readMasterState(tx)
    const old = masters.filter((master) => master !== newest)
    for (const master of old) await tx.query(removeMaster, [master])
    await record(tx, 'ended', newest)
    await announce(invalidation, tx)
    return old.length
  })
}

/**
 * Takes back the newest master key.
 * @param present the name of the one that stays
 * @throws RotationError where there is nothing to take back
 */
export async function abandonNewMasterKey(
  { database, invalidation, record }: RotationStore,
  present: string,
): Promise<void> {
  await database.transaction(async (tx) => {
    await lockKeys(tx)
    const { masters, newest } = await readMasterState(tx)
    if (masters.length < 2) throw new RotationError('The master key is not being changed.')
    if (newest === present) {
      throw new RotationError(
        'The new master key is in its place already. Go on with --finish, or put the old one back first.',
      )
    }
    await tx.query(removeMaster, [newest])
    await noteKeys(tx, 'master_key', present)
    await record(tx, 'taken back', newest)
    await announce(invalidation, tx)
  })
}

function announce(invalidation: Pick<Invalidation, 'announce'>, tx: Transaction): Promise<void> {
  return invalidation.announce(tx, dataKeysTopic, '')
}
