import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { media, outcomeOf } from '../support/role-world.ts'
import { type Client, connect, eventually, type Frame } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** A world in which bob writes: to alice, and in her group `team`; with what he has sent there before. */
interface WritingWorld extends World {
  /** Messages of bob's and of alice's, one-to-one and in the group; and a reply of bob's in the group. */
  readonly toAlice: string
  readonly fromAlice: string
  readonly inTeam: string
  readonly aliceInTeam: string
  readonly reply: string
  readonly talkReply: string
  readonly bobsSocket: Client
  readonly alicesSocket: Client
}

const png = media('image', 'image/png')

async function createWritingWorld(): Promise<WritingWorld> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  dataOf(await world.post('/roles', { role: 'tested', name: 'Tested' }))
  dataOf(await world.put('/users/bob', { role: 'tested' }))
  await createGroup(world, 'team', 'alice', { participants: ['bob'] })
  const toAlice = (await say(world, 'bob', 'alice', 'to alice')).id
  const fromAlice = (await say(world, 'alice', 'bob', 'from alice')).id
  const inTeam = (await sayInGroup(world, 'bob', 'team', 'in team')).id
  const aliceInTeam = (await sayInGroup(world, 'alice', 'team', 'alice in team')).id
  const reply = (await sayInGroup(world, 'bob', 'team', 'reply', { parentId: aliceInTeam })).id
  const talkReply = (await say(world, 'bob', 'alice', 'reply', { parentId: fromAlice })).id
  const [bobsSocket, alicesSocket] = [await connect(world, 'bob'), await connect(world, 'alice')]
  return { ...world, toAlice, fromAlice, inTeam, aliceInTeam, reply, talkReply, bobsSocket, alicesSocket }
}

const ownReply = (world: WritingWorld, where: 'talk' | 'group') => (where === 'talk' ? world.talkReply : world.reply)

type Way = (world: WritingWorld, where: 'talk' | 'group') => Promise<string>

const bob = { as: 'bob' }
const text = { data: { text: 'x' } }
const there = { talk: { receiver: 'alice', receiverType: 'user' }, group: { receiver: 'team', receiverType: 'group' } }
const own = (world: WritingWorld, where: 'talk' | 'group') => (where === 'talk' ? world.toAlice : world.inTeam)
const others = (world: WritingWorld, where: 'talk' | 'group') =>
  where === 'talk' ? world.fromAlice : world.aliceInTeam

/** What a frame meets: alice is told of it, or bob that it is refused. */
const frame =
  (type: string): Way =>
  async ({ bobsSocket, alicesSocket }, where) => {
    const mark = randomUUID()
    const body = type === 'typing_indicator' ? { action: 'started', metadata: { mark } } : { data: { mark } }
    bobsSocket.send({ ...there[where], type, body })
    const isMine = ({ type: told, body }: Frame) => told === type && (body.metadata ?? body.data).mark === mark
    const outcome = () => {
      const refused = bobsSocket.frames.findIndex(({ type }) => type === 'error')
      if (refused !== -1) return bobsSocket.frames.splice(refused, 1)[0].body.code as string
      return alicesSocket.frames.some(isMine) ? 'allowed' : undefined
    }
    return (await eventually(
      async () => outcome(),
      (found) => found !== undefined,
    )) as string
  }

const ways = {
  send: async (world, where) => outcomeOf(await world.post('/messages', { ...there[where], ...text }, bob)),
  edit: async (world, where) => outcomeOf(await world.put(`/messages/${own(world, where)}`, text, bob)),
  reply: async (world, where) => outcomeOf(await world.post(`/messages/${others(world, where)}/thread`, text, bob)),
  editReply: async (world, where) => outcomeOf(await world.put(`/messages/${ownReply(world, where)}`, text, bob)),
  react: async (world, where) =>
    outcomeOf(await world.post(`/messages/${others(world, where)}/reactions/x`, undefined, bob)),
  pin: async (world, where) => outcomeOf(await world.post(`/messages/${others(world, where)}/pin`, undefined, bob)),
  type: frame('typing_indicator'),
  transient: frame('transient_message'),
} satisfies Record<string, Way>

type WayName = keyof typeof ways
const everyWay = Object.keys(ways) as WayName[]

/** What each way of writing meets, without the status: a frame has none. */
async function tryAll(world: WritingWorld, where: 'talk' | 'group'): Promise<Record<string, string>> {
  const met: Record<string, string> = {}
  for (const name of everyWay) met[name] = (await ways[name](world, where)).replace(/^\d+ /, '')
  return met
}

const all = (outcome: string, others: Partial<Record<WayName, string>> = {}) => ({
  ...Object.fromEntries(everyWay.map((name) => [name, outcome])),
  ...others,
})
const sending = (outcome: string) => ({ send: outcome, edit: outcome, pin: outcome, type: outcome, transient: outcome })

interface Rule {
  readonly where: 'talk' | 'group'
  readonly set: (world: World) => Promise<unknown>
  readonly meets: Record<string, string>
}

const onRole = (permissions: object) => async (world: World) => {
  const answer = dataOf(await world.put('/roles/tested/permissions', { permissions }))
  for (const key of Object.keys(permissions)) expect(answer[key].success, key).toBe(true)
}
const onScope = (permissions: object) => async (world: World) => {
  const answer = dataOf(await world.put('/groups/team/scopes/participant/permissions', { permissions }))
  for (const key of Object.keys(permissions)) expect(answer[key].success, key).toBe(true)
}
const denied = 'ERR_PERMISSION_DENIED'

const rules: Record<string, Rule> = {
  'bob has blocked alice': {
    where: 'talk',
    set: (world) => world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }),
    meets: all('ERR_BLOCKED_RECEIVER'),
  },
  'alice has blocked bob': {
    where: 'talk',
    set: (world) => world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }),
    meets: all('ERR_BLOCKED_SENDER'),
  },
  'a block is nothing in a group': {
    where: 'group',
    set: (world) => world.post('/users/bob/blockedusers', { blockedUids: ['carol'] }),
    meets: all('allowed'),
  },
  'the scope may not send': {
    where: 'group',
    set: onScope({ sendMessage: 'deny' }),
    meets: all('allowed', sending(denied)),
  },
  'the scope may not reply': {
    where: 'group',
    set: onScope({ sendThreadedMessage: 'deny' }),
    meets: all('allowed', { reply: denied, editReply: denied }),
  },
  'the scope may not react': {
    where: 'group',
    set: onScope({ addReaction: 'deny' }),
    meets: all('allowed', { react: denied }),
  },
  'the scope may not edit': {
    where: 'group',
    set: onScope({ editMessage: 'deny' }),
    meets: all('allowed', { edit: denied }),
  },
  'the scope may send other types only': {
    where: 'group',
    set: onScope({ 'sendMessage.allowedMessageTypes': ['image'] }),
    meets: all('allowed', { send: denied, edit: denied }),
  },
  'the role may not send': {
    where: 'talk',
    set: onRole({ sendMessage: 'deny' }),
    meets: all('allowed', sending(denied)),
  },
  'the role may not send to groups': {
    where: 'group',
    set: onRole({ 'sendMessage.allowedReceiverTypes': ['user'] }),
    meets: all('allowed', sending(denied)),
  },
  'the role may not reply': {
    where: 'talk',
    set: onRole({ sendThreadedMessage: 'deny' }),
    meets: all('allowed', { reply: denied, editReply: denied }),
  },
  'the role may send to friends only': {
    where: 'talk',
    set: onRole({ 'sendMessage.mode': 'friends' }),
    meets: all(denied, { react: 'allowed' }),
  },
  'the role may send to some roles only': {
    where: 'talk',
    set: onRole({ 'sendMessage.allowedReceiverRoles': ['tested'] }),
    meets: all('allowed', sending(denied)),
  },
  'the feature of sending is restricted': {
    where: 'talk',
    set: (world) => world.post('/roles/tested/restrictedfeatures', { featuresToRestrict: ['createMessage'] }),
    meets: all('allowed', sending(denied)),
  },
}

describe.each(Object.entries(rules))('where %s', (_, { where, set, meets }) => {
  it('every way of writing meets it', async () => {
    const world = await createWritingWorld()
    expect(await tryAll(world, where)).toEqual(all('allowed'))
    await set(world)
    expect(await tryAll(world, where)).toEqual(meets)
  })
})

describe('An edit', () => {
  it('is refused with an attachment that the scope may not send', async () => {
    const world = await createWritingWorld()
    const { id } = dataOf(await world.post('/messages', { ...there.group, ...png }, bob))
    await onScope({ 'sendMessage.mimeTypes': ['image/*'] })(world)
    const edit = async (message: object) => outcomeOf(await world.put(`/messages/${id}`, message, bob))
    expect(await edit({ data: media('image', 'application/zip').data })).toBe(`403 ${denied}`)
    expect(await edit({ data: { attachments: [], url: 'https://example.com/setup.exe' } })).toBe(`403 ${denied}`)
    expect(await edit({ data: { ...png.data, metadata: { mine: 1 } } })).toBe('allowed')
    expect(dataOf(await world.get(`/messages/${id}`)).data.attachments[0].mimeType).toBe('image/png')
  })

  it('of the app is bound by content alone', async () => {
    const world = await createWritingWorld()
    await onScope({ sendMessage: 'deny' })(world)
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    for (const id of [world.inTeam, world.toAlice]) {
      expect(outcomeOf(await world.put(`/messages/${id}`, text))).toBe('allowed')
    }
    expect(refusal(await world.put(`/messages/${world.toAlice}`, { data: { text: '' } }))).toBe(
      '400 ERR_EMPTY_MESSAGE_TEXT',
    )
  })

  it('to somebody who was deactivated goes on', async () => {
    const world = await createWritingWorld()
    dataOf(await world.delete('/users/alice'))
    expect(await ways.edit(world, 'talk')).toBe('allowed')
  })

  it('that met a rule leaves the message as it was', async () => {
    const world = await createWritingWorld()
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    expect(await ways.edit(world, 'talk')).toBe('403 ERR_BLOCKED_SENDER')
    const message = dataOf(await world.get(`/messages/${world.toAlice}`))
    expect(message).toMatchObject({ data: { text: 'to alice' } })
    expect(message.editedAt).toBeUndefined()
  })
})

describe('Taking back', () => {
  it('a reaction and a pin is possible while a block stands', async () => {
    const world = await createWritingWorld()
    expect(await ways.react(world, 'talk')).toBe('allowed')
    expect(await ways.pin(world, 'talk')).toBe('allowed')
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    for (const what of ['reactions/x', 'pin']) {
      expect(outcomeOf(await world.delete(`/messages/${world.fromAlice}/${what}`, undefined, bob))).toBe('allowed')
    }
  })

  it('a pin of a group is denied to a scope that may not send', async () => {
    const world = await createWritingWorld()
    expect(await ways.pin(world, 'group')).toBe('allowed')
    await onScope({ sendMessage: 'deny' })(world)
    const unpin = () => world.delete(`/messages/${world.aliceInTeam}/pin`, undefined, bob)
    expect(outcomeOf(await unpin())).toBe(`403 ${denied}`)
    await onScope({ sendMessage: 'allow' })(world)
    expect(outcomeOf(await unpin())).toBe('allowed')
  })
})
