import type { ApiError, AppSettings, ErrorBody, listFriends, QueryOf } from '@parley/contract'
import { hasReached } from '@parley/contract'
import { sql } from 'kysely'
import { systemUid } from '../../chat/apps.ts'
import { startConversations } from '../../chat/conversations/membership.ts'
import { everywhere, hasText } from '../../chat/name-search.ts'
import { unknownUser } from '../../chat/users/require.ts'
import { type UserRow, userColumns } from '../../chat/users/rows.ts'
import { type PageRequest, totalOf } from '../../paging.ts'
import { appKey } from '../../store/app-key.ts'
import type { Database, Queryable, Transaction } from '../../store/database.ts'
import { allOf, type Fragment, statement } from '../../store/statement.ts'
import * as errors from './errors.ts'

type Outcome = { success: boolean; message?: string } & Partial<ErrorBody>

/** In the order of their uids, so that two who befriend each other at the same time do not wait for one another. */
const lockUsers = statement(`
  select u.uid, u.deactivated_at is null as active
  from users u
  where u.app_id = $1
  and u.uid = any($2::text[])
  order by u.uid
  for no key update`)

const selectCounts = statement(`
  select uid, count(*) as count
  from friends
  where app_id = $1
  and uid = any($2::text[])
  group by uid`)

const selectFriends = statement(`
  select friend
  from friends
  where app_id = $1
  and uid = $2`)

const insert = statement(`
  insert into friends (app_id, uid, friend, created_at)
  select $1::int, $2::text, f.uid, $4::bigint
  from unnest($3::text[]) as f(uid)
  union all
  select $1::int, f.uid, $2::text, $4::bigint
  from unnest($3::text[]) as f(uid)
  on conflict do nothing`)

/**
 * Makes users friends of another, both ways; one that fails does not stop the others.
 * @throws 404 `ERR_UID_NOT_FOUND` for the one whose friends they become
 */
export async function addFriends(
  database: Database,
  appId: number,
  uid: string,
  accepted: readonly string[],
  addToConversations: boolean,
  { maxFriends }: Pick<AppSettings, 'maxFriends'>,
): Promise<Record<string, Outcome>> {
  const wanted = [...new Set(accepted.map((other) => other.toLowerCase()))]
  const now = Math.floor(Date.now() / 1000)
  return database.transaction(async (tx) => {
    const known = await lockActive(tx, appId, [uid, ...wanted])
    if (!known.has(uid) || uid === systemUid) throw unknownUser(uid)
    const friends = await tx.query<{ friend: string }>(selectFriends, [appId, uid])
    const existing = new Set(friends.map(({ friend }) => friend))
    const counts = await tx.query<{ uid: string; count: number }>(selectCounts, [appId, wanted])
    const countOf = new Map(counts.map((row) => [row.uid, row.count]))

    const added: string[] = []
    const outcomes = wanted.map((other): [string, Outcome] => {
      const refusal = refuseFriend(
        uid,
        other,
        known,
        existing,
        {
          mine: existing.size + added.length,
          theirs: countOf.get(other) ?? 0,
        },
        maxFriends,
      )
      if (refusal !== undefined) return [other, { success: false, ...refusal.toBody() }]
      added.push(other)
      return [other, { success: true, message: `${uid} and ${other} are now friends (accepted).` }]
    })
    await tx.query(insert, [appId, uid, added, now])
    if (addToConversations) await startConversations(tx, appId, uid, added, now)
    return Object.fromEntries(outcomes)
  })
}

async function lockActive(tx: Transaction, appId: number, uids: readonly string[]): Promise<Set<string>> {
  const rows = await tx.query<{ uid: string; active: boolean }>(lockUsers, [appId, uids])
  return new Set(rows.filter(({ active }) => active).map((row) => row.uid))
}

function refuseFriend(
  uid: string,
  other: string,
  known: ReadonlySet<string>,
  existing: ReadonlySet<string>,
  count: { mine: number; theirs: number },
  most: number,
): ApiError | undefined {
  if (other === uid) return errors.noSelfFriend(uid)
  if (!known.has(other) || other === systemUid) return unknownUser(other)
  if (existing.has(other)) return errors.alreadyFriends(uid, other)
  const full = hasReached(most, count.mine) ? uid : hasReached(most, count.theirs) ? other : undefined
  return full === undefined ? undefined : errors.tooManyFriends(full, most)
}

const remove = statement(`
  delete from friends
  where app_id = $1
  and ((uid = $2 and friend = any($3::text[])) or (friend = $2 and uid = any($3::text[])))
  returning uid`)

/**
 * Ends friendships, both ways. Some of those named may be no friends, but not all.
 * @throws 400 `ERR_NOT_A_FRIEND`
 */
export async function removeFriends(
  database: Database,
  appId: number,
  uid: string,
  friends: readonly string[],
): Promise<void> {
  if (friends.length === 0) return
  const ended = await database.query(remove, [appId, uid, friends.map((friend) => friend.toLowerCase())])
  if (ended.length > 0) return
  throw errors.notFriends(uid, friends)
}

/**
 * A page of a user's friends, by name, and how many there are; deactivated ones are not listed. The offset keeps it a look
 * by key for each; the planner would rather read the users of the app.
 */
export async function selectFriendsOf(
  on: Queryable,
  appId: number,
  uid: string,
  { searchKey }: QueryOf<typeof listFriends>,
  page: PageRequest,
): Promise<{ users: UserRow[]; total: number }> {
  const conditions: Fragment[] = [sql`f.app_id = ${appKey(appId)}`, sql`f.uid = ${uid}`, sql`u.deactivated_at is null`]
  if (searchKey !== undefined) {
    conditions.push(hasText({ key: searchKey, ...everywhere }, { name: sql`u.name_key`, id: sql`u.uid` }))
  }
  const matching = sql`
    from friends f
    cross join lateral (
      select *
      from users u
      where u.app_id = f.app_id
      and u.uid = f.friend
      offset 0
    ) u
    where ${allOf(conditions)}`
  const rows = await on.run<UserRow & { total: number }>(
    sql`
    select ${sql.raw(userColumns)}, count(*) over () as total
    ${matching}
    order by u.name_key, u.uid
    limit ${page.perPage} offset ${page.offset}` as Fragment<UserRow & { total: number }>,
  )
  return { users: rows, total: await totalOf(on, rows, page, matching) }
}
