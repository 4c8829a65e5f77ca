import { describe, expect, it } from 'vitest'
import { createGroup, say, sayInGroup } from '../support/chat.ts'
import { type Client, connect, eventually, type Frame } from '../support/socket.ts'
import { createUsers, createWorld } from '../support/world.ts'

const toBob = { receiver: 'bob', receiverType: 'user' }
const toTeam = { receiver: 'team', receiverType: 'group' }
const typing = (address: object, metadata?: object) => ({
  ...{ type: 'typing_indicator', ...address },
  body: { action: 'started', ...(metadata && { metadata }) },
})
const transient = (address: object, data: unknown) => ({ type: 'transient_message', ...address, body: { data } })

const refusedWith = async (client: Client) => (await client.takeType('error')).body.code

describe('Before the first message between two users', () => {
  it('typing is told, and nothing else is', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const [alice, bob] = [await connect(world, 'alice'), await connect(world, 'bob')]
    alice.send(transient(toBob, { text: 'spam' }))
    expect(await refusedWith(alice)).toBe('ERR_CONVERSATION_NOT_ACCESSIBLE')
    alice.send(typing(toBob, { text: 'spam' }))
    expect(await refusedWith(alice)).toBe('ERR_CONVERSATION_NOT_ACCESSIBLE')
    alice.send(typing(toBob))
    await bob.takeType('typing_indicator')
    expect(bob.frames).toEqual([])

    await say(world, 'alice', 'bob', 'hi')
    alice.send(transient(toBob, { text: 'now' }))
    expect((await bob.takeType('transient_message')).body.data).toEqual({ text: 'now' })
    alice.send(typing(toBob, { text: 'now' }))
    expect((await bob.takeType('typing_indicator')).body.metadata).toEqual({ text: 'now' })
  })

  it('one may signal to one’s own devices', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const [alice, tab] = [await connect(world, 'alice'), await connect(world, 'alice', { deviceId: 'tab' })]
    alice.send(transient({ receiver: 'alice', receiverType: 'user' }, 1))
    expect((await tab.takeType('transient_message')).body.data).toBe(1)
  })
})

describe('Signals', () => {
  it('to nobody, and to groups that are not there for the user, are refused alike', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'secret', 'bob', {}, { type: 'private' })
    const alice = await connect(world, 'alice')
    for (const receiver of ['secret', 'nothing']) {
      alice.send(transient({ receiver, receiverType: 'group' }, 1))
      expect(await refusedWith(alice)).toBe('ERR_GUID_NOT_FOUND')
    }
    alice.send(typing({ receiver: 'nobody', receiverType: 'user' }))
    expect(await refusedWith(alice)).toBe('ERR_UID_NOT_FOUND')
  })

  it('keep their order', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'hi')
    const [alice, bob] = [await connect(world, 'alice'), await connect(world, 'bob')]
    for (let i = 0; i < 20; i++) alice.send(transient(toBob, i))
    for (let i = 0; i < 20; i++) expect((await bob.takeType('transient_message')).body.data).toBe(i)
  })

  it('carry little beside typing', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'hi')
    const [alice, bob] = [await connect(world, 'alice'), await connect(world, 'bob')]
    alice.send(typing(toBob, { text: 'x'.repeat(1_024) }))
    expect(await refusedWith(alice)).toBe('ERR_BAD_REQUEST')
    alice.send(typing(toBob, { text: 'x'.repeat(1_000) }))
    expect((await bob.takeType('typing_indicator')).body.metadata.text).toHaveLength(1_000)
  })

  it('of a group are bounded: typing beyond that is not told, transient messages are refused', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const [alice, bob, carol] = [
      await connect(world, 'alice'),
      await connect(world, 'bob'),
      await connect(world, 'carol'),
    ]
    // A machine so busy that they come more slowly than they may tries again.
    let refused: Frame[] = []
    for (let round = 0; refused.length === 0 && round < 5; round++) {
      for (const client of [alice, bob, carol]) client.frames.length = 0
      for (let i = 0; i < 40; i++) for (const client of [alice, bob]) client.send(transient(toTeam, i))
      refused = await eventually(
        async () => [alice, bob].flatMap(({ frames }) => frames.filter(({ type }) => type === 'error')),
        (errors) => errors.length + carol.frames.length === 80,
      )
    }
    expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(['ERR_TOO_MANY_REQUESTS']))
    // Typing is counted apart.
    alice.send(typing(toTeam))
    await carol.takeType('typing_indicator')
  })

  it('of a group that other processes tell count, too: a socket gets no more of them all', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const bob = await connect(world, 'bob')
    const about = { uid: 'alice', device: 'elsewhere', kind: 'group', first: 'team', second: '' } as const
    const { bus } = world.context.events
    for (let i = 0; i < 60; i++) {
      bus.receive(world.app.appId, { signal: 'typing_indicator', ...about, body: { action: 'started' } })
    }
    await sayInGroup(world, 'alice', 'team', 'after them')
    await bob.takeText('after them')
    expect(bob.frames.filter(({ type }) => type === 'typing_indicator')).toHaveLength(20)
  })
})
