import type { Group, ImportGroup } from '@parley/contract'
import { groupExists } from '../../chat/groups/access.ts'
import { readGroups, showGroup } from '../../chat/groups/rows.ts'
import type { Context } from '../../context.ts'
import { makeGroups } from './make-groups.ts'
import { enrol, holdUsers } from './memberships.ts'
import { type Outcome, refuse, stored } from './outcomes.ts'
import { type Links, ownerOf, readRoster } from './roster.ts'
import { makeUsers } from './users.ts'

/** Imports groups, each with its owner as a member by implication. */
export function storeGroups(
  context: Context,
  appId: number,
  records: readonly ImportGroup[],
  now: number,
): Promise<Array<Outcome<Group>>> {
  return context.database.transaction(async (tx) => {
    const roster = await readRoster(context, tx, appId, records.map(linksOf))
    const verdicts = records.map((group) => {
      const guid = group.guid.toLowerCase()
      if (roster.hasGroup(guid)) return { guid, refusal: alreadyThere(guid) }
      return { guid, refusal: roster.admit(linksOf(group)) }
    })
    await makeUsers(context, tx, appId, roster.newUsers, now)
    const owners = roster.newGroups.map(({ owner }) => owner)
    const users = await holdUsers(tx, appId, owners)
    const { made, founders } = await makeGroups(tx, context.secrets, appId, roster.newGroups, now)
    await enrol(tx, appId, founders, users, now)

    const rows = await readGroups(tx, appId, made)
    return verdicts.map(({ guid, refusal }) => {
      if (refusal !== undefined) return refusal
      const row = rows.get(guid)
      return row === undefined ? alreadyThere(guid) : stored(showGroup(row))
    })
  })
}

function linksOf(group: ImportGroup): Links {
  const { groupOwnerDetails } = group
  return { users: [groupOwnerDetails], groups: [{ details: group, owner: ownerOf(group, groupOwnerDetails) }] }
}

function alreadyThere(guid: string) {
  return refuse(groupExists(guid))
}
