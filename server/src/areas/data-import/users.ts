import { type ImportUser, readOptionalTime, type User } from '@parley/contract'
import { keepFormersApart } from '../../chat/users/former.ts'
import { userExists } from '../../chat/users/require.ts'
import { nameKey, readUsers, showUser, type UserRow, userColumns } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import { textArray } from '../../store/arrays.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { type Outcome, refuse, stored } from './outcomes.ts'
import { type Links, readRoster } from './roster.ts'

/** Imports users. Their `updatedAt` is the time of the import, so that clients that sync by it get them. */
export function storeUsers(
  context: Context,
  appId: number,
  records: readonly ImportUser[],
  now: number,
): Promise<Array<Outcome<User>>> {
  return context.database.transaction(async (tx) => {
    const roster = await readRoster(context, tx, appId, records.map(linksOf))
    const verdicts = records.map((user) => {
      const uid = user.uid.toLowerCase()
      if (roster.hasUser(uid)) return { uid, refusal: alreadyThere(uid) }
      return { uid, refusal: roster.admit(linksOf(user)) }
    })
    const made = await insertUsers(context, tx, appId, roster.newUsers, now)
    return verdicts.map(({ uid, refusal }) => {
      if (refusal !== undefined) return refusal
      const row = made.get(uid)
      return row === undefined ? alreadyThere(uid) : stored(showUser(row, 'app'))
    })
  })
}

const linksOf = (user: ImportUser): Links => ({ users: [user], recreate: user.recreate })

function alreadyThere(uid: string) {
  return refuse(userExists(uid))
}

const insert = statement(`
  insert into users as u (
    app_id, uid, name, name_key, avatar, link, role, status_message, metadata, tags, created_at, updated_at,
    last_active_at, deactivated_at
  )
  select $1, r.uid, r.name, r.name_key, r.avatar, r.link, r.role, r.status_message, r.metadata::json, r.tags::text[],
    coalesce(r.created_at, $2), case when r.created_at < $2 then $2 end, r.last_active_at, r.deactivated_at
  from unnest(
    $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
    $12::bigint[], $13::bigint[], $14::bigint[]
  ) as r(uid, name, name_key, avatar, link, role, status_message, metadata, tags, created_at, last_active_at, deactivated_at)
  order by r.uid collate "C"
  on conflict (app_id, uid) do nothing
  returning ${userColumns}`)

/**
 * Makes users, in the order of their uids, so that two imports cannot hold each other up.
 * @returns those made, by uid; who was there already is missing
 */
async function insertUsers(
  context: Pick<Context, 'tables' | 'events'>,
  tx: Transaction,
  appId: number,
  users: readonly ImportUser[],
  now: number,
): Promise<Map<string, UserRow>> {
  if (users.length === 0) return new Map()
  const rows = await tx.query<UserRow>(insert, [
    appId,
    now,
    users.map(({ uid }) => uid.toLowerCase()),
    users.map(({ name }) => name),
    users.map(({ name }) => nameKey(name)),
    users.map(({ avatar }) => avatar ?? null),
    users.map(({ link }) => link ?? null),
    users.map(({ role }) => role?.toLowerCase() ?? 'default'),
    users.map(({ statusMessage }) => statusMessage || null),
    users.map(({ metadata }) => (metadata === undefined ? null : JSON.stringify(metadata))),
    users.map(({ tags = [] }) => textArray([...new Set(tags)])),
    users.map(({ createdAt }) => readOptionalTime(createdAt)),
    users.map(({ lastActiveAt }) => readOptionalTime(lastActiveAt)),
    users.map(({ deactivatedAt }) => readOptionalTime(deactivatedAt)),
  ])
  const made = new Map(rows.map((row) => [row.uid, row]))
  await keepFormersApart(context, tx, appId, [...made.keys()])
  return made
}

/** Makes users whom other records bring along. @returns them as they are now, whoever made them, by uid */
export async function makeUsers(
  context: Pick<Context, 'tables' | 'events'>,
  tx: Transaction,
  appId: number,
  users: readonly ImportUser[],
  now: number,
): Promise<Map<string, UserRow>> {
  const made = await insertUsers(context, tx, appId, users, now)
  const others = users.map(({ uid }) => uid.toLowerCase()).filter((uid) => !made.has(uid))
  return new Map([...made, ...(await readUsers(tx, appId, others))])
}
