import type { ImportedMember, ImportMember } from '@parley/contract'
import { lockGroups } from '../../chat/groups/access.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { forgetErasedHands, handOf } from './hands.ts'
import { makeGroups } from './make-groups.ts'
import { type Enrolment, enrol, holdUsers } from './memberships.ts'
import type { Failure, Outcome } from './outcomes.ts'
import { type MemberPlan, planMembers, type Standing } from './plan-members.ts'
import { type Links, ownerOf, type Roster, readRoster } from './roster.ts'
import { makeUsers } from './users.ts'

type Outcomes = Array<Outcome<ImportedMember>>

/** Imports memberships and bans. They leave no action messages. */
export async function storeMembers(
  context: Context,
  appId: number,
  records: readonly ImportMember[],
  now: number,
): Promise<Outcomes> {
  const refused = new Map<number, Failure>()
  for (;;) {
    try {
      return await context.database.transaction((tx) => storeAll(context, tx, appId, records, refused, now))
    } catch (error) {
      if (!(error instanceof BroughtForNothing)) throw error
      for (const [place, failure] of error.refused) refused.set(place, failure)
    }
  }
}

/** Undoes an import: refused records brought along users or groups. Without them it is tried again. */
class BroughtForNothing extends Error {
  readonly refused: ReadonlyMap<number, Failure>

  constructor(refused: ReadonlyMap<number, Failure>) {
    super('refused records brought users or groups along')
    this.refused = refused
  }
}

async function storeAll(
  context: Context,
  tx: Transaction,
  appId: number,
  records: readonly ImportMember[],
  refused: ReadonlyMap<number, Failure>,
  now: number,
): Promise<Outcomes> {
  const roster = await readRoster(context, tx, appId, records.map(linksOf))
  const refusals = records.map((record, place) => refused.get(place) ?? roster.admit(linksOf(record)))
  const admitted = records.map((record, place) => (refusals[place] === undefined ? record : undefined))
  await makeUsers(context, tx, appId, roster.newUsers, now)
  const pairs = admitted.flatMap((record) => record ?? []).map(pairOf)
  const owners = roster.newGroups.map(({ owner }) => owner)
  const hands = admitted.flatMap((record) => (record?.isBanned === true ? handOf(record.bannedBy) : []))
  const users = await holdUsers(tx, appId, [...pairs.map(({ uid }) => uid), ...owners, ...hands])
  const asStored = await forgetErasedHands(tx, context.secrets, appId, hands, users)
  const { founders } = await makeGroups(tx, context.secrets, appId, roster.newGroups, now)
  const groups = await lockGroups(
    tx,
    appId,
    [...pairs, ...founders].map(({ guid }) => guid),
  )
  await enrol(tx, appId, founders, users, now)
  const standings = await readStandings(tx, appId, pairs)
  const plan = planMembers(admitted, { groups, users, standings, limits: await context.settings.of(appId) }, now)
  const wasteful = broughtForNothing(records, plan, roster)
  if (wasteful.size > 0) throw new BroughtForNothing(wasteful)
  await enrol(tx, appId, plan.members, users, now)
  await nameMembers(tx, appId, plan.named)
  await ban(
    tx,
    appId,
    plan.bans.map((given) => ({ ...given, by: asStored(given.by) })),
  )
  return records.map((_, place) => (refusals[place] ?? plan.outcomes[place]) as Outcome<ImportedMember>)
}

/** Records that the plan refuses, though users or groups were made for what they bring along. */
function broughtForNothing(
  records: readonly ImportMember[],
  { outcomes }: MemberPlan,
  { newUsers, newGroups }: Roster,
): Map<number, Failure> {
  const found = new Map<number, Failure>()
  for (const [place, { userDetails, groupDetails }] of records.entries()) {
    const outcome = outcomes[place]
    if (outcome === undefined || outcome.success) continue
    const isNew =
      (userDetails !== undefined && newUsers.includes(userDetails)) ||
      newGroups.some(({ details }) => details === groupDetails)
    if (isNew) found.set(place, outcome)
  }
  return found
}

interface Pair {
  readonly guid: string
  readonly uid: string
}

function pairOf({ guid, uid }: ImportMember): Pair {
  return { guid: guid.toLowerCase(), uid: uid.toLowerCase() }
}

function linksOf({ guid, uid, groupDetails, userDetails }: ImportMember): Links {
  return {
    users: [userDetails],
    ...(groupDetails && { groups: [{ details: groupDetails, owner: ownerOf(groupDetails, undefined) }] }),
    needsUsers: [uid.toLowerCase()],
    needsGroups: [guid.toLowerCase()],
  }
}

const selectStandings = statement(`
  select wanted.guid, wanted.uid, m.scope, m.explicit
  from unnest($2::text[], $3::text[]) as wanted(guid, uid)
  left join group_members m on m.app_id = $1 and m.guid = wanted.guid and m.uid = wanted.uid
  left join group_bans b on b.app_id = $1 and b.guid = wanted.guid and b.uid = wanted.uid
  where m.uid is not null
  or b.uid is not null`)

/** How users stand to groups, by `<guid> <uid>`; who is neither a member nor banned is missing. */
async function readStandings(tx: Transaction, appId: number, pairs: readonly Pair[]): Promise<Map<string, Standing>> {
  const rows = await tx.query<Pair & ({ scope: Enrolment['scope']; explicit: boolean } | { scope: null })>(
    selectStandings,
    [appId, pairs.map(({ guid }) => guid), pairs.map(({ uid }) => uid)],
  )
  return new Map(
    rows.map((row) => [
      `${row.guid} ${row.uid}`,
      row.scope === null ? { kind: 'banned' } : { kind: 'member', explicit: row.explicit, scope: row.scope },
    ]),
  )
}

const nameRows = statement(`
  update group_members m
  set scope = named.scope,
    joined_at = named.joined_at,
    explicit = true
  from unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) as named(guid, uid, scope, joined_at)
  where m.app_id = $1
  and m.guid = named.guid
  and m.uid = named.uid`)

/** Gives owners who were members by implication the scope and time that a record has for them. */
async function nameMembers(tx: Transaction, appId: number, members: MemberPlan['named']): Promise<void> {
  if (members.length === 0) return
  await tx.query(nameRows, [
    appId,
    members.map(({ guid }) => guid),
    members.map(({ uid }) => uid),
    members.map(({ scope }) => scope),
    members.map(({ joinedAt }) => joinedAt),
  ])
}

const insertBans = statement(`
  insert into group_bans (app_id, guid, uid, banned_by, banned_at)
  select $1, banned.guid, banned.uid, banned.banned_by, banned.banned_at
  from unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) with ordinality
    as banned(guid, uid, banned_by, banned_at, place)
  order by banned.place`)

async function ban(tx: Transaction, appId: number, bans: MemberPlan['bans']): Promise<void> {
  if (bans.length === 0) return
  await tx.query(insertBans, [
    appId,
    bans.map(({ guid }) => guid),
    bans.map(({ uid }) => uid),
    bans.map(({ by }) => by),
    bans.map(({ at }) => at),
  ])
}
