import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createGroup, dataOf, say, sayInGroup, texts } from '../support/chat.ts'
import { startService } from '../support/service.ts'
import { type Client, connect, tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const chatWorld = async (...uids: string[]): Promise<World> => {
  const world = await createWorld()
  await createUsers(world, ...uids)
  return world
}

const typing = (receiver: string, receiverType = 'user') => ({
  receiver,
  receiverType,
  type: 'typing_indicator',
  body: { action: 'started' },
})

/** Whoever is told of a thing is told in one go, so this client was not when another was. */
async function expectNothing(client: Client): Promise<void> {
  await client.pong()
  expect(client.frames).toEqual([])
}

describe('between users one of whom has blocked the other', () => {
  it.each(['alice', 'bob'])(
    'nothing is told when %s did it: typing, transient messages, receipts, edits',
    async (blocker) => {
      const world = await chatWorld('alice', 'bob')
      const { id } = await say(world, 'alice', 'bob', 'before')
      const { id: own } = await say(world, 'bob', 'alice', 'mine')
      const [alice, tab, bob] = [
        await connect(world, 'alice', { deviceId: 'phone' }),
        await connect(world, 'alice', { deviceId: 'tab' }),
        await connect(world, 'bob'),
      ]
      // What was known before counts no more.
      alice.send(typing('bob'))
      await bob.takeType('typing_indicator')
      await tab.takeType('typing_indicator')
      const code = blocker === 'alice' ? 'ERR_BLOCKED_RECEIVER' : 'ERR_BLOCKED_SENDER'
      const blocked = blocker === 'alice' ? 'bob' : 'alice'
      dataOf(await world.post(`/users/${blocker}/blockedusers`, { blockedUids: [blocked] }))

      alice.send(typing('bob'))
      expect((await alice.takeType('error')).body.code).toBe(code)
      alice.send({ ...typing('bob'), type: 'transient_message', body: { data: 1 } })
      expect((await alice.takeType('error')).body.code).toBe(code)
      alice.send({ ...typing('bob'), type: 'receipts', body: { action: 'read', messageId: own } })
      await tab.takeType('receipts')
      dataOf(await world.put(`/messages/${id}`, { data: { text: 'edited by the app' } }))
      await tab.takeType('message')
      await expectNothing(bob)

      dataOf(await world.delete(`/users/${blocker}/blockedusers`, { blockedUids: [blocked] }))
      alice.send(typing('bob'))
      await bob.takeType('typing_indicator')
      dataOf(await world.put(`/messages/${id}`, { data: { text: 'edited again' } }, { as: 'alice' }))
      expect((await bob.takeType('message')).body.data.action).toBe('edited')
    },
  )

  it('in a group, messages are told as lists show them, and typing is not', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const [alice, bob, carol] = [
      await connect(world, 'alice'),
      await connect(world, 'bob'),
      await connect(world, 'carol'),
    ]
    const hiding = await connect(world, 'bob', { deviceId: 'hiding', body: { hideMessagesFromBlockedUsers: true } })
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    alice.send(typing('team', 'group'))
    await carol.takeType('typing_indicator')
    await expectNothing(bob)
    bob.send(typing('team', 'group'))
    await carol.takeType('typing_indicator')
    await hiding.takeType('typing_indicator')
    await expectNothing(alice)
    await sayInGroup(world, 'alice', 'team', 'from the blocked')
    await bob.takeText('from the blocked')
    await carol.takeText('from the blocked')
    await expectNothing(hiding)
    await sayInGroup(world, 'carol', 'team', 'from another')
    await hiding.takeText('from another')
    expect(hiding.frames).toEqual([])
  })

  it('in a group, sockets that hide the blocked are not told what others quote, change and pin of theirs', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'carol', { participants: ['alice', 'bob'] })
    const { id } = await sayInGroup(world, 'alice', 'team', 'from the blocked')
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    const bob = await connect(world, 'bob')
    const hiding = await connect(world, 'bob', { deviceId: 'hiding', body: { hideMessagesFromBlockedUsers: true } })
    await sayInGroup(world, 'carol', 'team', 'so they say', { quotedMessageId: id })
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'changed' } }))
    dataOf(await world.post(`/messages/${id}/reactions/ok`, undefined, { as: 'carol' }))
    dataOf(await world.post(`/messages/${id}/pin`, undefined, { as: 'carol' }))
    await sayInGroup(world, 'carol', 'team', 'last')
    expect((await bob.takeText('so they say')).body.quotedMessage.data.text).toBe('from the blocked')
    expect((await bob.takeType('message')).body.data.action).toBe('edited')
    await bob.takeType('reaction')
    expect((await bob.takeType('message_pin')).body.message.data.text).toBe('changed')
    expect((await hiding.takeText('so they say')).body.quotedMessage).toBeUndefined()
    await hiding.takeText('last')
    expect(hiding.frames).toEqual([])
  })
})

describe('of a group', () => {
  const out: Record<string, (world: World) => Promise<unknown>> = {
    kicked: (world) => world.delete('/groups/team/members/bob', undefined, { as: 'alice' }),
    banned: (world) => world.post('/groups/team/bannedusers/bob', undefined, { as: 'alice' }),
    'banned by a list': (world) => world.post('/groups/team/members', { usersToBan: ['bob'] }, { as: 'alice' }),
    gone: (world) => world.delete('/groups/team/members', undefined, { as: 'bob' }),
  }

  /** alice, bob on two devices and carol in a group, each of whom has received what bob said. */
  const openTeam = async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const [alice, phone, tab, carol] = [
      await connect(world, 'alice'),
      await connect(world, 'bob', { deviceId: 'phone' }),
      await connect(world, 'bob', { deviceId: 'tab' }),
      await connect(world, 'carol'),
    ]
    const { id } = await sayInGroup(world, 'bob', 'team', 'in')
    for (const client of [alice, phone, tab, carol]) await client.takeText('in')
    return { world, id, alice, carol, bobs: [phone, tab] }
  }

  it.each(Object.keys(out))('nothing reaches somebody who is %s, but that they are out', async (way) => {
    const { world, id, alice, carol, bobs } = await openTeam()
    const answer = (await out[way]?.(world)) as { status: number }
    expect(answer.status).toBe(200)
    await sayInGroup(world, 'alice', 'team', 'without bob')
    await carol.takeText('without bob')
    carol.send(typing('team', 'group'))
    await alice.takeType('typing_indicator')
    carol.send({ ...typing('team', 'group'), type: 'receipts', body: { action: 'read', messageId: id } })
    dataOf(await world.post(`/messages/${id}/reactions/x`, undefined, { as: 'carol' }))
    await alice.takeType('reaction')
    for (const bob of bobs) {
      const action = way === 'gone' ? 'left' : way === 'kicked' ? 'kicked' : 'banned'
      expect((await bob.takeType('message')).body).toMatchObject({ category: 'action', data: { action } })
      await expectNothing(bob)
    }
    bobs[0]?.send(typing('team', 'group'))
    expect((await bobs[0]?.takeType('error'))?.body.code).toMatch(/^ERR_(GROUP_NOT_JOINED|BANNED_GROUPMEMBER)$/)
  })

  it('whoever leaves with one device is told so on the other ones', async () => {
    const { world, alice, bobs } = await openTeam()
    const [phone, tab] = bobs as [Client, Client]
    const headers = { resource: 'phone' }
    dataOf(await world.delete('/groups/team/members', undefined, { token: await tokenOf(world, 'bob'), headers }))
    const stored = await alice.takeType('message')
    expect(stored.body.data).toMatchObject({ action: 'left', entities: { on: { entity: { uid: 'bob' } } } })
    expect((await tab.takeType('message')).body).toEqual(stored.body)
    await expectNothing(phone)
  })

  it.each(['kicked', 'banned'])('the action message is what somebody who is %s hears too', async (way) => {
    const { world, carol, bobs } = await openTeam()
    await out[way]?.(world)
    const stored = await carol.takeType('message')
    expect(stored.body.data).toMatchObject({ action: way, entities: { on: { entity: { uid: 'bob' } } } })
    for (const bob of bobs) expect(await bob.takeType('message')).toEqual(stored)
  })

  it('somebody who is banned without having been a member hears nothing of it', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['carol'] })
    const [bob, carol] = [await connect(world, 'bob'), await connect(world, 'carol')]
    dataOf(await world.post('/groups/team/bannedusers/bob', undefined, { as: 'alice' }))
    await carol.take(({ body }) => body.data?.action === 'banned')
    await expectNothing(bob)
  })

  it('those who are given when it is made hear that they were added, before anything else, and it is not stored', async () => {
    const world = await chatWorld('alice', 'bob', 'carol', 'mallory')
    const clientOf = (uid: string) => connect(world, uid)
    const [alice, bob, carol, mallory] = [
      await clientOf('alice'),
      await clientOf('bob'),
      await clientOf('carol'),
      await clientOf('mallory'),
    ]
    const members = { admins: ['bob'], participants: ['carol'], usersToBan: ['mallory'] }
    dataOf(await world.post('/groups', { guid: 'team', name: 'Team', type: 'private', members }, { as: 'alice' }))
    const said = await sayInGroup(world, 'alice', 'team', 'welcome')
    for (const [uid, client] of Object.entries({ bob, carol })) {
      const { body, ...head } = await client.takeType('message')
      expect(head).toMatchObject({ sender: 'alice', receiver: 'team', receiverType: 'group' })
      expect(body).toMatchObject({
        conversationId: 'group_team',
        category: 'action',
        type: 'groupMember',
        data: {
          action: 'added',
          entities: {
            by: { entity: { uid: 'alice' }, entityType: 'user' },
            on: { entity: { uid }, entityType: 'user' },
            for: { entity: { guid: 'team', membersCount: 3 }, entityType: 'group' },
          },
        },
      })
      expect(Number(body.id)).toBeLessThan(Number(said.id))
      expect((await client.takeType('message')).body).toEqual(said)
      await expectNothing(client)
    }
    await alice.takeText('welcome')
    await expectNothing(alice)
    await expectNothing(mallory)
    expect(texts(await world.get('/groups/team/messages', { as: 'bob' }))).toEqual(['welcome'])
  })

  it('nothing is told when it is deleted, nor of one that is made anew under its name', async () => {
    const world = await chatWorld('alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const [alice, bob] = [await connect(world, 'alice'), await connect(world, 'bob')]
    await sayInGroup(world, 'alice', 'team', 'old')
    await alice.takeText('old')
    await bob.takeText('old')
    dataOf(await world.delete('/groups/team', undefined))
    await createGroup(world, 'team', 'alice')
    await sayInGroup(world, 'alice', 'team', 'new')
    await alice.takeText('new')
    await expectNothing(bob)
  })

  it('those who come back, or connect later, hear what is said from then on', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const alice = await connect(world, 'alice')
    await sayInGroup(world, 'alice', 'team', 'one')
    await alice.takeText('one')
    const bob = await connect(world, 'bob')
    const carol = await connect(world, 'carol')
    await sayInGroup(world, 'alice', 'team', 'two')
    await bob.takeText('two')
    dataOf(await world.delete('/groups/team/members/bob', undefined, { as: 'alice' }))
    dataOf(await world.post('/groups/team/members', {}, { as: 'carol' }))
    await carol.take(({ body }) => body.category === 'action')
    await sayInGroup(world, 'alice', 'team', 'three')
    await carol.takeText('three')
    dataOf(await world.post('/groups/team/members', { participants: ['bob'] }))
    for (const action of ['kicked', 'added']) expect((await bob.takeType('message')).body.data.action).toBe(action)
    await sayInGroup(world, 'alice', 'team', 'four')
    await bob.takeText('four')
    expect(bob.frames).toEqual([])
  })
})

describe('of another app', () => {
  it('nothing is told, whatever users and groups are called', async () => {
    const [mine, other] = [await chatWorld('alice', 'bob'), await chatWorld('alice', 'bob')]
    for (const world of [mine, other]) await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const [bob, stranger] = [await connect(mine, 'bob'), await connect(other, 'bob')]
    const alice = await connect(mine, 'alice')
    await say(mine, 'alice', 'bob', 'hi')
    await sayInGroup(mine, 'alice', 'team', 'hi team')
    alice.send(typing('bob'))
    await bob.takeText('hi')
    await bob.takeText('hi team')
    await bob.takeType('typing_indicator')
    await expectNothing(stranger)
  })
})

describe('a role that may not write to somebody', () => {
  it('cannot type to him either', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    dataOf(await world.post('/roles', { role: 'shy', name: 'Shy' }))
    dataOf(await world.put('/roles/shy/permissions', { permissions: { 'sendMessage.mode': 'friends' } }))
    dataOf(await world.put('/users/alice', { role: 'shy' }))
    dataOf(await world.post('/users/alice/friends', { accepted: ['carol'] }))
    const [alice, bob, carol] = [
      await connect(world, 'alice'),
      await connect(world, 'bob'),
      await connect(world, 'carol'),
    ]
    alice.send(typing('bob'))
    expect((await alice.takeType('error')).body.code).toBe('ERR_PERMISSION_DENIED')
    alice.send(typing('carol'))
    await carol.takeType('typing_indicator')
    await expectNothing(bob)
  })
})

describe('what a role or a scope hides in lists', () => {
  const poll = { category: 'custom', type: 'poll', data: { customData: { question: '?' } } }

  it('is not told either, to those whom it is hidden from', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    dataOf(await world.post('/roles', { role: 'reader', name: 'Reader' }))
    const key = 'listMessages.allowedMessageCategories'
    const set = dataOf(await world.put('/roles/reader/permissions', { permissions: { [key]: ['message'] } }))
    expect(set[key].success).toBe(true)
    dataOf(await world.put('/users/bob', { role: 'reader' }))
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const [bob, carol] = [await connect(world, 'bob'), await connect(world, 'carol')]
    for (const [receiver, receiverType] of [
      ['team', 'group'],
      ['bob', 'user'],
    ]) {
      const { id } = dataOf(await world.post('/messages', { receiver, receiverType, ...poll }, { as: 'alice' }))
      dataOf(await world.post(`/messages/${id}/reactions/x`, undefined, { as: 'alice' }))
      dataOf(await world.post('/messages', { receiver, receiverType, data: { text: 'plain' } }, { as: 'alice' }))
      await bob.takeText('plain')
      expect(bob.frames).toEqual([])
    }
    await carol.take(({ body }) => body.type === 'poll')
    await carol.takeType('reaction')
    dataOf(await world.delete(`/roles/reader/permissions/${key}`))
    dataOf(await world.post('/messages', { receiver: 'bob', receiverType: 'user', ...poll }, { as: 'alice' }))
    await bob.take(({ body }) => body.type === 'poll')
  })

  it('is told, or not, from the answer to what changes it, however late other processes hear of that', async () => {
    const service = await startService()
    onTestFinished(() => service.parley.close())
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.post('/roles', { role: 'reader', name: 'Reader' }))
    dataOf(await world.put('/users/bob', { role: 'reader' }))
    const bob = await connect(world, 'bob')
    const ask = async () =>
      dataOf(await world.post('/messages', { receiver: 'bob', receiverType: 'user', ...poll }, { as: 'alice' }))
    await ask()
    await bob.take(({ body }) => body.type === 'poll')
    vi.spyOn(world.context.invalidation, 'announce').mockResolvedValue()
    const key = 'listMessages.allowedMessageCategories'
    dataOf(await world.put('/roles/reader/permissions', { permissions: { [key]: ['message'] } }))
    await ask()
    await say(world, 'alice', 'bob', 'plain')
    await bob.takeText('plain')
    expect(bob.frames).toEqual([])
    dataOf(await world.delete(`/roles/reader/permissions/${key}`))
    await ask()
    await bob.take(({ body }) => body.type === 'poll')
  })

  it('of a group, by its scopes', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob'], moderators: ['carol'] })
    const permissions = { 'listMessages.allowedMessageCategories': 'message', listReactions: 'deny' }
    dataOf(await world.put('/groups/team/scopes/participant/permissions', { permissions }))
    const [bob, carol] = [await connect(world, 'bob'), await connect(world, 'carol')]
    dataOf(await world.post('/messages', { receiver: 'team', receiverType: 'group', ...poll }, { as: 'alice' }))
    await carol.take(({ body }) => body.type === 'poll')
    const { id } = await sayInGroup(world, 'alice', 'team', 'plain')
    dataOf(await world.post(`/messages/${id}/reactions/x`, undefined, { as: 'alice' }))
    await carol.takeType('reaction')
    await bob.takeText('plain')
    await expectNothing(bob)
  })

  it('of a group, by what its scopes are set to at the moment', async () => {
    const world = await chatWorld('alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const bob = await connect(world, 'bob')
    const ask = async () =>
      dataOf(await world.post('/messages', { receiver: 'team', receiverType: 'group', ...poll }, { as: 'alice' }))
    const key = 'listMessages.allowedMessageCategories'
    for (let round = 0; round < 3; round++) {
      await ask()
      await bob.take(({ body }) => body.type === 'poll')
      const permissions = { [key]: 'message' }
      dataOf(await world.put('/groups/team/scopes/participant/permissions', { permissions }))
      await ask()
      await sayInGroup(world, 'alice', 'team', 'plain')
      await bob.takeText('plain')
      expect(bob.frames).toEqual([])
      dataOf(await world.delete(`/groups/team/scopes/participant/permissions/${key}`))
    }
  })
})

describe('what is known of members is dropped while something is said', () => {
  it('and nothing that is said is lost', async () => {
    const service = await startService()
    const own = await createWorld(service)
    await createUsers(own, 'alice', 'bob')
    await createGroup(own, 'team', 'alice', { participants: ['bob'] })
    const bob = await connect(own, 'bob')
    const said: string[] = []
    let isOver = false
    // As after a line to other processes that was cut.
    const dropping = (async () => {
      while (!isOver) await service.parley.sockets.resync()
    })()
    for (let n = 0; n < 40; n++) {
      said.push(`message ${n}`)
      await sayInGroup(own, 'alice', 'team', `message ${n}`)
    }
    isOver = true
    await dropping
    await sayInGroup(own, 'alice', 'team', 'the last')
    await bob.takeText('the last')
    expect(bob.frames.flatMap(({ type, body }) => (type === 'message' ? [body.data.text] : []))).toEqual(said)
    await service.parley.close()
  })
})
