import { readOptionalTime } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import { createGroupConversations } from '../../chat/conversations/membership.ts'
import { digestGroupPassword, readPasswordHash } from '../../chat/groups/password.ts'
import { nameKey } from '../../chat/users/rows.ts'
import { textArray } from '../../store/arrays.ts'
import type { Transaction } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'
import type { Enrolment } from './memberships.ts'
import type { NewGroup } from './roster.ts'

const insert = statement(`
  insert into groups (
    app_id, guid, name, name_key, type, password_digest, icon, description, owner, metadata, tags, conversation, created_at,
    updated_at
  )
  select $1, r.guid, r.name, r.name_key, r.type, r.password_digest, r.icon, r.description, r.owner, r.metadata::json, r.tags::text[],
    0, coalesce(r.created_at, $2), case when r.created_at < $2 then $2 end
  from unnest(
    $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::text[], $9::text[], $10::text[], $11::text[],
    $12::text[], $13::bigint[]
  ) as r(guid, name, name_key, type, password_digest, icon, description, owner, metadata, tags, created_at)
  order by r.guid collate "C"
  on conflict (app_id, guid) do nothing
  returning guid, owner, created_at as "createdAt"`)

const setConversations = statement(`
  update groups g
  set conversation = made.conversation
  from unnest($2::text[], $3::bigint[]) as made(guid, conversation)
  where g.app_id = $1
  and g.guid = made.guid`)

/**
 * Makes groups with their conversations, in the order of their guids, so that two imports cannot hold each other up.
 * Their `updatedAt` is the time of the import, so that who syncs by it hears of them.
 * @returns the guids of those made (not of those that were there already), and their owners as first members, who are
 * still to be enrolled
 */
export async function makeGroups(
  tx: Transaction,
  secrets: Secrets,
  appId: number,
  groups: readonly NewGroup[],
  now: number,
): Promise<{ made: string[]; founders: Enrolment[] }> {
  if (groups.length === 0) return { made: [], founders: [] }
  const details = groups.map((group) => group.details)
  const rows = await tx.query<{ guid: string; owner: string; createdAt: number }>(insert, [
    appId,
    now,
    details.map(({ guid }) => guid.toLowerCase()),
    details.map(({ name }) => name),
    details.map(({ name }) => nameKey(name)),
    details.map(({ type }) => type),
    details.map(({ guid, type, password, passwordHash }) => {
      if (type !== 'password') return null
      if (password === undefined && passwordHash !== undefined) return readPasswordHash(passwordHash)
      return digestGroupPassword(secrets, appId, guid.toLowerCase(), password ?? '')
    }),
    details.map(({ icon }) => icon ?? null),
    details.map(({ description }) => description ?? null),
    groups.map(({ owner }) => owner),
    details.map(({ metadata }) => (metadata === undefined ? null : JSON.stringify(metadata))),
    details.map(({ tags = [] }) => textArray([...new Set(tags)])),
    details.map(({ createdAt }) => readOptionalTime(createdAt)),
  ])
  const conversations = await createGroupConversations(tx, appId, rows)
  await tx.query(setConversations, [appId, [...conversations.keys()], [...conversations.values()]])

  const founders = rows.filter(({ owner }) => owner !== systemUid)
  return {
    made: rows.map(({ guid }) => guid),
    founders: founders.map(({ guid, owner, createdAt }) => ({
      guid,
      conversation: conversations.get(guid) as number,
      uid: owner,
      scope: 'admin',
      joinedAt: createdAt,
      explicit: false,
    })),
  }
}
