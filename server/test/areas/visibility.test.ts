import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { groupText, importWell } from '../support/imports.ts'
import { connect } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** What one way of looking shows of a message. */
type Sight = 'seen' | 'hidden'

/** A message that bob looks for. */
interface Case {
  readonly world: World
  readonly id: string
  /** Who can quote and edit it. */
  readonly sender: string
  /** The peer or the group of its conversation, as paths name it. */
  readonly place: `users/${string}` | `groups/${string}`
}

/** Sends into the conversation of a case; a group takes it as it is, a peer's is with bob. */
async function sendInto({ world, sender, place }: Case, body: object) {
  const [kind, id] = place.split('/')
  const receiver = kind === 'groups' ? id : sender === 'bob' ? id : 'bob'
  return dataOf(
    await world.post(
      '/messages',
      { receiver, receiverType: kind === 'groups' ? 'group' : 'user', ...body },
      { as: sender },
    ),
  )
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at as a client would, without types
type Message = any

/** Everything that bob lists in a conversation, whatever refuses him the list. */
async function listed({ world, place }: Case, query = ''): Promise<Message[]> {
  const answer = await world.get(`/${place}/messages?limit=100${query}`, { as: 'bob' })
  return answer.status === 200 ? answer.body.data : []
}

const sight = (isSeen: boolean): Sight => (isSeen ? 'seen' : 'hidden')
const saysMore = (message: object | undefined): boolean => message !== undefined && 'data' in message

/** Every way of looking: does bob see the message? What is asked for by its id is what an unknown id is, or it is there. */
const ways: Readonly<Record<string, (at: Case) => Promise<Sight>>> = {
  async list(at) {
    return sight((await listed(at)).some(({ id }) => id === at.id))
  },
  async 'list of all'({ world, id }) {
    const answer = await world.get('/messages?limit=100', { as: 'bob' })
    return sight(answer.status === 200 && answer.body.data.some((message: Message) => message.id === id))
  },
  async 'by id'({ world, id }) {
    const answer = await world.get(`/messages/${id}`, { as: 'bob' })
    if (answer.status === 200) return 'seen'
    const unknown = await world.get('/messages/999999999999', { as: 'bob' })
    expect(JSON.stringify(answer.body)).toBe(JSON.stringify(unknown.body).replace('999999999999', id))
    return 'hidden'
  },
  async save({ world, id }) {
    return sight((await world.post(`/messages/${id}/save`, undefined, { as: 'bob' })).status === 200)
  },
  async 'unread count'(at) {
    const { world, place } = at
    dataOf(await world.post(`/${place}/conversation/read`, {}, { as: 'bob' }))
    const marked = await world.delete(`/${place}/conversation/read`, { messageId: at.id }, { as: 'bob' })
    if (marked.status === 404) return 'hidden'
    const { unreadMessageCount } = dataOf(await world.get(`/${place}/conversation`, { as: 'bob' }))
    const [counted] = (await world.get('/messages?unread=1&count=1', { as: 'bob' })).body.data ?? []
    if (counted !== undefined) expect(String(counted.count)).toBe(unreadMessageCount)
    const inList = await world.get('/conversations?unread=true', { as: 'bob' })
    expect(dataOf(inList)).toHaveLength(unreadMessageCount === '0' ? 0 : 1)
    return sight(unreadMessageCount !== '0')
  },
  async 'last message'({ world, place, id }) {
    const { lastMessage } = dataOf(await world.get(`/${place}/conversation`, { as: 'bob' }))
    const [first] = dataOf(await world.get('/conversations', { as: 'bob' }))
    expect(first?.lastMessage).toEqual(lastMessage)
    return sight(lastMessage?.id === id)
  },
  async thread(at) {
    await sendInto(at, { data: { text: 'reply' }, parentId: at.id })
    const threads = dataOf(await at.world.get('/threads', { as: 'bob' }))
    const answer = await at.world.get(`/messages/${at.id}/thread`, { as: 'bob' })
    const isFound = threads.some((thread: Message) => thread.id === at.id)
    if (!isFound) expect(answer.status === 200 ? answer.body.data : []).toEqual([])
    return sight(isFound)
  },
  async quote(at) {
    const quoting = await sendInto(at, {
      category: 'custom',
      type: 'quoting',
      data: { customData: { a: 1 } },
      quotedMessageId: at.id,
    })
    const found = (await listed(at)).find(({ id }) => id === quoting.id)
    return sight(saysMore(found?.quotedMessage))
  },
  async subject(at) {
    dataOf(await at.world.put(`/messages/${at.id}`, { tags: ['edited'] }, { as: at.sender }))
    const action = (await listed(at)).findLast(({ category, type }) => category === 'action' && type === 'message')
    return sight(saysMore(action?.data.entities.on.entity))
  },
  async frame(at) {
    const bob = await connect(at.world, 'bob')
    dataOf(await at.world.put(`/messages/${at.id}`, { tags: ['again'] }, { as: at.sender }))
    // Whatever hides the message, a typing indicator comes after it.
    const typist = await connect(at.world, at.sender)
    const [kind, id] = at.place.split('/')
    const receiver = kind === 'groups' ? id : 'bob'
    const body = { action: 'started' }
    typist.send({
      type: 'typing_indicator',
      receiver,
      receiverType: kind === 'groups' ? 'group' : 'user',
      sender: at.sender,
      body,
    })
    await bob.takeType('typing_indicator')
    const frames = bob.frames.filter(({ type }) => type === 'message')
    bob.close()
    typist.close()
    return sight(frames.some(({ body: { data } }) => saysMore(data.entities.on?.entity)))
  },
}

const limit = (path: string) => async (world: World, permissions: object) =>
  expect(dataOf(await world.put(path, { permissions }))).toMatchObject({ permissions })
const limitRole = limit('/roles/limited/permissions')
const limitScope = limit('/groups/team/scopes/participant/permissions')
const image = { type: 'image', data: { url: 'https://example.com/a.png' } }

async function createTeam(): Promise<World> {
  const world = await createWorld()
  dataOf(await world.post('/roles', { role: 'limited', name: 'Limited' }))
  await createUsers(world, 'alice', 'bob')
  dataOf(await world.put('/users/bob', { role: 'limited' }))
  await createGroup(world, 'team', 'alice', { participants: ['bob'] })
  return world
}

const talk = async (world: World, body: object = {}): Promise<Case> => {
  const { id } = await say(world, 'alice', 'bob', 'words', body)
  return { world, id, sender: 'alice', place: 'users/alice' }
}
const team = async (world: World, body: object = {}): Promise<Case> => {
  const { id } = await sayInGroup(world, 'alice', 'team', 'words', body)
  return { world, id, sender: 'alice', place: 'groups/team' }
}

/** What alice sends, one to one or to the group, and what is then set on bob's role or scope. */
const under =
  (sent: typeof talk, body: object, set: typeof limitRole, permissions: object) => async (): Promise<Case> => {
    const at = await sent(await createTeam(), body)
    await set(at.world, permissions)
    return at
  }
const ofRole = (sent: typeof talk, permissions: object, body = {}) => under(sent, body, limitRole, permissions)
const ofScope = (permissions: object, body = {}) => under(team, body, limitScope, permissions)

const key = (name: string, value: unknown) => ({ [`listMessages.${name}`]: value })

/** By rule: whether bob sees a message, and what makes it. A new rule adds a line. */
const rules: ReadonlyArray<readonly [rule: string, expected: Sight, make: () => Promise<Case>]> = [
  ['one to one, nothing set', 'seen', async () => talk(await createTeam())],
  ['in a group, nothing set', 'seen', async () => team(await createTeam())],
  ['role: listMessages denied, one to one', 'hidden', ofRole(talk, { listMessages: 'deny' })],
  ['role: listMessages denied, in a group', 'hidden', ofRole(team, { listMessages: 'deny' })],
  ['role: groups only, one to one', 'hidden', ofRole(talk, key('allowedReceiverTypes', ['group']))],
  ['role: groups only, in a group', 'seen', ofRole(team, key('allowedReceiverTypes', ['group']))],
  ['role: senders of another role only', 'hidden', ofRole(team, key('allowedSenderRoles', ['limited']))],
  ['role: senders of this role only', 'seen', ofRole(team, key('allowedSenderRoles', ['default']))],
  ['role: friends only, from a stranger', 'hidden', ofRole(talk, key('mode', 'friends'))],
  [
    'role: friends only, from a friend',
    'seen',
    async () => {
      const at = await ofRole(talk, key('mode', 'friends'))()
      dataOf(await at.world.post('/users/alice/friends', { accepted: ['bob'] }))
      return at
    },
  ],
  ['role: another category only', 'hidden', ofRole(talk, key('allowedMessageCategories', ['custom']))],
  ['role: another type only', 'hidden', ofRole(talk, key('allowedMessageTypes', ['text']), image)],
  ['role: this type among others', 'seen', ofRole(talk, key('allowedMessageTypes', ['image', 'text']), image)],
  ['scope: another category only', 'hidden', ofScope(key('allowedMessageCategories', ['custom']))],
  ['scope: another type only', 'hidden', ofScope(key('allowedMessageTypes', ['text']), image)],
  ['scope: this type among others', 'seen', ofScope(key('allowedMessageTypes', ['image', 'text']), image)],
  [
    'scope: no history, from just before joining',
    'hidden',
    async () => {
      const world = await createTeam()
      dataOf(await world.delete('/groups/team/members/bob'))
      await limitScope(world, { 'listMessages.historyBeforeJoin': 'deny' })
      const at = await team(world)
      dataOf(await world.post('/groups/team/members', { participants: ['bob'] }))
      return at
    },
  ],
  [
    'scope: no history, from just after joining',
    'seen',
    async () => {
      const world = await createTeam()
      dataOf(await world.delete('/groups/team/members/bob'))
      await limitScope(world, { 'listMessages.historyBeforeJoin': 'deny' })
      dataOf(await world.post('/groups/team/members', {}, { as: 'bob' }))
      return team(world)
    },
  ],
  [
    'a reset, one to one',
    'hidden',
    async () => {
      const at = await talk(await createTeam())
      dataOf(await at.world.delete('/users/alice/conversation', { preserveOrder: true }, { as: 'bob' }))
      return at
    },
  ],
  [
    'a reset, in a group',
    'hidden',
    async () => {
      const at = await team(await createTeam())
      dataOf(await at.world.delete('/groups/team/conversation', { preserveOrder: true }, { as: 'bob' }))
      return at
    },
  ],
  [
    'a reset, and imported after it with an earlier time',
    'hidden',
    async () => {
      const world = await createTeam()
      await say(world, 'alice', 'bob', 'old')
      await sayInGroup(world, 'alice', 'team', 'old')
      dataOf(await world.delete('/groups/team/conversation', { preserveOrder: true }, { as: 'bob' }))
      const now = Math.floor(Date.now() / 1000)
      const { late } = await importWell(world, 'messages', [groupText('late', 'alice', 'team', now - 1)])
      return { world, id: late.id, sender: 'alice', place: 'groups/team' }
    },
  ],
]

describe('What somebody sees', () => {
  it.each(rules)('%s: %s', async (_, expected, make) => {
    const outcomes: Record<string, Sight> = {}
    for (const [way, look] of Object.entries(ways)) outcomes[way] = await look(await make())
    expect(outcomes).toEqual(Object.fromEntries(Object.keys(ways).map((way) => [way, expected])))
  })

  it('who takes no part in a conversation is told of nothing in it', async () => {
    const world = await createTeam()
    await createUsers(world, 'carol')
    const [one, other] = [await talk(world), await team(world)]
    for (const { id } of [one, other]) {
      expect(refusal(await world.get(`/messages/${id}`, { as: 'carol' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    }
    expect(dataOf(await world.get('/messages', { as: 'carol' }))).toEqual([])
  })
})
