import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { type Client, connect, tokenOf } from '../support/socket.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** alice on two devices, acting with the first, and bob, with a message of alice to bob. */
async function openTalk() {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  const { id } = await say(world, 'alice', 'bob', 'hi')
  const token = await tokenOf(world, 'alice')
  const [phone, tab, bob] = [
    await connect(world, 'alice', { deviceId: 'phone', token }),
    await connect(world, 'alice', { deviceId: 'tab' }),
    await connect(world, 'bob'),
  ]
  const act = async (method: string, path: string) =>
    dataOf(await world.call(method, path, undefined, { token, headers: { resource: 'phone' } }))
  return { world, id, phone, tab, bob, act }
}

async function expectNothing(client: Client): Promise<void> {
  await client.pong()
  expect(client.frames).toEqual([])
}

describe('a pinned message', () => {
  it('is shown to both sides, but for the device that pinned it, and once', async () => {
    const { world, id, phone, tab, bob, act } = await openTalk()
    for (const [method, action] of [
      ['POST', 'pinned'],
      ['DELETE', 'unpinned'],
    ] as const) {
      for (let twice = 0; twice < 2; twice++) await act(method, `/messages/${id}/pin`)
      for (const client of [tab, bob]) {
        const { body, ...head } = await client.takeType('message_pin')
        expect(head).toEqual({
          ...{ appId: world.app.name, type: 'message_pin', deviceId: 'phone' },
          ...{ sender: 'alice', receiver: 'bob', receiverType: 'user' },
        })
        expect(body).toMatchObject({ action, message: { id, data: { text: 'hi' } } })
        const pin = { pinnedBy: body.message.pinnedBy, pinnedAt: body.message.pinnedAt }
        expect(pin).toEqual(action === 'pinned' ? { pinnedBy: 'alice', pinnedAt: expect.any(Number) } : {})
        await expectNothing(client)
      }
    }
    await expectNothing(phone)
    dataOf(await world.post(`/messages/${id}/pin`))
    expect((await phone.takeType('message_pin')).body.message).toMatchObject({ pinnedBy: 'app_system' })
  })

  it('is not shown to those whose history begins after it', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'late')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const { id } = await sayInGroup(world, 'alice', 'team', 'old')
    dataOf(
      await world.put('/groups/team/scopes/participant/permissions', {
        permissions: { 'listMessages.historyBeforeJoin': 'deny' },
      }),
    )
    dataOf(await world.post('/groups/team/members', { participants: ['late'] }))
    dataOf(await world.delete('/groups/team/conversation', undefined, { as: 'carol' }))
    const clients = new Map<string, Client>()
    for (const uid of ['alice', 'bob', 'carol', 'late']) clients.set(uid, await connect(world, uid))
    dataOf(await world.post(`/messages/${id}/pin`, undefined, { as: 'alice' }))
    await sayInGroup(world, 'alice', 'team', 'new')
    for (const [uid, client] of clients) {
      await client.takeText('new')
      const pins = client.frames.filter(({ type }) => type === 'message_pin')
      expect([uid, pins.length]).toEqual([uid, uid === 'alice' || uid === 'bob' ? 1 : 0])
    }
  })
})

describe('what a user keeps alone', () => {
  it('a saved message is shown on the own other devices, and to nobody else', async () => {
    const { id, phone, tab, bob, act } = await openTalk()
    for (const [method, action] of [
      ['POST', 'saved'],
      ['DELETE', 'unsaved'],
    ] as const) {
      for (let twice = 0; twice < 2; twice++) await act(method, `/messages/${id}/save`)
      const { body } = await tab.takeType('message_save')
      expect(body).toMatchObject({ action, message: { id } })
      expect(body.message.savedAt).toEqual(action === 'saved' ? expect.any(Number) : undefined)
    }
    for (const client of [phone, tab, bob]) await expectNothing(client)
  })

  it('a pinned conversation is shown on the own other devices, and to nobody else', async () => {
    const { phone, tab, bob, act } = await openTalk()
    for (const [method, action] of [
      ['POST', 'pinned'],
      ['DELETE', 'unpinned'],
    ] as const) {
      await act(method, '/users/bob/conversation/pin')
      const { body } = await tab.takeType('conversation_pin')
      expect(body).toMatchObject({
        action,
        conversation: {
          conversationId: 'alice_user_bob',
          conversationWith: { uid: 'bob' },
          lastMessage: { sender: 'alice' },
        },
      })
      expect(body.conversation.pinnedAt).toEqual(action === 'pinned' ? expect.any(Number) : undefined)
    }
    for (const client of [phone, tab, bob]) await expectNothing(client)
  })
})
