import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const codeOf = ({ success, error }: { success: boolean; error?: { code: string } }) =>
  success ? 'stored' : error?.code
const expectNobody = async (world: World, ...uids: string[]) => {
  for (const uid of uids) expect(refusal(await world.get(`/users/${uid}`)), uid).toBe('404 ERR_UID_NOT_FOUND')
}

describe('a record of an import that is refused makes nothing of what it brings along', () => {
  it('a membership: neither its user nor its group', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice')
    const record = (guid: string, uid: string, more: object) => ({
      memberId: `${guid}_member_${uid}`,
      guid,
      uid,
      ...more,
    })
    const outcomes = dataOf(
      await world.post('/data_import/members', {
        members: [
          record('team', 'early', { joinedAt: 1, userDetails: { uid: 'early', name: 'Early' } }),
          record('club', 'bob', {
            joinedAt: 1,
            groupDetails: { guid: 'club', name: 'Club', type: 'public', createdAt: 1000 },
          }),
          record('team', 'fine', { userDetails: { uid: 'fine', name: 'Fine' } }),
          record('team', 'bob', {}),
        ],
      }),
    )
    expect(Object.values(outcomes as Record<string, { success: boolean }>).map(codeOf)).toEqual([
      'ERR_IMPORT_INVALID_JOINEDAT',
      'ERR_IMPORT_INVALID_JOINEDAT',
      'stored',
      'stored',
    ])
    await expectNobody(world, 'early')
    expect(refusal(await world.get('/groups/club'))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(dataOf(await world.get('/groups/team')).membersCount).toBe(3)
  })

  it('a message: neither its people nor its group, where its parent is missing, elsewhere or a reply', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const message = (muid: string, sender: string, more: object = {}) => ({
      ...{ muid, sender, receiver: 'alice', receiverType: 'user', data: { text: muid }, sentAt: 1000 },
      ...{ senderUserDetails: { uid: sender, name: sender } },
      ...more,
    })
    const store = async (...messages: object[]) => {
      const outcomes = dataOf(await world.post('/data_import/messages', { messages }))
      return Object.values(outcomes as Record<string, { success: boolean }>).map(codeOf)
    }
    expect(await store(message('one', 'bob'), message('two', 'bob', { parentMuid: 'one' }))).toEqual([
      'stored',
      'stored',
    ])
    const club = { guid: 'club', name: 'Club', type: 'public' }
    expect(
      await store(
        message('a', 'carol', { parentMuid: 'nothing' }),
        message('b', 'dave', { parentMuid: 'one' }),
        message('c', 'erin', { parentMuid: 'c0' }),
        message('c0', 'erin'),
        message('d', 'bob', { parentMuid: 'two', mentionedUserDetails: { fred: { uid: 'fred', name: 'Fred' } } }),
        message('e', 'bob', {
          receiver: 'club',
          receiverType: 'group',
          receiverGroupDetails: club,
          parentMuid: 'nothing',
        }),
      ),
    ).toEqual([
      'ERR_WRONG_MESSAGE_THREAD',
      'ERR_WRONG_MESSAGE_THREAD',
      'stored',
      'stored',
      'ERR_MESSAGE_THREAD_NESTING',
      'ERR_WRONG_MESSAGE_THREAD',
    ])
    await expectNobody(world, 'carol', 'dave', 'fred')
    expect(refusal(await world.get('/groups/club'))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(dataOf(await world.get('/users/erin')).name).toBe('erin')
  })

  it('a message: neither its people nor its group, where its muid is taken, before or by one of the same request', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const message = (muid: string, sender: string, more: object = {}) => ({
      ...{ muid, sender, receiver: 'alice', receiverType: 'user', data: { text: muid }, sentAt: 1000 },
      ...{ senderUserDetails: { uid: sender, name: sender } },
      ...more,
    })
    const store = async (...messages: object[]) => {
      const outcomes = dataOf(await world.post('/data_import/messages', { messages }))
      return Object.values(outcomes as Record<string, { success: boolean }>).map(codeOf)
    }
    const club = {
      ...{ receiver: 'club', receiverType: 'group' },
      receiverGroupDetails: { guid: 'club', name: 'Club', type: 'public' },
    }
    expect(await store(message('one', 'bob'))).toEqual(['stored'])
    dataOf(
      await world.post(
        '/messages',
        { muid: 'live', receiver: 'bob', receiverType: 'user', data: { text: 'x' } },
        { as: 'alice' },
      ),
    )
    const taken = 'ERR_IMPORT_MUID_ALREADY_EXISTS'
    expect(
      await store(
        message('one', 'carol'),
        message('one', 'bob', club),
        message('one', 'bob', { mentionedUserDetails: { dave: { uid: 'dave', name: 'Dave' } } }),
        message('live', 'erin'),
        message('two', 'fred'),
        message('two', 'gina'),
        message('three', 'gina', { senderUserDetails: undefined }),
      ),
    ).toEqual([taken, taken, taken, taken, 'stored', taken, 'ERR_UID_NOT_FOUND'])
    await expectNobody(world, 'carol', 'dave', 'erin', 'gina')
    expect(refusal(await world.get('/groups/club'))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(dataOf(await world.get('/users/fred')).name).toBe('fred')
  })

  it('a message: whoever it brings along is not there for the others of its request either', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const to = { receiver: 'alice', receiverType: 'user', data: { text: 'x' }, sentAt: 1000 }
    const outcomes = dataOf(
      await world.post('/data_import/messages', {
        messages: [
          { ...to, muid: 'a', sender: 'bob', parentMuid: 'none', senderUserDetails: { uid: 'bob', name: 'Bob' } },
          { ...to, muid: 'b', sender: 'bob' },
          { ...to, muid: 'c', sender: 'alice', receiver: 'bob', parentMuid: 'b' },
          { ...to, muid: 'd', sender: 'carol', senderUserDetails: { uid: 'carol', name: 'Carol' } },
        ],
      }),
    )
    expect(Object.values(outcomes as Record<string, { success: boolean }>).map(codeOf)).toEqual([
      'ERR_WRONG_MESSAGE_THREAD',
      'ERR_UID_NOT_FOUND',
      'ERR_UID_NOT_FOUND',
      'stored',
    ])
    await expectNobody(world, 'bob')
  })
})

describe('Ids that differ in upper and lower case only', () => {
  it('are refused as such where one request brings both, and merged nowhere', async () => {
    const world = await createWorld()
    const outcomes = dataOf(
      await world.post('/data_import/users', {
        users: { Ann: { uid: 'Ann', name: 'First' }, ANN: { uid: 'ANN', name: 'Second' }, bob: { uid: 'bob' } },
      }),
    )
    expect(outcomes.Ann).toMatchObject({ success: true, data: { uid: 'ann', name: 'First' } })
    expect(outcomes.ANN).toMatchObject({
      success: false,
      error: {
        code: 'ERR_UID_ALREADY_EXISTS',
        devMessage: 'The uid ANN differs from Ann, in an earlier record, in upper and lower case only.',
        details: [{ path: 'uid' }],
      },
    })
    expect(dataOf(await world.get('/users/ann')).name).toBe('First')
    const groups = ['Team', 'TEAM', 'Team'].map((guid) => ({ guid, name: guid, type: 'public' }))
    const made = dataOf(await world.post('/data_import/groups', { groups }))
    expect(made.Team).toMatchObject({ success: true, data: { name: 'Team' } })
    expect(made.TEAM.error).toMatchObject({ code: 'ERR_GUID_ALREADY_EXISTS', details: [{ path: 'guid' }] })
    expect(made['[2]'].error.code).toBe('ERR_GUID_ALREADY_EXISTS')
    expect(made['[2]'].error).not.toHaveProperty('details')
  })
})
