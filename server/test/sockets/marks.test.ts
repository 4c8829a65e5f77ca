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

describe('the goal of an interactive message', () => {
  const form = { formFields: [{ elementId: 'a' }, { elementId: 'b' }], submitElement: { elementId: 'c' } }

  const openForm = async (goal: object) => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const data = { interactiveData: form, interactionGoal: goal }
    const message = { receiver: 'team', receiverType: 'group', category: 'interactive', type: 'form', data }
    const { id } = dataOf(await world.post('/messages', message, { as: 'alice' }))
    const use = async (...elements: string[]) =>
      world.call('PATCH', `/messages/${id}/interacted`, { interactions: elements }, { as: 'bob' })
    const [alice, carol] = [await connect(world, 'alice'), await connect(world, 'carol')]
    // Frames of a conversation come in order: what is not there before the next message was not sent.
    const expectNoMore = async () => {
      await sayInGroup(world, 'bob', 'team', 'after')
      for (const client of [alice, carol]) {
        await client.takeText('after')
        expect(client.frames.filter(({ type }) => type === 'interaction_completed')).toEqual([])
      }
    }
    return { id, use, alice, expectNoMore }
  }

  it('is told to its sender when it is reached, once', async () => {
    const { id, use, alice, expectNoMore } = await openForm({ type: 'allOf', elementIds: ['a', 'b'] })
    dataOf(await use('a'))
    dataOf(await use('a', 'c'))
    await expectNoMore()
    dataOf(await use('b'))
    const { body, ...head } = await alice.takeType('interaction_completed')
    expect(head).toMatchObject({ sender: 'bob', receiver: 'team', receiverType: 'group', messageSender: 'alice' })
    expect(body).toMatchObject({ messageId: id, user: { uid: 'bob' } })
    const used = body.interactions.map(({ elementId }: { elementId: string }) => elementId)
    expect(used.sort()).toEqual(['a', 'b', 'c'])
    dataOf(await use('a', 'b', 'c'))
    await expectNoMore()
  })

  it.each([
    ['anyAction', [], 'c'],
    ['anyOf', ['a', 'b'], 'b'],
    ['oneOf', ['a', 'b'], 'a'],
  ])('may be %s', async (type, elementIds, element) => {
    const { use, alice } = await openForm({ type, elementIds })
    dataOf(await use(element))
    expect((await alice.takeType('interaction_completed')).body.interactions).toHaveLength(1)
  })

  it.each([{ type: 'none', elementIds: ['a'] }, { type: 'allOf', elementIds: [] }, { type: 7 }, {}])(
    'is never reached where there is none: %j',
    async (goal) => {
      const { use, expectNoMore } = await openForm(goal)
      dataOf(await use('a', 'b', 'c'))
      await expectNoMore()
    },
  )
})
