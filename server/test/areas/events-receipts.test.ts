import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { pullEvents } from '../support/events.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const epoch = expect.any(Number)
const recipient = (uid: string, name = uid.charAt(0).toUpperCase() + uid.slice(1), extra: object = {}) => ({
  uid,
  name,
  role: 'default',
  createdAt: epoch,
  hasBlockedMe: false,
  blockedByMe: false,
  deactivatedAt: 0,
  status: 'online',
  ...extra,
})
const receipt = (trigger: string, action: string, messageId: string, extra: object = {}) => ({
  trigger,
  data: {
    receiver: 'alice',
    receiverType: 'user',
    type: 'receipts',
    sender: 'bob',
    messageSender: 'alice',
    body: { action, messageId, user: recipient('bob'), timestamp: epoch },
    ...extra,
  },
})
const ofAll = (trigger: string, action: string, messageId: string) => ({
  trigger,
  data: {
    receiver: 'team',
    receiverType: 'group',
    type: 'receipts',
    sender: 'app_system',
    messageSender: 'alice',
    body: { action, messageId, user: recipient('app_system', 'System'), timestamp: epoch },
  },
})

const mark = (world: World, as: string, path: string, messageId?: string) =>
  world.post(path, messageId === undefined ? {} : { messageId }, { as })

describe('a receipt one to one', () => {
  it('is told when a mark covers messages of the other anew', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { id: first } = await say(world, 'alice', 'bob', 'one')
    const { id: second } = await say(world, 'alice', 'bob', 'two')
    const puller = await pullEvents(world)
    dataOf(await mark(world, 'bob', '/users/alice/conversation/delivered', first))
    dataOf(await mark(world, 'bob', '/users/alice/conversation/delivered', first))
    dataOf(await mark(world, 'bob', '/users/alice/conversation/read'))
    dataOf(await mark(world, 'bob', '/users/alice/conversation/read', first))
    dataOf(await mark(world, 'bob', '/users/alice/conversation/delivered', second))
    expect(await puller.told()).toEqual([
      receipt('message_delivery_receipt', 'delivered', first),
      receipt('message_read_receipt', 'read', second),
    ])
  })

  it('is not told for messages of his own, unknown ones, or what is unread again', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'one')
    await say(world, 'alice', 'bob', 'two')
    await say(world, 'alice', 'alice', 'to myself')
    const puller = await pullEvents(world)
    dataOf(await mark(world, 'alice', '/users/bob/conversation/read'))
    dataOf(await mark(world, 'alice', '/users/alice/conversation/read'))
    const unknown = await mark(world, 'bob', '/users/alice/conversation/read', '999999999')
    expect(refusal(unknown)).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await puller.told()).toEqual([])

    dataOf(await mark(world, 'bob', '/users/alice/conversation/read'))
    expect(await puller.told()).toHaveLength(1)
    dataOf(await world.delete('/users/alice/conversation/read', {}, { as: 'bob' }))
    dataOf(await mark(world, 'bob', '/users/alice/conversation/read'))
    expect(await puller.told()).toEqual([])
  })

  it('says what blocks stand between the two, and names the sender also of a message that is gone', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { id: sent } = await say(world, 'alice', 'bob', 'one')
    const puller = await pullEvents(world)
    dataOf(await mark(world, 'bob', '/users/alice/conversation/read'))
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    const [blocked] = await puller.told()
    const body = { action: 'read', messageId: sent, timestamp: epoch }
    expect(blocked?.data.body).toEqual({ ...body, user: recipient('bob', 'Bob', { hasBlockedMe: true }) })

    const { id: other } = await sayAgain(world)
    dataOf(await mark(world, 'alice', '/users/bob/conversation/read'))
    dataOf(await world.delete(`/messages/${other}`, { permanent: true }))
    const events = await puller.told()
    const read = events.find(({ trigger }) => trigger === 'message_read_receipt')
    expect(read?.data).toMatchObject({ receiver: 'bob', sender: 'alice', messageSender: 'bob' })
  })
})

async function sayAgain(world: World) {
  dataOf(await world.delete('/users/bob/blockedusers', { blockedUids: ['alice'] }))
  return say(world, 'bob', 'alice', 'back')
}

describe('receipts in a group', () => {
  async function createTeam(): Promise<World> {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    return world
  }
  const inTeam = { receiver: 'team', receiverType: 'group' }
  const of = (uid: string, action: string, messageId: string, trigger: string) =>
    receipt(trigger, action, messageId, {
      ...inTeam,
      sender: uid,
      body: { action, messageId, user: recipient(uid), timestamp: epoch },
    })

  it('are told for each member, and for all with the last of them', async () => {
    const world = await createTeam()
    const { id: sent } = await sayInGroup(world, 'alice', 'team', 'one')
    const puller = await pullEvents(world)
    dataOf(await mark(world, 'bob', '/groups/team/conversation/delivered', sent))
    expect(await puller.told()).toEqual([of('bob', 'delivered', sent, 'message_delivery_receipt')])
    dataOf(await mark(world, 'carol', '/groups/team/conversation/read'))
    expect(await puller.told()).toEqual([
      of('carol', 'read', sent, 'message_read_receipt'),
      ofAll('message_delivered_to_all', 'deliveredToAll', sent),
    ])
    dataOf(await mark(world, 'bob', '/groups/team/conversation/read'))
    dataOf(await mark(world, 'bob', '/groups/team/conversation/read'))
    expect(await puller.told()).toEqual([
      of('bob', 'read', sent, 'message_read_receipt'),
      ofAll('message_read_by_all', 'readByAll', sent),
    ])
  })

  it('tell a reading by all once, which implies the delivery', async () => {
    const world = await createTeam()
    const { id: sent } = await sayInGroup(world, 'alice', 'team', 'one')
    const puller = await pullEvents(world)
    await Promise.all(
      ['bob', 'carol'].map(async (uid) => dataOf(await mark(world, uid, '/groups/team/conversation/read'))),
    )
    const events = await puller.told()
    expect(events).toHaveLength(3)
    expect(events).toEqual(
      expect.arrayContaining([
        of('bob', 'read', sent, 'message_read_receipt'),
        of('carol', 'read', sent, 'message_read_receipt'),
        ofAll('message_read_by_all', 'readByAll', sent),
      ]),
    )
  })

  it.each([
    ['is kicked', (world: World) => world.delete('/groups/team/members/carol')],
    ['is banned', (world: World) => world.post('/groups/team/bannedusers/carol')],
    ['leaves', (world: World) => world.delete('/groups/team/members', {}, { as: 'carol' })],
    ['is deactivated', (world: World) => world.delete('/users', { uidsToDeactivate: ['carol'] })],
    ['is deleted for good', (world: World) => world.delete('/users/carol', { permanent: true })],
  ])('tell a reading by all when the last who had not read %s', async (_, depart) => {
    const world = await createTeam()
    const { id: sent } = await sayInGroup(world, 'alice', 'team', 'one')
    dataOf(await mark(world, 'bob', '/groups/team/conversation/read'))
    const puller = await pullEvents(world)
    dataOf(await depart(world))
    const receipts = (await puller.told()).filter(({ trigger }) => trigger.startsWith('message_'))
    expect(receipts).toEqual([ofAll('message_read_by_all', 'readByAll', sent)])
  })
})
