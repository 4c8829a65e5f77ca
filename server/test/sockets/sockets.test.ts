import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { connect, tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const chatWorld = async (...uids: string[]): Promise<World> => {
  const world = await createWorld()
  await createUsers(world, ...uids)
  return world
}

/** A user as frames show him: no metadata, no tags. */
const card = (uid: string) => ({
  uid,
  name: uid.charAt(0).toUpperCase() + uid.slice(1),
  role: 'default',
  status: expect.stringMatching(/^(available|offline)$/),
  createdAt: expect.any(Number),
})
const shownCard = (uid: string, frame: { body: { user: object } }) => {
  const { lastActiveAt: _, ...user } = frame.body.user as Record<string, unknown>
  expect(user).toEqual(card(uid))
  return frame
}

describe('a message', () => {
  it('one-to-one reaches every device of both sides as it was answered, but not the one that sent it', async () => {
    const world = await chatWorld('alice', 'bob')
    const token = await tokenOf(world, 'alice')
    const phone = await connect(world, 'alice', { deviceId: 'phone', token })
    const tab = await connect(world, 'alice', { deviceId: 'tab' })
    const bobs = [await connect(world, 'bob', { deviceId: 'b1' }), await connect(world, 'bob', { deviceId: 'b2' })]
    const body = { receiver: 'bob', receiverType: 'user', data: { text: 'hi' } }
    const sent = dataOf(await world.post('/messages', body, { token, headers: { resource: 'phone' } }))
    for (const client of [tab, ...bobs]) {
      expect(await client.takeType('message')).toEqual({
        appId: world.app.name,
        type: 'message',
        sender: 'alice',
        receiver: 'bob',
        receiverType: 'user',
        deviceId: 'phone',
        body: sent,
      })
    }
    const answer = await say(world, 'bob', 'alice', 'hello')
    expect((await phone.takeText('hello')).body).toEqual(answer)
    // Whoever answers has read.
    expect((await phone.takeType('receipts')).body).toMatchObject({ action: 'read', messageId: sent.id })
    expect(phone.frames).toEqual([])
  })

  it('to a group reaches its members, and nobody else', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const [alice, bob, carol] = [
      await connect(world, 'alice'),
      await connect(world, 'bob'),
      await connect(world, 'carol'),
    ]
    const sent = await sayInGroup(world, 'alice', 'team', 'hi all')
    const frame = await bob.takeType('message')
    expect(frame).toEqual({
      appId: world.app.name,
      type: 'message',
      sender: 'alice',
      receiver: 'team',
      receiverType: 'group',
      body: sent,
    })
    await alice.takeText('hi all')
    await carol.pong()
    expect(carol.frames).toEqual([])
  })

  it('of the app reaches both its receiver and the members of a group', async () => {
    const world = await chatWorld('alice')
    await createGroup(world, 'team', 'alice')
    const alice = await connect(world, 'alice')
    const data = { text: 'from the app' }
    dataOf(await world.post('/messages', { receiver: 'alice', receiverType: 'user', data }))
    expect(await alice.takeType('message')).toMatchObject({ sender: 'app_system', receiver: 'alice' })
    dataOf(await world.post('/messages', { receiver: 'team', receiverType: 'group', data }))
    expect(await alice.takeType('message')).toMatchObject({ sender: 'app_system', receiver: 'team' })
  })

  it('to oneself reaches the other devices once', async () => {
    const world = await chatWorld('alice')
    const alice = await connect(world, 'alice')
    await say(world, 'alice', 'alice', 'note')
    await say(world, 'alice', 'alice', 'second note')
    await alice.takeText('note')
    await alice.takeText('second note')
    await alice.pong()
    expect(alice.frames).toEqual([])
  })

  it('that was edited or deleted is told by its action message, without what was deleted', async () => {
    const world = await chatWorld('alice', 'bob')
    const bob = await connect(world, 'bob')
    const { id } = await say(world, 'alice', 'bob', 'frist')
    await bob.takeText('frist')
    const edited = dataOf(await world.put(`/messages/${id}`, { data: { text: 'first' } }, { as: 'alice' }))
    const told = await bob.takeType('message')
    expect(told).toMatchObject({ sender: 'alice', receiver: 'bob', receiverType: 'user' })
    expect(told.body).toEqual(edited)
    expect(told.body.data).toMatchObject({
      action: 'edited',
      entities: { on: { entity: { id, data: { text: 'first' } } } },
    })
    const deleted = dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    const gone = await bob.takeType('message')
    expect(gone.body).toEqual(deleted)
    expect(JSON.stringify(gone)).not.toContain('first')
  })

  it('of a group event is told to those who are in then', async () => {
    const world = await chatWorld('alice', 'bob')
    await createGroup(world, 'team', 'alice')
    const [alice, bob] = [await connect(world, 'alice'), await connect(world, 'bob')]
    await sayInGroup(world, 'alice', 'team', 'before')
    await alice.takeText('before')
    dataOf(await world.post('/groups/team/members', { participants: ['bob'] }, { as: 'alice' }))
    for (const client of [alice, bob]) {
      const { body } = await client.takeType('message')
      expect(body).toMatchObject({ category: 'action', type: 'groupMember', data: { action: 'added' } })
    }
    await sayInGroup(world, 'alice', 'team', 'welcome')
    await bob.takeText('welcome')
    expect(bob.frames).toEqual([])
  })
})

describe('what a client sends', () => {
  it('typing, is told to the other side and to the own devices but this one', async () => {
    const world = await chatWorld('alice', 'bob')
    await say(world, 'bob', 'alice', 'before')
    const alice = await connect(world, 'alice', { deviceId: 'phone' })
    const [tab, bob] = [await connect(world, 'alice', { deviceId: 'tab' }), await connect(world, 'bob')]
    const typing = { receiver: 'bob', receiverType: 'user', type: 'typing_indicator' }
    alice.send({
      ...typing,
      sender: 'mallory',
      body: { action: 'started', user: { uid: 'mallory' }, metadata: { a: 1 } },
    })
    for (const client of [tab, bob]) {
      expect(shownCard('alice', await client.takeType('typing_indicator'))).toEqual({
        appId: world.app.name,
        type: 'typing_indicator',
        sender: 'alice',
        receiver: 'bob',
        receiverType: 'user',
        deviceId: 'phone',
        body: { action: 'started', user: expect.any(Object), metadata: { a: 1 } },
      })
    }
    alice.send({ ...typing, body: { action: 'ended' } })
    expect((await bob.takeType('typing_indicator')).body.action).toBe('ended')
    expect(alice.frames).toEqual([])
  })

  it('typing in a group, is told to its members; who is none is told so', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const [alice, bob, carol] = [
      await connect(world, 'alice'),
      await connect(world, 'bob'),
      await connect(world, 'carol'),
    ]
    const typing = { receiver: 'TEAM', receiverType: 'group', type: 'typing_indicator', body: { action: 'started' } }
    alice.send(typing)
    expect(await bob.takeType('typing_indicator')).toMatchObject({
      sender: 'alice',
      receiver: 'team',
      receiverType: 'group',
    })
    carol.send(typing)
    expect((await carol.takeType('error')).body).toMatchObject({
      code: 'ERR_GROUP_NOT_JOINED',
      frame: 'typing_indicator',
    })
    carol.send({ ...typing, receiver: 'no-such-group' })
    expect((await carol.takeType('error')).body.code).toBe('ERR_GUID_NOT_FOUND')
    expect(carol.frames).toEqual([])
  })

  it('a transient message, is passed on and never stored', async () => {
    const world = await chatWorld('alice', 'bob')
    const { id } = await say(world, 'bob', 'alice', 'before')
    const [alice, bob] = [await connect(world, 'alice'), await connect(world, 'bob')]
    alice.send({
      receiver: 'bob',
      receiverType: 'user',
      type: 'transient_message',
      body: { data: { live: 'reaction' } },
    })
    expect(shownCard('alice', await bob.takeType('transient_message'))).toEqual({
      appId: world.app.name,
      type: 'transient_message',
      sender: 'alice',
      receiver: 'bob',
      receiverType: 'user',
      deviceId: 'device-of-alice',
      body: { user: expect.any(Object), data: { live: 'reaction' } },
    })
    const conversation = dataOf(await world.get('/users/alice/conversation', { as: 'bob' }))
    expect(conversation.lastMessage.id).toBe(id)
  })

  it('a receipt, becomes a mark and is told to the other side', async () => {
    const world = await chatWorld('alice', 'bob')
    const [alice, bob] = [await connect(world, 'alice'), await connect(world, 'bob')]
    const tab = await connect(world, 'bob', { deviceId: 'tab' })
    const { id } = await say(world, 'alice', 'bob', 'hi')
    const receipt = { receiver: 'alice', receiverType: 'user', type: 'receipts', messageSender: 'alice' }
    for (const action of ['delivered', 'read']) {
      bob.send({ ...receipt, body: { action, messageId: id } })
      const frames = [await alice.takeType('receipts'), await tab.takeType('receipts')]
      for (const frame of frames) {
        expect(shownCard('bob', frame)).toEqual({
          appId: world.app.name,
          type: 'receipts',
          sender: 'bob',
          receiver: 'alice',
          receiverType: 'user',
          deviceId: 'device-of-bob',
          messageSender: 'alice',
          body: { action, messageId: id, user: expect.any(Object), timestamp: expect.any(Number) },
        })
      }
      const message = dataOf(await world.get(`/messages/${id}`))
      expect(message[`${action}At`]).toBe(frames[0].body.timestamp)
    }
    await bob.pong()
    expect(bob.frames.filter(({ type }) => type === 'receipts')).toEqual([])
  })

  it('a receipt in a group, is told to the author; when all have read, that too', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const clients = [await connect(world, 'alice'), await connect(world, 'bob'), await connect(world, 'carol')] as const
    const [alice, bob, carol] = clients
    const { id } = await sayInGroup(world, 'alice', 'team', 'hi')
    for (const client of clients) await client.takeText('hi')
    const receipt = {
      receiver: 'team',
      receiverType: 'group',
      type: 'receipts',
      body: { action: 'read', messageId: id },
    }
    bob.send(receipt)
    expect(shownCard('bob', await alice.take(({ body }) => body.action === 'read'))).toMatchObject({
      sender: 'bob',
      receiver: 'team',
      receiverType: 'group',
      messageSender: 'alice',
      body: { messageId: id },
    })
    carol.send(receipt)
    await alice.take(({ body, sender }) => body.action === 'read' && sender === 'carol')
    expect(await alice.take(({ body }) => body.action === 'readByAll')).toMatchObject({
      sender: 'app_system',
      receiver: 'team',
      body: { messageId: id, user: { uid: 'app_system' } },
    })
    await bob.pong()
    expect(bob.frames).toEqual([])
  })

  it('is refused where it is not valid or not allowed, and the socket stays open', async () => {
    const world = await chatWorld('alice', 'bob')
    const alice = await connect(world, 'alice')
    const refused = async (frame: object) => {
      alice.send(frame)
      const { body } = await alice.takeType('error')
      return `${body.frame ?? ''} ${body.code}`
    }
    const to = { receiver: 'bob', receiverType: 'user' }
    expect(await refused({ ...to, type: 'typing_indicator', body: { action: 'paused' } })).toBe(
      'typing_indicator ERR_BAD_REQUEST',
    )
    expect(await refused({ receiverType: 'user', type: 'typing_indicator', body: { action: 'started' } })).toBe(
      'typing_indicator ERR_BAD_REQUEST',
    )
    expect(await refused({ ...to, type: 'typing_indicator' })).toBe('typing_indicator ERR_BAD_REQUEST')
    expect(await refused({ ...to, receiver: { $ne: '' }, type: 'transient_message', body: { data: 1 } })).toBe(
      'transient_message ERR_BAD_REQUEST',
    )
    expect(await refused({ ...to, type: 'transient_message', body: { data: 'a\0b' } })).toBe(
      'transient_message ERR_BAD_REQUEST',
    )
    expect(await refused({ ...to, type: 'receipts', body: { action: 'read', messageId: '1' } })).toBe(
      'receipts ERR_CONVERSATION_NOT_ACCESSIBLE',
    )
    expect(await refused({ ...to, receiver: 'nobody', type: 'receipts', body: { action: 'read', messageId: 1 } })).toBe(
      'receipts ERR_UID_NOT_FOUND',
    )
    expect(await refused({ ...to, type: 'message', body: { text: 'hi' } })).toBe('message ERR_BAD_REQUEST')
    expect(await refused({ type: 'auth', body: { auth: 'x' } })).toBe('auth ERR_BAD_REQUEST')
    expect(await refused({ type: 7 })).toBe(' ERR_BAD_REQUEST')
    expect(await refused({})).toBe(' ERR_BAD_REQUEST')
    await say(world, 'alice', 'bob', 'hi')
    await alice.takeText('hi')
    expect(await refused({ ...to, type: 'receipts', body: { action: 'read', messageId: '999999999' } })).toBe(
      'receipts ERR_MESSAGE_ID_NOT_FOUND',
    )
    await alice.pong()
  })
})

describe('a reaction', () => {
  it('is told with the user who gave it or took it back', async () => {
    const world = await chatWorld('alice', 'bob')
    const alice = await connect(world, 'alice')
    const { id: parentId } = await say(world, 'alice', 'bob', 'hi')
    const reply = dataOf(
      await world.post(
        '/messages',
        { receiver: 'bob', receiverType: 'user', data: { text: 'reply' }, parentId },
        { as: 'alice' },
      ),
    )
    for (const [method, action] of [
      ['POST', 'message_reaction_added'],
      ['DELETE', 'message_reaction_removed'],
    ] as const) {
      dataOf(await world.call(method, `/messages/${reply.id}/reactions/%F0%9F%91%8D`, undefined, { as: 'bob' }))
      const frame = await alice.takeType('reaction')
      const { lastActiveAt: _, ...reactedBy } = frame.body.reactedBy
      expect(reactedBy).toEqual(card('bob'))
      expect(frame).toEqual({
        appId: world.app.name,
        type: 'reaction',
        sender: 'bob',
        receiver: 'alice',
        receiverType: 'user',
        body: {
          action,
          id: expect.stringMatching(/^\d+$/),
          messageId: reply.id,
          reaction: '👍',
          uid: 'bob',
          reactedAt: expect.any(Number),
          reactedBy: expect.any(Object),
          conversationId: 'alice_user_bob',
          receiver: 'alice',
          receiverType: 'user',
          parentId,
        },
      })
    }
  })

  it('in a group names the group, and no thread where there is none', async () => {
    const world = await chatWorld('alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const alice = await connect(world, 'alice')
    const { id } = await sayInGroup(world, 'alice', 'team', 'hi')
    dataOf(await world.post(`/messages/${id}/reactions/x`, undefined, { as: 'bob' }))
    const { body } = await alice.takeType('reaction')
    expect(body).toMatchObject({ messageId: id, conversationId: 'group_team', receiver: 'team', receiverType: 'group' })
    expect(body).not.toHaveProperty('parentId')
  })
})
