import type { Log } from '../log.ts'
import type { AgeClock } from '../store/age-clock.ts'
import type { Database } from '../store/database.ts'
import { statement } from '../store/statement.ts'
import { pathOf } from './path.ts'
import type { MediaStorage } from './storage.ts'
import { forgetPastDays } from './usage.ts'

interface RemovedFile {
  readonly appId: number
  readonly key: string
}

/** Files that are looked for at a time, and files whose bytes are removed at the same time. */
const batchSize = 500
const atOnce = 16
const sweepIntervalMs = 60_000
/** A file that no message uses after this was given up: nobody sent it, or the process died before it did. */
export const claimSeconds = 24 * 3600

/**
 * Looked for once: where PostgreSQL expects few of them, it would look anew for each file that it may mark. What is still arriving by
 * then never will: that a message names it does not keep it.
 */
const markUnclaimed = statement(`
  with unclaimed as materialized (
    select c.app_id, c.key
    from media_files c
    where c.claim_by < $1
    and c.removed_at is null
    and not exists (select from media_uses u where u.app_id = c.app_id and u.key = c.key and not c.arriving)
    limit ${batchSize}
  )
  update media_files f
  set removed_at = $1
  from unclaimed c
  where f.app_id = c.app_id
  and f.key = c.key
  and f.claim_by < $1
  and f.removed_at is null
  returning f.key`)

/** What was given up while it arrived is left to whoever took it in for as long as they may take: they remove it at once. */
const selectRemoved = statement(`
  select removed_at as "removedAt", app_id as "appId", key
  from media_files
  where removed_at is not null
  and (removed_at, app_id, key) > ($1, $2, $3)
  and not (arriving and claim_by >= $4)
  order by removed_at, app_id, key
  limit ${batchSize}`)

/**
 * A message that was sent while the last other one was being deleted did not see that: its file is there again. If it is
 * deleted at this moment, it does not see that in turn: what nothing uses is found when the time to claim it is over.
 */
const keepUsed = statement(`
  update media_files f
  set removed_at = null, claim_by = $3
  from unnest($1::int[], $2::text[]) as r(app_id, key)
  where f.app_id = r.app_id
  and f.key = r.key
  and f.removed_at is not null
  and not f.arriving
  and exists (select from media_uses u where u.app_id = f.app_id and u.key = f.key)
  returning f.app_id as "appId", f.key`)

const forget = statement(`
  with gone as (
    delete from media_files f
    using unnest($1::int[], $2::text[]) as r(app_id, key)
    where f.app_id = r.app_id
    and f.key = r.key
    and f.removed_at is not null
    returning f.app_id, f.size
  ), freed as (
    select app_id, sum(size) as bytes
    from gone
    group by app_id
  )
  update media_usage a
  set bytes = greatest(0, a.bytes - freed.bytes)
  from freed
  where a.app_id = freed.app_id`)

interface Store {
  readonly database: Database
  readonly ageClock: AgeClock
  readonly storage: MediaStorage
  readonly log: Log
}

/** Removes files once they are not served any more, every minute until nothing is left. */
export function startSweeping({ database, ageClock, storage, log }: Store) {
  let sweeping: Promise<void> | undefined
  let stopped = false
  const sweep = () => {
    sweeping ??= sweepAll({ database, ageClock, storage, log }, () => stopped).finally(() => {
      sweeping = undefined
    })
    return sweeping
  }
  const timer = setInterval(() => {
    sweep().catch((err: unknown) => log.warn({ err }, 'files that are not used any more could not be removed'))
  }, sweepIntervalMs)
  timer.unref()
  return {
    sweep,
    stop() {
      stopped = true
      clearInterval(timer)
    },
  }
}

async function sweepAll({ database, ageClock, storage, log }: Store, isStopped: () => boolean): Promise<void> {
  const nowMs = await ageClock.now()
  const now = Math.floor(nowMs / 1000)
  while (!isStopped() && (await database.query(markUnclaimed, [now])).length > 0);

  // Onward from file to file: one that cannot be removed does not hold up those behind it.
  let after = { removedAt: 0, appId: 0, key: '' }
  while (!isStopped()) {
    const batch = await database.query<typeof after>(selectRemoved, [after.removedAt, after.appId, after.key, now])
    const last = batch.at(-1)
    if (last === undefined) break
    await removeUnusedFiles(database, storage, log, batch)
    after = last
  }
  if (isStopped()) return
  await forgetPastDays(database, nowMs)
  await storage.tidy(nowMs)
}

/** As `removeFiles`, but what a message uses after all is kept, and served again. */
export async function removeUnusedFiles(
  database: Database,
  storage: MediaStorage,
  log: Log,
  files: readonly RemovedFile[],
): Promise<void> {
  if (files.length === 0) return
  const named = [
    files.map(({ appId }) => appId),
    files.map(({ key }) => key),
    Math.floor(Date.now() / 1000) + claimSeconds,
  ]
  const used = new Set((await database.query<RemovedFile>(keepUsed, named)).map(nameOf))
  const unused = used.size === 0 ? files : files.filter((file) => !used.has(nameOf(file)))
  await removeFiles(database, storage, log, unused)
}

function nameOf({ appId, key }: RemovedFile): string {
  return `${appId} ${key}`
}

/**
 * Removes the bytes of files that are marked as removed, then forgets them. Those that fail are left for the next sweep.
 * @returns how many are gone
 */
export async function removeFiles(
  database: Database,
  storage: MediaStorage,
  log: Log,
  files: readonly RemovedFile[],
): Promise<number> {
  const gone: RemovedFile[] = []
  const waiting = [...files]
  const work = async () => {
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      try {
        await storage.remove(pathOf(file.appId, file.key))
        gone.push(file)
      } catch (err) {
        log.warn({ err }, 'a file could not be removed')
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  if (gone.length > 0) await database.query(forget, [gone.map(({ appId }) => appId), gone.map(({ key }) => key)])
  return gone.length
}
