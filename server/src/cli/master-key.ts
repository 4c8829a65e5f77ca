import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { deployment } from '../chat/audit/audit.ts'
import { changeKeysFile, copyKeysFile, keysFileOf, masterKeySource } from '../keys-file.ts'
import { dataKeysTopic, masterName } from '../store/data-keys.ts'
import { type KeyHolder, readHolders } from '../store/key-watch.ts'
import {
  abandonNewMasterKey,
  addMasterKey,
  endOldMasterKeys,
  type MasterState,
  RotationError,
  type RotationStore,
  readMasterState,
  writeWithNewest,
} from '../store/master-rotation.ts'
import type { CommandStore } from './store.ts'

type Store = CommandStore & Pick<RotationStore, 'record'>

interface Wanted {
  readonly keyFile?: string | undefined
  readonly finish?: boolean | undefined
  readonly abandon?: boolean | undefined
  readonly force?: boolean | undefined
}

/** Processes look for other keys every few seconds, and at once when they are told. */
const patienceMs = 30_000

/** Runs `parley keys rotate master`. @returns the exit code */
export async function rotateMaster(opened: CommandStore, wanted: Wanted): Promise<number> {
  const record: Store['record'] = (tx, step, target) =>
    opened.audit.record(tx, deployment, { action: 'master_key_changed', type: 'master_key', target, details: { step } })
  const store = { ...opened, record }
  if (wanted.finish === true) return finish(store, wanted.force === true)
  if (wanted.abandon === true) {
    await abandonNewMasterKey(store, masterName(store.masterKey))
    say('The new master key was taken back. It opens nothing.')
    return 0
  }
  return begin(store, wanted.keyFile)
}

async function begin(store: Store, keyFile: string | undefined): Promise<number> {
  const { config, database, secrets, dataDir, masterKey } = store
  const file = keysFileOf(dataDir)
  const source = masterKeySource(process.env, file)
  if (!source.isInFile && keyFile === undefined) {
    throw new RotationError(`The master key comes from ${source.name}: name a file for the new one, by --key-file.`)
  }
  const newKey = keyFile === undefined ? randomBytes(32).toString('hex') : await readOrMake(keyFile)
  await addMasterKey(store, secrets.held, { masterKey, newKey })
  if (source.isInFile) {
    const kept = await copyKeysFile(file, masterName(masterKey))
    await changeKeysFile(file, { PARLEY_MASTER_KEY: newKey })
    // Those that wait for the file look again.
    await store.invalidation.announce(database, dataKeysTopic, '')
    say(
      `${file} has the new master key. The old one is in ${kept}: backups from before need it. Put it where they are not.`,
    )
  } else {
    say(`The new master key is in ${keyFile}. Put it where ${source.name} is set, for every process.`)
  }
  const state = await readMasterState(database)
  const late = await waitForAll(store, ({ newest }) => newest >= state.newestSeal)
  if (late.length > 0) return reportLate(late, 'have not heard of the new keys')
  await writeWithNewest(store)
  if (!source.isInFile || config.databaseUrl !== undefined) {
    say(
      'The old master key opens everything, too. When every process has the new one, end it: parley keys rotate master --finish',
    )
    return 0
  }
  // The embedded database has no processes but those of this data folder.
  return finish(store, false, masterName(newKey))
}

/** The key in a file, which is made where there is none. */
async function readOrMake(file: string): Promise<string> {
  const made = randomBytes(32).toString('hex')
  try {
    await writeFile(file, `${made}\n`, { mode: 0o600, flag: 'wx' })
    return made
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const text = (await readFile(file, 'utf8')).trim()
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new RotationError(`${file} must hold 64 hexadecimal characters.`)
  return text.toLowerCase()
}

async function finish(store: Store, isForced: boolean, present = masterName(store.masterKey)): Promise<number> {
  const { database } = store
  const state = await readMasterState(database)
  if (state.masters.length < 2) throw new RotationError('The master key is not being changed.')
  if (state.newest !== present) {
    throw new RotationError('The master key that is set here is the old one. Put the new one in its place first.')
  }
  const late = await waitForAll(store, (holder) => isUpToDate(holder, state), isForced ? 0 : patienceMs)
  if (late.length > 0 && !isForced) return reportLate(late, 'would start again with the old one')
  if (state.currentSeal < state.newestSeal) await writeWithNewest(store)
  await endOldMasterKeys(store)
  say(
    'The old master key opens nothing any more. What was sealed before is sealed anew while the service runs: parley keys status',
  )
  return 0
}

function isUpToDate({ master, newest }: KeyHolder, state: MasterState): boolean {
  return master === state.newest && newest >= state.newestSeal
}

/** @returns the processes that did not come to be so in time */
async function waitForAll(
  { database }: CommandStore,
  isSo: (holder: KeyHolder) => boolean,
  forMs = patienceMs,
): Promise<KeyHolder[]> {
  const end = performance.now() + forMs
  for (;;) {
    const late = (await readHolders(database)).filter((holder) => !isSo(holder))
    if (late.length === 0 || performance.now() > end) return late
    await delay(200)
  }
}

function reportLate(late: readonly KeyHolder[], what: string): number {
  for (const { machine, pid, source } of late) {
    process.stderr.write(`parley keys: process ${pid} on ${machine} (master key from ${source}) ${what}\n`)
  }
  process.stderr.write(
    'parley keys: the old master key goes on opening everything. When they have the new one: parley keys rotate master --finish\n',
  )
  return 1
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
