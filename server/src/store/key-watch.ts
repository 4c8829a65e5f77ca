import { randomUUID } from 'node:crypto'
import os from 'node:os'
import type { Log } from '../log.ts'
import { isTooFar, nowMs } from './clock.ts'
import { isConnectionFailure } from './connection.ts'
import { dataKeysTopic, MasterKeyError, masterName, type OpenSecrets } from './data-keys.ts'
import type { Database, Queryable } from './database.ts'
import type { Invalidation } from './invalidation.ts'
import { statement } from './statement.ts'

/** Where a process has its master key from. */
export interface MasterKeySource {
  /** A variable, or a file. */
  readonly name: string
  /** The key that stands there now; undefined where there is none that is valid. */
  read(): Promise<string | undefined>
}

export interface KeyWatch {
  start(): Promise<void>
  stop(): Promise<void>
}

export interface KeyWatchOptions {
  readonly database: Database
  readonly secrets: OpenSecrets
  readonly invalidation: Invalidation
  readonly log: Log
  /** The one that the process was started with. */
  readonly masterKey: string
  readonly source: MasterKeySource
}

/** Files are looked into this often, in case the master key was changed there. */
const lookEveryMs = 5_000
/** A process of which nothing was seen for so long is gone. */
const goneAfterMs = 20_000

const note = statement(`
  insert into key_holders (id, machine, pid, source, master, newest, seen_at)
  values ($1, $2, $3, $4, $5, $6, ${nowMs})
  on conflict (id) do update
  set source = excluded.source,
    master = excluded.master,
    newest = excluded.newest,
    seen_at = excluded.seen_at`)

const forget = statement(`
  delete from key_holders
  where id = $1
  or seen_at < ${nowMs} - ${goneAfterMs * 3}
  or ${isTooFar('seen_at', 0)}`)

/** Follows changes of the keys while the process runs, and says which ones it has, so that no key is ended that somebody needs. */
export function watchKeys({ database, secrets, invalidation, log, masterKey, source }: KeyWatchOptions): KeyWatch {
  const id = randomUUID()
  let known = masterKey
  let isLost = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isAskedAgain = false
  let isStopped = false

  /** @returns whether the process would start with it */
  const takeUp = async (present: string): Promise<boolean> => {
    try {
      await secrets.reload([present, known])
    } catch (error) {
      if (error instanceof MasterKeyError) return false
      throw error
    }
    if (secrets.held.master !== masterName(present)) return false
    if (present !== known) log.info({ source: source.name }, 'now using the new master key')
    known = present
    return true
  }
  const look = async () => {
    // Where it cannot be read for a moment, the process stays listed with the key that it has, so that this is not ended under it.
    const present =
      (await source.read().catch((err) => {
        log.warn({ err, source: source.name }, `${source.name} could not be read`)
        return undefined
      })) ?? known
    const opens = await takeUp(present)
    if (!opens && !isLost) {
      log.error(
        { source: source.name },
        `${source.name} has a master key that does not open the database: the service goes on, but cannot start again`,
      )
    }
    isLost = !opens
    const newest = Math.max(...secrets.held.seal.keys())
    await database.query(note, [id, os.hostname(), process.pid, source.name, masterName(present), newest])
  }
  const follow = (): Promise<void> => {
    isAskedAgain = running !== undefined
    running ??= (async () => {
      do {
        isAskedAgain = false
        try {
          await look()
        } catch (err) {
          // It is tried again soon.
          if (!isConnectionFailure(err)) log.warn({ err }, 'could not check for new keys')
        }
      } while (isAskedAgain && !isStopped)
      running = undefined
    })()
    return running
  }
  invalidation.onChange(dataKeysTopic, () => {
    if (!isStopped) void follow()
  })

  return {
    async start() {
      await follow()
      timer = setInterval(() => void follow(), lookEveryMs).unref()
    },
    async stop() {
      isStopped = true
      clearInterval(timer)
      await running
      await database.query(forget, [id]).catch(() => {})
    },
  }
}

/** A process that runs. */
export interface KeyHolder {
  readonly machine: string
  readonly pid: number
  readonly source: string
  /** Stands for the master key that it would start with again. */
  readonly master: string
  /** The newest version that it can unseal. */
  readonly newest: number
}

const selectHolders = statement(`
  select machine, pid, source, master, newest
  from key_holders
  where seen_at >= ${nowMs} - ${goneAfterMs}
  and not (${isTooFar('seen_at', 0)})
  order by machine, pid`)

export function readHolders(on: Queryable): Promise<KeyHolder[]> {
  return on.query<KeyHolder>(selectHolders)
}
