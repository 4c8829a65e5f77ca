import { createCache } from '../../cache.ts'
import type { Database } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { dayMs, type SharedClock } from './clock.ts'

/** Who was active on which day. Each user costs one write a day and process. */
export interface ActiveUsers {
  note(appId: number, uid: string): void
  write(database: Database): Promise<void>
}

interface Activity {
  readonly uid: string
  readonly day: number
}

/** Users that are remembered as written down; a further one only costs a write that changes nothing. */
const remembered = 100_000
const atOnce = 2_000
/** Users in a row of bits. */
const usersInChunk = 8192

/** Numbers are drawn under this lock, one transaction of an app at a time. */
const lockApp = statement(`
  insert into usage_apps as a (app_id)
  values ($1)
  on conflict (app_id) do update
  set numbered = a.numbered
  returning app_id`)

/** Whoever has no number yet gets the next one, unless they were removed meanwhile. */
const numberUsers = statement(`
  with newcomers as materialized (
    select u.uid
    from users u
    where u.app_id = $1
    and u.uid = any($2::text[])
    and not exists (
      select
      from usage_users n
      where n.app_id = $1
      and n.uid = u.uid
    )
    order by u.uid
    for key share of u
  ),
  drawn as (
    update usage_apps
    set numbered = numbered + (select count(*) from newcomers)
    where app_id = $1
    returning numbered - (select count(*) from newcomers) as first
  )
  insert into usage_users (app_id, uid, number)
  select $1, s.uid, d.first + row_number() over (order by s.uid) - 1
  from newcomers s
  cross join drawn d`)

const noteDays = statement(`
  with noted as (
    insert into active_users (app_id, day, number)
    select distinct $1::int, a.day, n.number
    from unnest($2::text[], $3::int[]) as a(uid, day)
    join usage_users n on n.app_id = $1 and n.uid = a.uid
    order by a.day, n.number
    on conflict do nothing
    returning day, number
  )
  insert into active_user_bits as b (app_id, day, chunk, bits)
  select $1::int, day, number / ${usersInChunk}, bit_or(set_bit(0::bit(${usersInChunk}), number % ${usersInChunk}, 1))
  from noted
  group by day, number / ${usersInChunk}
  order by day, number / ${usersInChunk}
  on conflict (app_id, day, chunk) do update
  set bits = b.bits | excluded.bits`)

export function createActiveUsers(clock: SharedClock): ActiveUsers {
  const lastDays = createCache<string, number>({ max: remembered })
  const waiting = new Map<number, Activity[]>()

  const writeSome = (database: Database, appId: number, activities: readonly Activity[]) =>
    database.transaction(async (tx) => {
      const uids = activities.map(({ uid }) => uid)
      await tx.query(lockApp, [appId])
      await tx.query(numberUsers, [appId, uids])
      await tx.query(noteDays, [appId, uids, activities.map(({ day }) => day)])
    })

  return {
    note(appId, uid) {
      const key = `${appId} ${uid}`
      const day = Math.floor(clock.now() / dayMs)
      if (lastDays.get(key) === day) return
      lastDays.set(key, day)
      const ofApp = waiting.get(appId)
      if (ofApp === undefined) waiting.set(appId, [{ uid, day }])
      else ofApp.push({ uid, day })
    },
    async write(database) {
      for (const [appId, activities] of waiting) {
        while (activities.length > 0) {
          const some = activities.slice(0, atOnce)
          await writeSome(database, appId, some)
          activities.splice(0, some.length)
        }
        waiting.delete(appId)
      }
    },
  }
}
