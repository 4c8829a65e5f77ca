import { type GroupScope, hasReached, type ImportedMember, type ImportMember, readOptionalTime } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import { unknownGroup } from '../../chat/groups/access.ts'
import type { GroupRow } from '../../chat/groups/rows.ts'
import { unknownUser } from '../../chat/users/require.ts'
import { type GroupLimits, systemIsNoMember, tooManyGroups } from '../group-members/index.ts'
import * as errors from './errors.ts'
import { handOf } from './hands.ts'
import type { Enrolment, HeldUser } from './memberships.ts'
import { type Failure, type Outcome, refuse, stored } from './outcomes.ts'

/** How a user stands to a group before an import: a member, by implication (its owner) or named as one; or banned. */
export type Standing =
  | { readonly kind: 'member'; readonly explicit: boolean; readonly scope: GroupScope }
  | { readonly kind: 'banned' }

/** What memberships are judged by. */
export interface MemberState {
  readonly groups: ReadonlyMap<string, Pick<GroupRow, 'guid' | 'owner' | 'createdAt' | 'membersCount' | 'conversation'>>
  readonly users: ReadonlyMap<string, HeldUser>
  /** By `<guid> <uid>`. */
  readonly standings: ReadonlyMap<string, Standing>
  readonly limits: GroupLimits
}

export interface Ban {
  readonly guid: string
  readonly uid: string
  readonly by: string
  /** Epoch seconds. */
  readonly at: number
}

/** What is to be written, and the outcome of each record; undefined where there was one already. */
export interface MemberPlan {
  readonly outcomes: ReadonlyArray<Outcome<ImportedMember> | undefined>
  readonly members: Enrolment[]
  /** Owners who were members by implication and are named now. */
  readonly named: Enrolment[]
  readonly bans: Ban[]
}

/**
 * Judges memberships in their order. The first record of a user and group counts; the owner of a group stays an admin,
 * whatever scope a record gives. @param records undefined for those that are refused already
 */
export function planMembers(
  records: ReadonlyArray<ImportMember | undefined>,
  state: MemberState,
  now: number,
): MemberPlan {
  const members: Enrolment[] = []
  const named: Enrolment[] = []
  const bans: Ban[] = []
  const standings = new Map(state.standings)
  const joinedGroups = new Map<string, number>()
  const newMembers = new Map<string, number>()

  const refuseQuota = (guid: string, membersCount: number, uid: string): Failure | undefined => {
    const user = state.users.get(uid)
    const { maxGroupMembers, maxGroupsPerUser } = state.limits
    if (hasReached(maxGroupsPerUser, (user?.groups ?? 0) + (joinedGroups.get(uid) ?? 0))) {
      return refuse(tooManyGroups(uid, maxGroupsPerUser))
    }
    if (user?.isActive === true && hasReached(maxGroupMembers, membersCount + (newMembers.get(guid) ?? 0))) {
      return refuse(errors.groupIsFull(guid, maxGroupMembers))
    }
    return undefined
  }
  const planRecord = (record: ImportMember): Outcome<ImportedMember> => {
    const guid = record.guid.toLowerCase()
    const uid = record.uid.toLowerCase()
    const group = state.groups.get(guid)
    if (group === undefined) return refuse(unknownGroup(guid))
    const user = state.users.get(uid)
    if (user === undefined) return refuse(unknownUser(uid))
    if (uid === systemUid) return refuse(systemIsNoMember(guid))

    const standing = standings.get(`${guid} ${uid}`)
    const isImplied = standing?.kind === 'member' && !standing.explicit
    if (standing !== undefined && !(isImplied && record.isBanned !== true)) {
      return refuse(errors.alreadyThere(guid, uid, standing.kind))
    }

    const joinedAt = readOptionalTime(record.joinedAt) ?? Math.max(now, group.createdAt)
    if (joinedAt < group.createdAt) return refuse(errors.joinedTooEarly(group.createdAt))
    const scope = uid === group.owner ? 'admin' : (record.scope ?? (isImplied ? standing.scope : 'participant'))
    const entity: ImportedMember = { guid, uid, scope, joinedAt }
    if (record.isBanned === true) {
      bans.push({
        guid,
        uid,
        by: handOf(record.bannedBy),
        at: readOptionalTime(record.bannedAt) ?? now,
      })
      standings.set(`${guid} ${uid}`, { kind: 'banned' })
      return stored({ ...entity, isBanned: true })
    }
    const enrolment: Enrolment = { ...entity, conversation: group.conversation, explicit: true }
    if (isImplied) named.push(enrolment)
    else {
      const refusal = refuseQuota(guid, group.membersCount, uid)
      if (refusal !== undefined) return refusal
      members.push(enrolment)
      joinedGroups.set(uid, (joinedGroups.get(uid) ?? 0) + 1)
      if (user.isActive) newMembers.set(guid, (newMembers.get(guid) ?? 0) + 1)
    }
    standings.set(`${guid} ${uid}`, { kind: 'member', explicit: true, scope })
    return stored(entity)
  }
  const outcomes = records.map((record) => (record === undefined ? undefined : planRecord(record)))
  return { outcomes, members, named, bans }
}
