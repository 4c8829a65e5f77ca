import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { firstCursor } from '../support/events.ts'
import { connect, eventually, tokenOf } from '../support/socket.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

/** What is left of a user of whom nothing may come to the next one with the uid. */
interface Trace {
  readonly what: string
  /** Leaves it, while `alice` is a participant of the public group `team` of bob, with carol. */
  leave(world: World): Promise<unknown>
  /** Looks for it, when `alice` is somebody else, who is in no group. @param left as `leave` gave it */
  // biome-ignore lint/suspicious/noExplicitAny: each row knows what it left
  look(world: World, left: any): Promise<void>
}

const removeForGood = (world: World, uid: string) => world.delete(`/users/${uid}`, { permanent: true })
const join = async (world: World) =>
  dataOf(await world.post('/groups/team/members', { participants: ['alice'] })).participants.alice
const idsOf = (answer: Answer): string[] => dataOf(answer).map(({ id }: { id: string }) => id)
const deleted = { uid: 'alice', name: 'Deleted user' }

/** Later features add a row each. */
const traces: Trace[] = [
  {
    what: 'messages in groups, which stay those of a deleted user',
    leave: (world) => sayInGroup(world, 'alice', 'team', 'old'),
    async look(world, { id }) {
      const page = dataOf(await world.get('/groups/team/messages', { as: 'bob' }))
      const single = dataOf(await world.get(`/messages/${id}`))
      const quoting = await sayInGroup(world, 'bob', 'team', 'see', { quotedMessageId: id })
      const { lastMessage } = dataOf(await world.get('/groups/team/conversation', { as: 'bob' }))
      expect(lastMessage.id).toBe(quoting.id)
      for (const message of [page.find((one: { id: string }) => one.id === id), single, quoting.quotedMessage]) {
        expect(message.sender).toBe('alice')
        expect(message.data.entities.sender.entity).toEqual(deleted)
      }
      dataOf(await world.delete(`/messages/${quoting.id}`, { permanent: true }))
      expect(dataOf(await world.get('/users/alice/messages'))).toEqual([])
      expect(idsOf(await world.get('/messages?sender=alice'))).toEqual([])
    },
  },
  {
    what: 'the right to edit and delete them',
    leave: (world) => sayInGroup(world, 'alice', 'team', 'old'),
    async look(world, { id }) {
      await join(world)
      const edit = await world.put(`/messages/${id}`, { data: { text: 'forged' } }, { as: 'alice' })
      expect(refusal(edit)).toBe('403 ERR_MESSAGE_NOT_A_SENDER')
      expect((await world.delete(`/messages/${id}`, undefined, { as: 'alice' })).status).toBe(403)
      expect(dataOf(await world.get(`/messages/${id}`)).data.text).toBe('old')
    },
  },
  {
    what: 'muids',
    leave: (world) => sayInGroup(world, 'alice', 'team', 'old', { muid: 'm1' }),
    async look(world, { id }) {
      await join(world)
      const sent = await sayInGroup(world, 'alice', 'team', 'new', { muid: 'm1' })
      expect(sent.id).not.toBe(id)
      expect(sent.data.text).toBe('new')
    },
  },
  {
    what: 'action messages',
    leave: (world) => world.delete('/groups/team/members', undefined, { as: 'alice' }),
    async look(world) {
      const [left] = dataOf(await world.get('/groups/team/messages', { as: 'bob' })).slice(-1)
      expect(left).toMatchObject({ sender: 'alice', data: { action: 'left', entities: { on: { entity: deleted } } } })
    },
  },
  {
    what: 'mentions',
    leave: (world) => sayInGroup(world, 'bob', 'team', 'hello <@uid:alice>'),
    async look(world, { id }) {
      await join(world)
      expect(dataOf(await world.get(`/messages/${id}`, { as: 'bob' })).data).not.toHaveProperty('mentions')
      expect(idsOf(await world.get('/messages?myMentionsOnly=true', { as: 'alice' }))).toEqual([])
    },
  },
  {
    what: 'threads: started, replied in, followed',
    async leave(world) {
      const { id: started } = await sayInGroup(world, 'alice', 'team', 'old')
      await sayInGroup(world, 'bob', 'team', 'reply', { parentId: started })
      const { id: answered } = await sayInGroup(world, 'bob', 'team', 'other')
      await sayInGroup(world, 'alice', 'team', 'reply', { parentId: answered })
    },
    async look(world) {
      await join(world)
      expect(idsOf(await world.get('/threads?participatedByMe=true', { as: 'alice' }))).toEqual([])
      const threads = dataOf(await world.get('/threads', { as: 'alice' }))
      expect(threads.map(({ subscribed }: { subscribed: boolean }) => subscribed)).toEqual([false, false])
    },
  },
  {
    what: 'reactions',
    async leave(world) {
      const message = await sayInGroup(world, 'bob', 'team', 'old')
      dataOf(await world.post(`/messages/${message.id}/reactions/x`, undefined, { as: 'alice' }))
      return message
    },
    async look(world, { id }) {
      await join(world)
      expect(dataOf(await world.get(`/messages/${id}`, { as: 'alice' })).data).not.toHaveProperty('reactions')
    },
  },
  {
    what: 'pinned and saved messages',
    async leave(world) {
      const { id } = await sayInGroup(world, 'bob', 'team', 'old')
      dataOf(await world.post(`/messages/${id}/save`, undefined, { as: 'alice' }))
    },
    async look(world) {
      await join(world)
      expect(idsOf(await world.get('/messages?saved=true', { as: 'alice' }))).toEqual([])
    },
  },
  {
    what: 'marks, counts and pins of conversations',
    async leave(world) {
      await say(world, 'bob', 'alice', 'old')
      await sayInGroup(world, 'bob', 'team', 'old')
      dataOf(await world.post('/groups/team/conversation/pin', undefined, { as: 'alice' }))
      dataOf(await world.post('/groups/team/conversation/read', undefined, { as: 'alice' }))
    },
    async look(world) {
      expect(dataOf(await world.get('/conversations', { as: 'alice' }))).toEqual([])
      await join(world)
      await sayInGroup(world, 'bob', 'team', 'new')
      const [conversation, ...others] = dataOf(await world.get('/conversations', { as: 'alice' }))
      expect(others).toEqual([])
      expect(conversation).toMatchObject({ conversationId: 'group_team', unreadMessageCount: '1' })
      expect(conversation).not.toHaveProperty('pinnedAt')
    },
  },
  {
    what: 'what was said one-to-one',
    leave: (world) => say(world, 'bob', 'alice', 'old'),
    async look(world) {
      await say(world, 'bob', 'alice', 'new')
      expect(texts(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual(['new'])
    },
  },
  {
    what: 'blocks, of theirs and of others, over REST and sockets',
    async leave(world) {
      dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['carol'] }))
      dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
      // What sockets keep in memory of blocks is read now.
      await say(world, 'bob', 'carol', 'first')
      const [bob, carol] = [await connect(world, 'bob'), await connect(world, 'carol')]
      bob.send({ receiver: 'carol', receiverType: 'user', type: 'typing_indicator', body: { action: 'started' } })
      await carol.takeType('typing_indicator')
      carol.close()
      return bob
    },
    async look(world, bob) {
      expect(dataOf(await world.get('/users/alice/blockedusers'))).toEqual([])
      expect(dataOf(await world.get('/users/bob/blockedusers'))).toEqual([])
      await say(world, 'alice', 'carol', 'hello')
      const alice = await connect(world, 'alice')
      bob.send({ receiver: 'alice', receiverType: 'user', type: 'typing_indicator', body: { action: 'started' } })
      await alice.takeType('typing_indicator')
      alice.close()
      bob.close()
    },
  },
  {
    what: 'friends',
    leave: (world) => world.post('/users/bob/friends', { accepted: ['alice'] }),
    async look(world) {
      expect(dataOf(await world.get('/users/bob/friends'))).toEqual([])
      expect(dataOf(await world.get('/users/alice/friends'))).toEqual([])
    },
  },
  {
    what: 'tokens',
    leave: (world) => tokenOf(world, 'alice'),
    async look(world, token) {
      expect(refusal(await world.get('/me', { token }))).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    },
  },
  {
    what: 'memberships, groups owned and cached audiences',
    async leave(world) {
      await createGroup(world, 'own', 'alice', { participants: ['bob'] })
      const alice = await connect(world, 'alice')
      await sayInGroup(world, 'bob', 'team', 'old')
      await alice.takeText('old')
    },
    async look(world) {
      expect(dataOf(await world.get('/groups/own')).owner).toBe('app_system')
      expect(refusal(await world.get('/groups/team/messages', { as: 'alice' }))).toBe('403 ERR_GROUP_NOT_JOINED')
      const [alice, carol] = [await connect(world, 'alice'), await connect(world, 'carol')]
      await sayInGroup(world, 'bob', 'team', 'new')
      await carol.takeText('new')
      await alice.pong()
      expect(alice.frames).toEqual([])
      alice.close()
      carol.close()
    },
  },
  {
    what: 'receipts of what they wrote, over sockets',
    async leave(world) {
      const message = await sayInGroup(world, 'alice', 'team', 'old')
      const alice = await connect(world, 'alice')
      dataOf(await world.post('/groups/team/conversation/delivered', undefined, { as: 'carol' }))
      await alice.takeType('receipts')
      return message
    },
    async look(world, { id }) {
      await join(world)
      const alice = await connect(world, 'alice')
      dataOf(await world.post(`/groups/team/conversation/read`, { messageId: id }, { as: 'carol' }))
      await sayInGroup(world, 'bob', 'team', 'new')
      await alice.takeText('new')
      expect(alice.frames.filter(({ type }: { type: string }) => type === 'receipts')).toEqual([])
      alice.close()
    },
  },
  {
    what: 'events that tell of them',
    async leave(world) {
      const cursor = await firstCursor(world)
      dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
      return cursor
    },
    async look(world, cursor) {
      dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
      const ask = async () =>
        dataOf(await world.get(`/events?after=${cursor}`))
          .filter(({ trigger }: { trigger: string }) => trigger === 'user_blocked')
          .map(({ data }: { data: { users: Record<string, { name: string }> } }) => data.users.alice?.name)
      expect(await eventually(ask, (names) => names.length === 2)).toEqual(['Deleted user', 'Somebody else'])
    },
  },
  {
    what: 'the audit log',
    async leave(world) {
      await createGroup(world, 'own', 'alice')
      dataOf(await world.post('/groups/own/bannedusers/carol', undefined, { as: 'alice' }))
      dataOf(await world.post('/users/alice/auth_tokens'))
    },
    async look(world) {
      expect(dataOf(await world.get('/audit-log?uid=alice'))).toEqual([])
      expect(dataOf(await world.get('/audit-log?target=alice'))).toEqual([])
      const [entry] = dataOf(await world.get('/audit-log?action=user_deleted'))
      expect(entry.target.id).toBe('alice~1')
    },
  },
]

const ways = {
  'POST /users': (world: World) => world.post('/users', { uid: 'alice', name: 'Somebody else' }),
  'an import': (world: World) =>
    world.post('/data_import/users', { users: [{ uid: 'alice', name: 'Somebody else', recreate: true }] }),
}

const createTeam = async () => {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  await createGroup(world, 'team', 'bob', { participants: ['alice', 'carol'] })
  return world
}

describe('who is given the uid of somebody who was deleted for good', () => {
  it.each(traces)('has nothing of theirs: $what', async ({ leave, look }) => {
    const world = await createTeam()
    const left = await leave(world)
    dataOf(await removeForGood(world, 'alice'))
    dataOf(await ways['POST /users'](world))
    await look(world, left)
  })

  it.each(Object.entries(ways))('is another person by %s, each time anew', async (_, make) => {
    const world = await createTeam()
    for (const text of ['one', 'two']) {
      await sayInGroup(world, 'alice', 'team', text, { muid: 'm' })
      dataOf(await removeForGood(world, 'alice'))
      dataOf(await make(world))
      await join(world)
    }
    await sayInGroup(world, 'alice', 'team', 'three', { muid: 'm' })
    const said = dataOf(await world.get('/groups/team/messages?category=message', { as: 'bob' })).map(
      ({ sender, data }: { sender: string; data: { text: string; entities: { sender: { entity: object } } } }) => [
        sender,
        data.text,
        (data.entities.sender.entity as { name: string }).name,
      ],
    )
    expect(said).toEqual([
      ['alice', 'one', 'Deleted user'],
      ['alice', 'two', 'Deleted user'],
      ['alice', 'three', 'Somebody else'],
    ])
  })

  it('stays banned where they were', async () => {
    const world = await createTeam()
    dataOf(await world.post('/groups/team/bannedusers/alice', undefined, { as: 'bob' }))
    dataOf(await removeForGood(world, 'alice'))
    dataOf(await ways['POST /users'](world))
    expect(refusal(await world.post('/groups/team/members', undefined, { as: 'alice' }))).toBe(
      '403 ERR_BANNED_GROUPMEMBER',
    )
    expect(dataOf(await world.get('/groups/team/bannedusers')).map(({ uid }: { uid: string }) => uid)).toEqual([
      'alice',
    ])
    dataOf(await world.delete('/groups/team/bannedusers/alice', undefined, { as: 'bob' }))
    expect((await join(world)).success).toBe(true)
  })

  it('is made with a fullAccess key only', async () => {
    const world = await createTeam()
    dataOf(await removeForGood(world, 'alice'))
    const body = { uid: 'Alice', name: 'Somebody else' }
    expect(refusal(await world.post('/users', body, { headers: { apikey: world.authKey } }))).toBe(
      '409 ERR_UID_ALREADY_EXISTS',
    )
    expect(refusal(await world.get('/users/alice'))).toBe('404 ERR_UID_NOT_FOUND')
    dataOf(await world.post('/users', body))
  })
})
