import { defaultAppSettings, limits } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { planMembers } from '../../src/areas/data-import/plan-members.ts'
import { openRoster } from '../../src/areas/data-import/roster.ts'
import type { UserRow } from '../../src/chat/users/rows.ts'

const now = 1_700_000_000
const codeOf = (outcome: { success: boolean; error?: { code: string } } | undefined) => outcome?.error?.code ?? 'stored'

describe('the limits of groups, in an import', () => {
  const group = { guid: 'team', owner: 'alice', createdAt: 0, conversation: 1 }
  const member = (guid: string, uid: string) => ({ memberId: `${guid}_member_${uid}`, guid, uid })

  it('let in as many active members as a group may have; deactivated ones do not count', () => {
    const plan = planMembers(
      ['a', 'gone', 'b', 'c'].map((uid) => member('team', uid)),
      {
        groups: new Map([['team', { ...group, membersCount: limits.membersPerGroup - 2 }]]),
        users: new Map(['a', 'b', 'c', 'gone'].map((uid) => [uid, { isActive: uid !== 'gone', groups: 0 }])),
        standings: new Map(),
        limits: defaultAppSettings,
      },
      now,
    )
    expect(plan.outcomes.map(codeOf)).toEqual(['stored', 'stored', 'stored', 'ERR_PLAN_QUOTA_RESTRICTION'])
    expect(plan.members.map(({ uid }) => uid)).toEqual(['a', 'gone', 'b'])
  })

  it('let a user into as many groups as he may be in', () => {
    const guids = ['x', 'y', 'z']
    const plan = planMembers(
      guids.map((guid) => member(guid, 'bob')),
      {
        groups: new Map(guids.map((guid) => [guid, { ...group, guid, membersCount: 1 }])),
        users: new Map([['bob', { isActive: true, groups: limits.groupsPerUser - 2 }]]),
        standings: new Map(),
        limits: defaultAppSettings,
      },
      now,
    )
    expect(plan.outcomes.map(codeOf)).toEqual(['stored', 'stored', 'ERR_PLAN_QUOTA_RESTRICTION'])
  })

  it('let a user own as many groups as he may be in, the app as many as there are', () => {
    const roster = openRoster({
      users: new Map(['alice', 'app_system'].map((uid) => [uid, { uid } as UserRow])),
      groups: new Map(),
      erased: new Set(),
      roles: new Set(),
      memberships: new Map([
        ['alice', limits.groupsPerUser - 1],
        ['app_system', limits.groupsPerUser],
      ]),
      maxGroupsPerUser: limits.groupsPerUser,
    })
    const found = (guid: string, owner: string) =>
      codeOf(roster.admit({ groups: [{ details: { guid, name: guid, type: 'public' }, owner }] }))
    expect(found('a', 'alice')).toBe('stored')
    expect(found('b', 'alice')).toBe('ERR_PLAN_QUOTA_RESTRICTION')
    expect(found('c', 'app_system')).toBe('stored')
    expect(roster.newGroups.map(({ details }) => details.guid)).toEqual(['a', 'c'])
  })
})
