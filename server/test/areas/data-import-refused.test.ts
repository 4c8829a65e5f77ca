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
})
