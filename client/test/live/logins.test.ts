import { describe, expect, it } from 'vitest'
import { dataOf, say } from '../../../server/test/support/chat.ts'
import { tokenOf } from '../../../server/test/support/socket.ts'
import { soon, until } from '../../../server/test/support/until.ts'
import { createLiveClient, type Live, ParleyError } from '../../src/index.ts'
import { Socket, whenLive } from './support/people.ts'
import { textsOf, useRoom } from './support/room.ts'

const { join, keep, network, world: chatWorld, onEnd } = useRoom()

const statusOf = (live: Live) => live.connection.getSnapshot().status

describe('a token of another user', () => {
  /** Alice is logged in, and then bob is, in another tab of her browser. */
  async function switched() {
    const world = await chatWorld('alice', 'bob', 'carol')
    const [alices, bobs] = [await tokenOf(world, 'alice'), await tokenOf(world, 'bob')]
    const sent: string[] = []
    let user = 'alice'
    const client = createLiveClient({
      url: world.url,
      appId: world.app.name,
      authToken: async () => (user === 'alice' ? alices : bobs),
      WebSocket: Socket,
      fetch: async (url, init) => {
        if (init.headers.authToken === bobs) sent.push(new URL(url).pathname)
        return await fetch(url, init as RequestInit)
      },
      backoff: { first: 20, most: 300 },
    })
    const live = keep(client.live)
    live.connect()
    await whenLive(live)
    const chat = live.openConversation({ uid: 'carol' })
    await until(() => chat.getSnapshot().isLoaded)
    return {
      ...{ world, client, live, chat, sent },
      async switch() {
        user = 'bob'
        dataOf(await world.delete(`/users/alice/auth_tokens/${alices}`))
      },
    }
  }

  it('stops the client of the first one, and nothing but the question whose it is is asked with it', async () => {
    const room = await switched()
    await room.switch()
    await until(() => statusOf(room.live) === 'stopped')
    expect(room.live.connection.getSnapshot()).toMatchObject({ reason: 'loggedOut', error: { status: 401 } })
    expect(room.live.me.getSnapshot()?.uid).toBe('alice')
    room.chat.send({ text: 'of alice' })
    await soon(() => expect(room.chat.getSnapshot().pending[0]?.status).toBe('failed'))
    await expect(
      room.client.messages.send({ receiver: 'carol', receiverType: 'user', data: { text: 'of alice' } }),
    ).rejects.toMatchObject({ status: 401 })
    room.live.connect()
    await until(() => statusOf(room.live) === 'stopped')
    expect(new Set(room.sent)).toEqual(new Set(['/v3/me']))
    expect(dataOf(await room.world.get('/users/carol/messages', { as: 'bob' }))).toEqual([])
  })
})

it('who is logged in is shown as they are now after each connection', async () => {
  const world = await chatWorld('alice')
  const line = await network(world.url)
  const alice = await join(world, 'alice', { url: line.url })
  line.cut()
  await until(() => statusOf(alice) === 'waiting')
  dataOf(await world.put('/users/alice', { name: 'Alice B.' }))
  line.heal()
  await whenLive(alice)
  expect(alice.me.getSnapshot()?.name).toBe('Alice B.')
})

it('a renewed token that ends before the client was live again is renewed again', async () => {
  const world = await chatWorld('alice')
  const line = await network(world.url)
  const tokens = [await tokenOf(world, 'alice'), await tokenOf(world, 'alice'), await tokenOf(world, 'alice')]
  let asked = 0
  let isSecondOver = false
  const given: (string | undefined)[] = []
  const authToken = async () => {
    asked++
    // The line goes away with the second one, which is given again as long as it may be good.
    if (asked === 2) line.cut()
    const token = isSecondOver ? tokens[2] : tokens[Math.min(asked, 2) - 1]
    given.push(token)
    return token ?? Promise.reject(new ParleyError(401, undefined))
  }
  const alice = await join(world, 'alice', { url: line.url, authToken })
  dataOf(await world.delete(`/users/alice/auth_tokens/${tokens[0]}`))
  await until(() => asked >= 2 && statusOf(alice) === 'waiting', { interval: 5 })
  dataOf(await world.delete(`/users/alice/auth_tokens/${tokens[1]}`))
  isSecondOver = true
  line.heal()
  await whenLive(alice)
  expect(given.at(-1)).toBe(tokens[2])
})

it('what the product asks for by itself is shown by its own client, too', async () => {
  const world = await chatWorld('alice', 'bob')
  const client = createLiveClient({
    url: world.url,
    appId: world.app.name,
    authToken: await tokenOf(world, 'alice'),
    WebSocket: Socket,
  })
  const live = keep(client.live)
  live.connect()
  await whenLive(live)
  const chat = live.openConversation({ uid: 'bob' })
  onEnd(() => chat.close())
  await until(() => chat.getSnapshot().isLoaded)
  const one = await client.messages.send({ receiver: 'bob', receiverType: 'user', data: { text: 'one' } })
  await say(world, 'bob', 'alice', 'two')
  await until(() => textsOf(chat).join() === 'one,two')
  await client.messages.edit({ messageId: one.id, data: { text: 'ONE' } })
  await client.messages.reactions.add({ messageId: one.id, reaction: 'x' })
  await soon(() =>
    expect(chat.getSnapshot().messages[0]).toMatchObject({ data: { text: 'ONE' }, reactions: [{ reaction: 'x' }] }),
  )
  expect(chat.getSnapshot().messages).toHaveLength(2)
})
