import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { isLeaseOver, nowMs } from './clock.ts'
import { isConnectionFailure } from './connection.ts'
import { noteKeys, type OpenSecrets, readKeyNotes } from './data-keys.ts'
import type { Database } from './database.ts'
import { firstVersion, versionOf } from './secrets.ts'
import { statement } from './statement.ts'

/** A column with sealed values. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
}

/** Seals what was sealed before under the version that is written with now, as one of however many processes there are. */
export interface Resealing {
  /** Lets the step under way end. */
  stop(): Promise<void>
}

interface ResealingOptions {
  readonly database: Database
  readonly secrets: OpenSecrets
  readonly log: Log
  readonly columns: readonly SealedColumn[]
}

const lookEveryMs = 30_000
const leaseMs = 20_000
/** Pages of a table that are looked at in one step. */
const pagesAtOnce = 64
const mostPages = 2 ** 31

/** In one row for all processes: who does it, and until when nobody else does. */
const claim = statement(`
  insert into settings (name, value)
  values ('resealing', $1 || ' ' || (${nowMs} + ${leaseMs}))
  on conflict (name) do update
  set value = excluded.value
  where split_part(settings.value, ' ', 1) = $1
  or ${isLeaseOver(`split_part(settings.value, ' ', 2)::bigint`, leaseMs)}
  returning name`)

const letGo = statement(`
  delete from settings
  where name = 'resealing'
  and split_part(value, ' ', 1) = $1`)

export function startResealing(options: ResealingOptions): Resealing {
  const stopping = new AbortController()
  const run = async () => {
    while (!stopping.signal.aborted) {
      // Not all processes at once.
      const wait = lookEveryMs * (0.5 + Math.random())
      await delay(wait, undefined, { ref: false, signal: stopping.signal }).catch(() => {})
      if (stopping.signal.aborted) return
      try {
        await reseal(options, stopping.signal)
      } catch (err) {
        if (!isConnectionFailure(err)) options.log.error({ err }, 'could not reseal secrets with the new key')
      }
    }
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/**
 * Goes through all columns, as often as it finds something, with a rest as long as each step took.
 * @returns how many values were sealed anew; undefined where there is nothing to do, or another process does it
 */
export async function reseal(
  { database, secrets, log, columns }: ResealingOptions,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const id = randomUUID()
  const notes = await readKeyNotes(database)
  const { current } = secrets.held
  if (Number(notes.get('resealed_version') ?? firstVersion) >= current) return undefined
  const isOurs = async () => signal?.aborted !== true && (await database.query(claim, [id])).length > 0
  let all = 0
  try {
    for (;;) {
      let found = 0
      for (const column of columns) {
        const changed = await passThrough({ database, secrets }, column, isOurs)
        if (changed === undefined) return undefined
        found += changed
      }
      all += found
      if (found === 0) break
    }
    await noteKeys(database, 'resealed_version', String(current))
    log.info({ version: current, values: all }, 'all secrets are sealed under the current key')
    return all
  } finally {
    await database.query(letGo, [id]).catch(() => {})
  }
}

/** @returns undefined where it has to stop */
async function passThrough(
  { database, secrets }: Pick<ResealingOptions, 'database' | 'secrets'>,
  { table, column }: SealedColumn,
  isOurs: () => Promise<boolean>,
): Promise<number | undefined> {
  const select = statement(`
    select ctid::text as place, ${column} as sealed
    from ${table}
    where ctid >= $1::tid
    and ctid < $2::tid
    and ${column} is not null`)
  // A row that was changed meanwhile is elsewhere by now: the next pass finds it.
  const update = statement(`
    update ${table} t
    set ${column} = v.resealed
    from unnest($1::tid[], $2::bytea[], $3::bytea[]) v(place, sealed, resealed)
    where t.ctid = any($1::tid[])
    and t.ctid = v.place
    and t.${column} = v.sealed`)
  const [{ pages } = { pages: 0 }] = await database.query<{ pages: number }>(
    statement(`
      select (pg_relation_size('${table}') / current_setting('block_size')::int)::int as pages`),
  )
  let changed = 0
  for (let page = 0; page < pages; page += pagesAtOnce) {
    if (!(await isOurs())) return undefined
    const began = performance.now()
    const { current, seal } = secrets.held
    const end = Math.min(page + pagesAtOnce, mostPages)
    const rows = await database.query<{ place: string; sealed: Buffer }>(select, [`(${page},0)`, `(${end},0)`])
    const old = rows.filter(({ sealed }) => versionOf(sealed, seal) !== current)
    if (old.length > 0) {
      const resealed = old.map(({ sealed }) => secrets.seal(secrets.unseal(sealed)))
      await database.query(update, [old.map(({ place }) => place), old.map(({ sealed }) => sealed), resealed])
      changed += old.length
    }
    await delay(performance.now() - began)
  }
  return changed
}

/** How many values are sealed under something else than the present version. */
export async function countOld(
  database: Database,
  columns: readonly SealedColumn[],
  secrets: OpenSecrets,
): Promise<number> {
  const { current } = secrets.held
  const head = current === firstVersion ? undefined : secrets.seal('').subarray(0, 5)
  if (head === undefined) return 0
  let count = 0
  for (const { table, column } of columns) {
    const [row] = await database.query<{ count: number }>(
      statement(`
        select count(*)::int as count
        from ${table}
        where substring(${column} from 1 for 5) <> $1`),
      [head],
    )
    count += row?.count ?? 0
  }
  return count
}
