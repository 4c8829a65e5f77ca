import { describe, expect, it } from 'vitest'
import { attackerAs } from '../support/attacker.ts'
import { createGroup, dataOf, refusal } from '../support/chat.ts'
import { connect } from '../support/socket.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** Whoever may not send says it in frames that are not stored. */
describe('Transient messages and typing', () => {
  it('say nothing in a group where only the owner speaks', async () => {
    const world = await createWorld()
    await createUsers(world, 'owner', 'mallory', 'carol')
    await createGroup(world, 'news', 'owner', { participants: ['mallory', 'carol'] })
    dataOf(await world.put('/groups/news/scopes/participant/permissions', { permissions: { sendMessage: 'deny' } }))
    const toNews = { receiver: 'news', receiverType: 'group' }
    const mallory = await attackerAs(world, 'mallory')
    expect(refusal(await mallory.post('/messages', { ...toNews, data: { text: 'SPAM' } }))).toBe(
      '403 ERR_PERMISSION_DENIED',
    )
    const [socket, carol] = [await connect(world, 'mallory'), await connect(world, 'carol')]
    const refused = async () => (await socket.takeType('error')).body.code
    socket.send({ type: 'transient_message', ...toNews, body: { data: { text: 'SPAM' } } })
    expect(await refused()).toBe('ERR_PERMISSION_DENIED')
    socket.send({ type: 'typing_indicator', ...toNews, body: { action: 'started', metadata: { text: 'SPAM' } } })
    expect(await refused()).toBe('ERR_PERMISSION_DENIED')
    await carol.pong()
    expect(carol.frames).toEqual([])
  })

  it('say nothing to strangers, and nothing to whoever has blocked their sender', async () => {
    const world = await createWorld()
    await createUsers(world, 'mallory', 'carol', 'dan')
    dataOf(await world.post('/users/dan/blockedusers', { blockedUids: ['mallory'] }))
    const socket = await connect(world, 'mallory')
    const [carol, dan] = [await connect(world, 'carol'), await connect(world, 'dan')]
    const expected = { carol: 'ERR_CONVERSATION_NOT_ACCESSIBLE', dan: 'ERR_BLOCKED_SENDER' }
    for (const [receiver, code] of Object.entries(expected)) {
      const toUser = { receiver, receiverType: 'user' }
      socket.send({ type: 'transient_message', ...toUser, body: { data: { text: 'SPAM' } } })
      expect((await socket.takeType('error')).body.code).toBe(code)
      socket.send({ type: 'typing_indicator', ...toUser, body: { action: 'started', metadata: { text: 'SPAM' } } })
      expect((await socket.takeType('error')).body.code).toBe(code)
    }
    for (const client of [carol, dan]) {
      await client.pong()
      expect(client.frames).toEqual([])
    }
  })

  it('do not come without end: those of one group are bounded', async () => {
    const world = await createWorld()
    await createUsers(world, 'mallory', 'carol')
    await createGroup(world, 'team', 'mallory', { participants: ['carol'] })
    const [socket, carol] = [await connect(world, 'mallory'), await connect(world, 'carol')]
    const frame = {
      type: 'transient_message',
      receiver: 'team',
      receiverType: 'group',
      body: { data: 'x'.repeat(999) },
    }
    // A machine so busy that they come more slowly than they may is given more.
    for (let i = 0; socket.closedWith === undefined && i < 20; i++) {
      for (let k = 0; k < 25; k++) socket.send(frame)
      await carol.pong()
      if (socket.frames.some(({ body }) => body.code === 'ERR_TOO_MANY_REQUESTS')) return
    }
    expect(socket.closedWith).toBe(4429)
  })
})
