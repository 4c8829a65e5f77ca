import { describe, expect, it } from 'vitest'
import { dataOf, refusal, sayInGroup, texts } from '../support/chat.ts'
import { codes, importAll, importWell, usersNamed } from '../support/imports.ts'
import { createWorld } from '../support/world.ts'

const created = 1_600_000_000

describe('the import of groups', () => {
  it('makes groups with their times, their owner a member by implication', async () => {
    const world = await createWorld()
    await importWell(world, 'users', usersNamed('alice'))
    const { Team } = await importWell(world, 'groups', {
      Team: {
        guid: 'team',
        name: 'Team',
        type: 'public',
        owner: 'Alice',
        createdAt: '1600000000',
        icon: 'https://example.com/t.png',
        metadata: { k: 'v' },
        tags: ['red'],
      },
    })
    expect(Team).toEqual({
      guid: 'team',
      name: 'Team',
      type: 'public',
      icon: 'https://example.com/t.png',
      owner: 'alice',
      metadata: { k: 'v' },
      tags: ['red'],
      membersCount: 1,
      conversationId: 'group_team',
      createdAt: created,
      updatedAt: expect.any(Number),
    })
    expect(dataOf(await world.get('/groups/team', { as: 'alice' }))).toMatchObject({
      scope: 'admin',
      joinedAt: created,
    })
    expect(dataOf(await world.get('/groups/team/messages'))).toEqual([])
    expect(await sayInGroup(world, 'alice', 'team', 'hello')).toMatchObject({ receiver: 'team' })
  })

  it('makes the owner on the fly and changes nobody who is there', async () => {
    const world = await createWorld()
    await importWell(world, 'users', usersNamed('bob'))
    const outcomes = await importAll(world, 'groups', [
      { guid: 'a', name: 'A', type: 'private', owner: 'alice', groupOwnerDetails: { uid: 'alice', name: 'Alice' } },
      { guid: 'b', name: 'B', type: 'public', groupOwnerDetails: { uid: 'bob', name: 'Robert', role: 'none' } },
      { guid: 'c', name: 'C', type: 'public', owner: 'nobody' },
      { guid: 'd', name: 'D', type: 'public' },
      { guid: 'e', name: 'E', type: 'public', groupOwnerDetails: { uid: 'erin', name: 'Erin', role: 'none' } },
      { guid: 'f', name: 'F', type: 'public', owner: 'alice' },
    ])
    expect(codes(outcomes)).toEqual({
      a: 'stored',
      b: 'stored',
      c: 'ERR_UID_NOT_FOUND',
      d: 'stored',
      e: 'ERR_ROLE_NOT_FOUND',
      f: 'stored',
    })
    expect(outcomes.b.data).toMatchObject({ owner: 'bob', membersCount: 1 })
    expect(outcomes.d.data).toMatchObject({ owner: 'app_system', membersCount: 0 })
    expect(dataOf(await world.get('/users/bob')).name).toBe('Bob')
    expect(dataOf(await world.get('/users/alice')).name).toBe('Alice')
    expect(refusal(await world.get('/users/erin'))).toBe('404 ERR_UID_NOT_FOUND')
  })

  it('keeps passwords', async () => {
    const world = await createWorld()
    await importWell(world, 'users', usersNamed('alice', 'bob'))
    const group = { guid: 'team', name: 'Team', type: 'password', owner: 'alice' }
    const outcomes = await importAll(world, 'groups', [
      { ...group, password: 'sesame' },
      { ...group, guid: 'open' },
    ])
    expect(codes(outcomes)).toEqual({ team: 'stored', open: 'ERR_IMPORT_INVALID_GROUP_FORMAT' })
    const join = (password: string) => world.post('/groups/team/members', { password }, { as: 'bob' })
    expect(refusal(await join('wrong'))).toBe('403 ERR_WRONG_GROUP_PASS')
    expect((await join('sesame')).status).toBe(200)
  })

  it('leaves existing groups as they are, also when the same import runs twice at the same time', async () => {
    const world = await createWorld()
    await importWell(world, 'users', usersNamed('alice'))
    const groups = Array.from({ length: 100 }, (_, i) => ({
      guid: `g${(i * 37) % 100}`,
      name: 'G',
      type: 'public',
      owner: 'alice',
    }))
    const runs = await Promise.all(
      [groups, groups.toReversed(), groups].map((records) => importAll(world, 'groups', records)),
    )
    const all = runs.flatMap((outcomes) => Object.values(codes(outcomes)))
    expect(all.filter((code) => code === 'stored')).toHaveLength(100)
    expect(all.filter((code) => code === 'ERR_GUID_ALREADY_EXISTS')).toHaveLength(200)
    expect(codes(await importAll(world, 'groups', [{ guid: 'G5', name: 'Other', type: 'private' }]))).toEqual({
      G5: 'ERR_GUID_ALREADY_EXISTS',
    })
    expect(dataOf(await world.get('/groups/g5'))).toMatchObject({ name: 'G', type: 'public', membersCount: 1 })
  })

  it('refuses records that are no groups', async () => {
    const world = await createWorld()
    const outcomes = await importAll(world, 'groups', {
      a: { guid: 'a', name: 'A' },
      b: { guid: 'b', name: 'B', type: 'secret' },
      c: { guid: 'x', name: 'C', type: 'public' },
      d: null,
      e: [],
      f: 0,
    })
    expect(codes(outcomes)).toEqual({
      a: 'ERR_IMPORT_INVALID_GROUP_FORMAT',
      b: 'ERR_BAD_REQUEST',
      c: 'ERR_IMPORT_INVALID_GROUP_FORMAT',
      d: 'ERR_IMPORT_INVALID_GROUP_FORMAT',
      e: 'ERR_IMPORT_INVALID_GROUP_FORMAT',
      f: 'ERR_IMPORT_INVALID_GROUP_FORMAT',
    })
    expect(refusal(await world.post('/data_import/groups', { groups: 'x' }))).toBe(
      '400 ERR_IMPORT_INVALID_GROUP_FORMAT',
    )
  })
})

describe('the import of members', () => {
  async function worldWithTeam() {
    const world = await createWorld()
    await importWell(world, 'users', usersNamed('alice', 'bob', 'carol', 'dave'))
    await importWell(world, 'groups', [
      { guid: 'team', name: 'Team', type: 'public', owner: 'alice', createdAt: created },
    ])
    return world
  }
  const member = (uid: string, extra: object = {}) => ({ memberId: `team_member_${uid}`, guid: 'team', uid, ...extra })

  it('adds members with scope and time, and leaves no action messages', async () => {
    const world = await worldWithTeam()
    const outcomes = await importWell(world, 'members', {
      team_member_bob: member('bob', { scope: 'moderator', joinedAt: String(created) }),
      TEAM_member_carol: { memberId: 'team_member_Carol', guid: 'Team', uid: 'CAROL' },
    })
    expect(outcomes.team_member_bob).toEqual({ guid: 'team', uid: 'bob', scope: 'moderator', joinedAt: created })
    expect(outcomes.TEAM_member_carol).toMatchObject({ guid: 'team', uid: 'carol', scope: 'participant' })
    const listed = dataOf(await world.get('/groups/team/members'))
    expect(listed.map(({ uid, scope }: { uid: string; scope: string }) => [uid, scope])).toEqual([
      ['alice', 'admin'],
      ['bob', 'moderator'],
      ['carol', 'participant'],
    ])
    expect(dataOf(await world.get('/groups/team')).membersCount).toBe(3)
    expect(dataOf(await world.get('/groups/team/messages'))).toEqual([])
    await sayInGroup(world, 'bob', 'team', 'hello')
    const [conversation] = dataOf(await world.get('/conversations', { as: 'carol' }))
    expect(conversation).toMatchObject({ conversationId: 'group_team', unreadMessageCount: '1' })
  })

  it('starts their marks at the end of the history', async () => {
    const world = await worldWithTeam()
    await sayInGroup(world, 'alice', 'team', 'before')
    await importWell(world, 'members', [member('bob')])
    const count = async () => dataOf(await world.get('/conversations', { as: 'bob' }))[0].unreadMessageCount
    expect(await count()).toBe('0')
    await sayInGroup(world, 'alice', 'team', 'after')
    expect(await count()).toBe('1')
  })

  it('names the owner once: time is set, he stays an admin, and after that he has joined already', async () => {
    const world = await worldWithTeam()
    const record = member('alice', { joinedAt: created + 5, scope: 'participant' })
    const { team_member_alice: alice } = await importWell(world, 'members', [record])
    expect(alice).toEqual({ guid: 'team', uid: 'alice', scope: 'admin', joinedAt: created + 5 })
    expect(dataOf(await world.get('/groups/team', { as: 'alice' }))).toMatchObject({
      joinedAt: created + 5,
      scope: 'admin',
      membersCount: 1,
    })
    expect(codes(await importAll(world, 'members', [record]))).toEqual({ team_member_alice: 'ERR_ALREADY_JOINED' })
  })

  it('bans instead of adding', async () => {
    const world = await worldWithTeam()
    const outcomes = await importAll(world, 'members', [
      member('bob', { isBanned: true, scope: 'admin' }),
      member('alice', { isBanned: true }),
      member('carol', { isBanned: false }),
    ])
    expect(codes(outcomes)).toEqual({
      team_member_bob: 'stored',
      team_member_alice: 'ERR_ALREADY_JOINED',
      team_member_carol: 'stored',
    })
    expect(outcomes.team_member_bob.data.isBanned).toBe(true)
    expect(dataOf(await world.get('/groups/team')).membersCount).toBe(2)
    const banned = dataOf(await world.get('/groups/team/bannedusers'))
    expect(banned.map(({ uid }: { uid: string }) => uid)).toEqual(['bob'])
    expect(refusal(await world.post('/groups/team/members', {}, { as: 'bob' }))).toBe('403 ERR_BANNED_GROUPMEMBER')
    const again = await importAll(world, 'members', [
      member('bob', { isBanned: true }),
      member('carol', { isBanned: true }),
    ])
    expect(codes(again)).toEqual({ team_member_bob: 'ERR_ALREADY_JOINED', team_member_carol: 'ERR_ALREADY_JOINED' })
    expect(codes(await importAll(world, 'members', [member('bob')]))).toEqual({ team_member_bob: 'ERR_ALREADY_JOINED' })
  })

  it('makes groups and users on the fly, each once', async () => {
    const world = await worldWithTeam()
    const club = { guid: 'club', name: 'Club', type: 'public', owner: 'alice', createdAt: created }
    const of = (uid: string, extra: object = {}) => ({ memberId: `club_member_${uid}`, guid: 'club', uid, ...extra })
    const outcomes = await importAll(world, 'members', [
      of('erin', { groupDetails: club, userDetails: { uid: 'erin', name: 'Erin' }, joinedAt: created }),
      of('bob', { groupDetails: { ...club, name: 'Other' }, userDetails: { uid: 'bob', name: 'Robert' } }),
      of('alice', { scope: 'admin', joinedAt: created + 9 }),
      of('frank'),
      { memberId: 'none_member_bob', guid: 'none', uid: 'bob' },
      {
        memberId: 'lost_member_bob',
        guid: 'lost',
        uid: 'bob',
        groupDetails: { ...club, guid: 'lost', owner: 'nobody' },
      },
      of('carol', { userDetails: { uid: 'carol', name: 'C', role: 'none' } }),
      of('gina', { userDetails: { uid: 'gina', name: 'Gina', role: 'none' } }),
    ])
    expect(codes(outcomes)).toEqual({
      club_member_erin: 'stored',
      club_member_bob: 'stored',
      club_member_alice: 'stored',
      club_member_frank: 'ERR_UID_NOT_FOUND',
      none_member_bob: 'ERR_GUID_NOT_FOUND',
      lost_member_bob: 'ERR_UID_NOT_FOUND',
      club_member_carol: 'stored',
      club_member_gina: 'ERR_ROLE_NOT_FOUND',
    })
    expect(dataOf(await world.get('/groups/club'))).toMatchObject({ name: 'Club', membersCount: 4 })
    expect(dataOf(await world.get('/users/bob')).name).toBe('Bob')
    expect(dataOf(await world.get('/groups/club', { as: 'alice' })).joinedAt).toBe(created + 9)
    expect(refusal(await world.get('/groups/lost'))).toBe('404 ERR_GUID_NOT_FOUND')
  })

  it('refuses impossible times of joining and ids that do not fit', async () => {
    const world = await worldWithTeam()
    const future = Math.floor(Date.now() / 1000) + 120
    const outcomes = await importAll(world, 'members', {
      team_member_bob: member('bob', { joinedAt: created - 1 }),
      team_member_carol: member('carol', { joinedAt: future }),
      team_member_dave: { ...member('dave'), memberId: 'team_member_bob' },
      other: member('dave'),
      nothing: null,
      list: [],
    })
    expect(codes(outcomes)).toEqual({
      team_member_bob: 'ERR_IMPORT_INVALID_JOINEDAT',
      team_member_carol: 'ERR_IMPORT_INVALID_JOINEDAT',
      team_member_dave: 'ERR_IMPORT_INVALID_MEMBER_FORMAT',
      other: 'ERR_IMPORT_INVALID_MEMBER_FORMAT',
      nothing: 'ERR_IMPORT_INVALID_MEMBER_FORMAT',
      list: 'ERR_IMPORT_INVALID_MEMBER_FORMAT',
    })
    expect(dataOf(await world.get('/groups/team')).membersCount).toBe(1)
  })

  it('keeps memberships of deactivated users, who count when they come back', async () => {
    const world = await worldWithTeam()
    await importWell(world, 'users', [{ uid: 'erin', name: 'Erin', deactivatedAt: created }])
    await importWell(world, 'members', [member('erin', { scope: 'moderator' })])
    expect(dataOf(await world.get('/groups/team')).membersCount).toBe(1)
    expect(dataOf(await world.get('/groups/team/members'))).toHaveLength(1)
    dataOf(await world.put('/users', { uidsToActivate: ['erin'] }))
    expect(dataOf(await world.get('/groups/team')).membersCount).toBe(2)
    expect(dataOf(await world.get('/groups/team', { as: 'erin' }))).toMatchObject({ scope: 'moderator' })
    await sayInGroup(world, 'erin', 'team', 'back')
  })

  it('adds nobody twice when the same import runs at the same moment, and counts right', async () => {
    const world = await worldWithTeam()
    const users = Array.from({ length: 120 }, (_, i) => ({ uid: `u${i}`, name: `U${i}` }))
    const groups = ['x', 'y', 'z'].map((guid) => ({ guid, name: guid, type: 'public', owner: 'alice' }))
    const members = users.map(({ uid, name }, i) => {
      const group = groups[i % 3] as (typeof groups)[number]
      const memberId = `${group.guid}_member_${uid}`
      return { memberId, guid: group.guid, uid, groupDetails: group, userDetails: { uid, name } }
    })
    const runs = await Promise.all(
      [members, members.toReversed(), members, members.toReversed()].map((records) =>
        importAll(world, 'members', records),
      ),
    )
    const all = runs.flatMap((outcomes) => Object.values(codes(outcomes)))
    expect(all.filter((code) => code === 'stored')).toHaveLength(120)
    expect(all.filter((code) => code === 'ERR_ALREADY_JOINED')).toHaveLength(360)
    for (const { guid } of groups) expect(dataOf(await world.get(`/groups/${guid}`)).membersCount).toBe(41)
  })

  it('goes on while members chat', async () => {
    const world = await worldWithTeam()
    const members = Array.from({ length: 50 }, (_, i) => ({
      memberId: `team_member_m${i}`,
      guid: 'team',
      uid: `m${i}`,
      userDetails: { uid: `m${i}`, name: `M${i}` },
    }))
    const sends = Array.from({ length: 20 }, (_, i) => sayInGroup(world, 'alice', 'team', `t${i}`))
    const [outcomes] = await Promise.all([importAll(world, 'members', members), ...sends])
    expect(new Set(Object.values(codes(outcomes)))).toEqual(new Set(['stored']))
    expect(texts(await world.get('/groups/team/messages?limit=100'))).toHaveLength(20)
  })
})
