import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { blockMessage } from '../../src/areas/messages/index.ts'
import { traits } from '../../src/chat/messages/traits.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { addRules } from '../support/held.ts'
import { groupText, importWell } from '../support/imports.ts'
import { connect } from '../support/socket.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

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
  /** Nobody can do anything with it but edit it, its sender neither. */
  readonly isHeld?: boolean
  /** Hides it, where it was there for bob until now. */
  readonly hide?: () => Promise<void>
}

/** Sends into the conversation of a case, as its sender or as bob. */
function sendInto({ world, sender, place }: Case, body: object, as = sender): Promise<Answer> {
  const [kind, id] = place.split('/')
  const receiver = kind === 'groups' || as === 'bob' ? id : 'bob'
  return world.post('/messages', { receiver, receiverType: kind === 'groups' ? 'group' : 'user', ...body }, { as })
}

const gone = '404 ERR_MESSAGE_ID_NOT_FOUND'

/** What the sender does with the message before bob looks; what is held is not there for that. */
function done({ isHeld = false }: Case, answer: Answer): void {
  if (isHeld) expect(refusal(answer)).toBe(gone)
  else dataOf(answer)
}

/** Whether bob could do something with it. */
function could(answer: Answer): Sight {
  if (answer.status !== 200) expect(refusal(answer)).toBe(gone)
  return sight(answer.status === 200)
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

/** What bob finds by a path, whatever refuses it. */
async function finds({ world, id }: Case, path: string): Promise<Sight> {
  const answer = await world.get(path, { as: 'bob' })
  return sight(answer.status === 200 && answer.body.data.some((message: Message) => message.id === id))
}

/** A way of looking, and what is done with the message before, while it may still be there. */
interface Way {
  readonly before?: (at: Case) => Promise<void>
  readonly look: (at: Case) => Promise<Sight>
}

const edit = ({ world, id, sender }: Case, tags: string[]) => world.put(`/messages/${id}`, { tags }, { as: sender })
const editing = async (at: Case) => void dataOf(await edit(at, ['edited']))
const replying = { data: { text: 'reply' } }
const quoting = { category: 'custom', type: 'quoting', data: { customData: { a: 1 } } }

/**
 * Every way of looking: does bob see the message? What is asked for by its id is what an unknown id is, or it is there. Ways that
 * stand in nobody's way look at the same message.
 */
const ways: ReadonlyArray<Readonly<Record<string, Way>>> = [
  {
    list: { look: (at) => finds(at, `/${at.place}/messages?limit=100`) },
    'list of all': { look: (at) => finds(at, '/messages?limit=100') },
    'list with a filter': { look: (at) => finds(at, `/${at.place}/messages?limit=100&category=message`) },
    search: { look: (at) => finds(at, '/messages?searchKey=words') },
    'search in a conversation': { look: (at) => finds(at, `/${at.place}/messages?searchKey=words`) },
    mentions: { look: (at) => finds(at, '/messages?myMentionsOnly=1') },
    count: {
      async look({ world }) {
        const answer = await world.get('/messages?count=1&myMentionsOnly=1', { as: 'bob' })
        return sight(answer.status === 200 && answer.body.data.length > 0)
      },
    },
    'by id': {
      async look({ world, id }) {
        const answer = await world.get(`/messages/${id}`, { as: 'bob' })
        if (answer.status === 200) return 'seen'
        const unknown = await world.get('/messages/999999999999', { as: 'bob' })
        expect(JSON.stringify(answer.body)).toBe(JSON.stringify(unknown.body).replace('999999999999', id))
        return 'hidden'
      },
    },
    'last message': {
      async look({ world, place, id }) {
        const answer = await world.get(`/${place}/conversation`, { as: 'bob' })
        const [first] = dataOf(await world.get('/conversations', { as: 'bob' }))
        if (answer.status !== 200) {
          expect([refusal(answer), first]).toEqual(['403 ERR_CONVERSATION_NOT_ACCESSIBLE', undefined])
          return 'hidden'
        }
        const { lastMessage } = dataOf(answer)
        expect(first?.lastMessage).toEqual(lastMessage)
        return sight(lastMessage?.id === id)
      },
    },
  },
  {
    save: { look: async ({ world, id }) => could(await world.post(`/messages/${id}/save`, undefined, { as: 'bob' })) },
    flag: {
      look: async ({ world, id }) => could(await world.post(`/messages/${id}/flagged`, { id: 'spam' }, { as: 'bob' })),
    },
    pin: { look: async ({ world, id }) => could(await world.post(`/messages/${id}/pin`, undefined, { as: 'bob' })) },
    react: {
      look: async ({ world, id }) => could(await world.post(`/messages/${id}/reactions/ok`, undefined, { as: 'bob' })),
    },
    reply: { look: async (at) => could(await sendInto(at, { ...replying, parentId: at.id }, 'bob')) },
    quoting: { look: async (at) => could(await sendInto(at, { ...quoting, quotedMessageId: at.id }, 'bob')) },
  },
  {
    pins: {
      before: async (at) => done(at, await at.world.post(`/messages/${at.id}/pin`, undefined, { as: at.sender })),
      look: (at) => finds(at, `/${at.place}/messages?pinned=1`),
    },
    reactions: {
      before: async (at) => {
        done(at, await at.world.post(`/messages/${at.id}/reactions/ok`, undefined, { as: at.sender }))
      },
      look: async ({ world, id }) => could(await world.get(`/messages/${id}/reactions`, { as: 'bob' })),
    },
    thread: {
      before: async (at) => done(at, await sendInto(at, { ...replying, parentId: at.id })),
      async look(at) {
        const found = await finds(at, '/threads')
        expect(await finds(at, `/${at.place}/threads`)).toBe(found)
        const answer = await at.world.get(`/messages/${at.id}/thread`, { as: 'bob' })
        if (found === 'hidden') expect(answer.status === 200 ? answer.body.data : []).toEqual([])
        return found
      },
    },
    quote: {
      before: async (at) => done(at, await sendInto(at, { ...quoting, quotedMessageId: at.id })),
      async look(at) {
        const found = (await listed(at)).find(({ type }) => type === 'quoting')
        return sight(saysMore(found?.quotedMessage))
      },
    },
  },
  {
    'list by change': { before: editing, look: (at) => finds(at, `/${at.place}/messages?updatedAt=1&limit=100`) },
    subject: {
      before: editing,
      async look(at) {
        const action = (await listed(at)).findLast(({ category, type }) => category === 'action' && type === 'message')
        return sight(saysMore(action?.data.entities.on.entity))
      },
    },
  },
  {
    'unread count': {
      before: async (at) => {
        // There is nothing to mark either where nothing is left.
        if (at.isHeld === true || at.hide !== undefined) dataOf(await sendInto(at, { data: { text: 'own' } }, 'bob'))
      },
      async look(at) {
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
    },
  },
  {
    'mark up to it': {
      // Another one begins the conversation: without any, there is nothing to mark.
      before: async (at) => void dataOf(await sendInto(at, { data: { text: 'other' } })),
      async look({ world, place, id }) {
        const path = `/${place}/conversation`
        const delivered = await world.post(`${path}/delivered`, { messageId: id }, { as: 'bob' })
        expect(refusal(await world.post(`${path}/read`, { messageId: id }, { as: 'bob' }))).toBe(refusal(delivered))
        return could(delivered)
      },
    },
  },
  {
    frame: {
      async look(at) {
        const bob = await connect(at.world, 'bob')
        dataOf(await edit(at, ['again']))
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
    },
  },
]

const limit = (path: string) => async (world: World, permissions: object) =>
  expect(dataOf(await world.put(path, { permissions }))).toMatchObject({ permissions })
const limitRole = limit('/roles/limited/permissions')
const limitScope = limit('/groups/team/scopes/participant/permissions')
const text = 'words for <@uid:bob>'
const image = { type: 'image', data: { url: 'https://example.com/a.png', text } }

async function createTeam(): Promise<World> {
  const world = await createWorld()
  dataOf(await world.post('/roles', { role: 'limited', name: 'Limited' }))
  await createUsers(world, 'alice', 'bob')
  dataOf(await world.put('/users/bob', { role: 'limited' }))
  await createGroup(world, 'team', 'alice', { participants: ['bob'] })
  return world
}

const talk = async (world: World, body: object = {}): Promise<Case> => {
  const { id } = await say(world, 'alice', 'bob', text, body)
  return { world, id, sender: 'alice', place: 'users/alice' }
}
const team = async (world: World, body: object = {}): Promise<Case> => {
  const { id } = await sayInGroup(world, 'alice', 'team', text, body)
  return { world, id, sender: 'alice', place: 'groups/team' }
}

/** What alice sends while the rules of the app say something of it. */
async function held(sent: typeof talk): Promise<Case> {
  const world = await createTeam()
  const removeRules = addRules(world)
  try {
    return { ...(await sent(world, { data: { text: `${text} bad` } })), isHeld: true }
  } finally {
    removeRules()
  }
}

/** What waits for an engine, and goes on waiting: one that is asked may answer before bob looks. */
async function waiting(sent: typeof talk): Promise<Case> {
  const at = await held(sent)
  const { context, app } = at.world
  await context.database.run(sql`
    update messages
    set traits = traits & ~${traits.disapproved}::int | ${traits.pending}::int
    where app_id = ${app.appId}
    and id = ${at.id}`)
  await context.database.run(sql`
    update message_moderation
    set status = 'pending'
    where app_id = ${app.appId}
    and message = ${at.id}`)
  expect(dataOf(await at.world.get(`/messages/${at.id}`)).data.moderation).toEqual({ status: 'pending' })
  return at
}

/** What alice has sent, for a reviewer to block. */
async function blockable(sent: typeof talk): Promise<Case> {
  const at = await sent(await createTeam())
  const { world, id } = at
  const hide = async () => {
    const blocked = await blockMessage(world.context, world.app, Number(id), { by: { reviewer: 'rita' } })
    expect(blocked).toEqual({ blocked: true, wasVisible: true })
  }
  return { ...at, hide }
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
      const before = Math.floor(Date.now() / 1000)
      await say(world, 'alice', 'bob', 'old')
      await sayInGroup(world, 'alice', 'team', 'old')
      dataOf(await world.delete('/groups/team/conversation', { preserveOrder: true }, { as: 'bob' }))
      // However long all of this takes, it is dated before the reset.
      const record = groupText('late', 'alice', 'team', before - 1)
      const { late } = await importWell(world, 'messages', [{ ...record, data: { text } }])
      return { world, id: late.id, sender: 'alice', place: 'groups/team' }
    },
  ],
  ['held: it waits for an engine, one to one', 'hidden', () => waiting(talk)],
  ['held: it waits for an engine, in a group', 'hidden', () => waiting(team)],
  ['held: a rule stopped it, one to one', 'hidden', () => held(talk)],
  ['held: a rule stopped it, in a group', 'hidden', () => held(team)],
  ['blocked after it was seen, one to one', 'hidden', () => blockable(talk)],
  ['blocked after it was seen, in a group', 'hidden', () => blockable(team)],
]

describe('What somebody sees', () => {
  it.each(rules)('%s: %s', async (_, expected, make) => {
    const outcomes: Record<string, Sight> = {}
    for (const together of ways) {
      const at = await make()
      for (const { before } of Object.values(together)) await before?.(at)
      await at.hide?.()
      for (const [way, { look }] of Object.entries(together)) outcomes[way] = await look(at)
    }
    expect(outcomes).toEqual(Object.fromEntries(Object.keys(outcomes).map((way) => [way, expected])))
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
