import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Parley } from '../../src/app.ts'
import { readConfig } from '../../src/config/index.ts'
import { loadTls } from '../../src/http/tls.ts'
import { ask, startParley } from '../http/watched.ts'
import { createGroup, refusal, sayInGroup } from '../support/chat.ts'
import { startService } from '../support/service.ts'
import { authFrame, Client, connect, tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, send, type World } from '../support/world.ts'

let world: World
let strict: { parley: Parley; url: string }
let narrow: World

beforeAll(async () => {
  world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  strict = await startService({
    SOCKET_BUFFER_BYTES: '65536',
    SOCKET_FRAME_BYTES: '2048',
    SOCKET_FRAMES_PER_SECOND: '5',
    SOCKETS_PER_USER: '2',
    SOCKET_IDLE_SECONDS: '2',
  })
})
afterAll(() => strict.parley.close())

/** The same app, seen by the service with narrow bounds. */
async function strictWorld(...uids: string[]): Promise<World> {
  const own = await createWorld(strict)
  await createUsers(own, ...uids)
  return own
}

describe('a client that misbehaves is closed with a code', () => {
  it.each([
    ['not JSON', 'hello', 1007],
    ['a list', '[]', 1007],
    ['a text', '"x"', 1007],
    ['null', 'null', 1007],
    ['binary', Buffer.from('{"action":"ping"}'), 1003],
  ])('%s', async (_, sent, code) => {
    const alice = await connect(world, 'alice')
    alice.send(sent)
    expect(await alice.closed()).toBe(code)
    const stranger = await new Client(world.url).opened()
    stranger.send(sent)
    expect(await stranger.closed()).toBe(code)
  })

  it('frames that are too big', async () => {
    narrow = await strictWorld('alice')
    const alice = await connect(narrow, 'alice')
    alice.send({ action: 'ping', ack: 'x'.repeat(1500) })
    await alice.take(({ action }) => action === 'pong')
    alice.send({ action: 'ping', ack: 'x'.repeat(2100) })
    expect(await alice.closed()).toBe(1009)
  })

  it('too many frames', async () => {
    narrow = await strictWorld('alice')
    const alice = await connect(narrow, 'alice')
    for (let i = 0; i < 30; i++) alice.send({ action: 'ping' })
    expect(await alice.closed()).toBe(4429)
    expect(alice.frames.length).toBeLessThan(30)
  })

  it('not one that sends few, though the clock of the machine is set back', async () => {
    const alice = await connect(world, 'alice')
    const now = Date.now
    try {
      Date.now = () => now() - 60_000
      await alice.pong()
    } finally {
      Date.now = now
    }
    await alice.pong()
    expect(alice.closedWith).toBeUndefined()
  })

  it('frames that fail again and again', async () => {
    const [alice, bob] = [await connect(world, 'alice'), await connect(world, 'bob')]
    const atOnce = 60
    for (let i = 0; i < atOnce; i++) {
      alice.send({ type: 'nonsense' })
      bob.send({ action: 'ping' })
    }
    expect(await alice.closed()).toBe(4429)
    expect(alice.frames.length).toBeLessThan(atOnce)
    for (let i = 0; i < atOnce; i++) await bob.take(({ action }) => action === 'pong')
  })

  it('more sockets than one may have: the oldest goes', async () => {
    narrow = await strictWorld('alice', 'bob')
    const clients = [
      await connect(narrow, 'alice', { deviceId: 'd1' }),
      await connect(narrow, 'alice', { deviceId: 'd2' }),
      await connect(narrow, 'alice', { deviceId: 'd3' }),
    ]
    expect(await clients[0]?.closed()).toBe(4409)
    await clients[1]?.pong()
    await clients[2]?.pong()
  })

  it('silence; who answers pings is not silent', async () => {
    narrow = await strictWorld('alice', 'bob')
    const alive = await connect(narrow, 'alice')
    const dead = await new Client(narrow.url, {}, { autoPong: false }).opened()
    dead.send(authFrame(narrow, 'bob', await tokenOf(narrow, 'bob')))
    expect(await dead.closed()).toBe(4410)
    await alive.pong()
  })
})

describe('a client that reads too slowly', () => {
  it('is closed with a code while the others go on', async () => {
    // Nobody is silent for too long here, however slow the machine.
    const patient = await startService({ SOCKET_BUFFER_BYTES: '65536' })
    narrow = await createWorld(patient)
    await createUsers(narrow, 'alice', 'bob', 'carol')
    await createGroup(narrow, 'team', 'alice', { participants: ['bob', 'carol'] })
    const bob = await connect(narrow, 'bob')
    const carol = await connect(narrow, 'carol')
    bob.ws.pause()
    const text = 'x'.repeat(9000)
    let isClosed = false
    // The system buffers some megabytes for a socket before the service has to.
    for (let i = 0; i < 1500 && !isClosed; i += 20) {
      await Promise.all(Array.from({ length: 20 }, () => sayInGroup(narrow, 'alice', 'team', text)))
      for (let k = 0; k < 20; k++) await carol.takeText(text)
      isClosed = await isSlow(narrow)
    }
    bob.ws.resume()
    expect(await bob.closed()).toBe(4413)
    await sayInGroup(narrow, 'alice', 'team', 'still here')
    await carol.takeText('still here')
    await patient.parley.close()
  })
})

/** Somebody was told that he is too slow. */
async function isSlow(at: World): Promise<boolean> {
  const { body } = await ask(`${at.url}/metrics`)
  return /parley_socket_closes_total\{reason="tooSlow"\} [1-9]/.test(body)
}

describe('where requests are limited', () => {
  it('logging in counts with those of its app, of the class core, and is refused with them', async () => {
    const limited = await startService({ RATE_LIMITS: 'core=3' })
    const [own, other] = [await createWorld(), await createWorld()]
    for (const each of [own, other]) await createUsers(each, 'alice')
    const tokens = [await tokenOf(own, 'alice'), await tokenOf(other, 'alice')] as const
    const logIn = async (at: World, token: string) => {
      const client = await new Client(limited.url).opened()
      client.send(authFrame(at, 'alice', token))
      const { body } = await client.takeType('auth')
      return { client, answer: `${body.code} ${body.status}` }
    }
    const make = (uid: string) =>
      send(limited.url, 'POST', '/users', { uid, name: uid }, { appid: own.app.name, apikey: own.authKey })

    expect((await logIn(own, 'wrong')).answer).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    expect((await logIn(own, tokens[0])).answer).toBe('200 OK')
    expect(refusal(await make('u1'))).toBe('200 undefined')
    expect((await logIn(own, tokens[0])).answer).toBe('200 OK')
    const refused = await logIn(own, tokens[0])
    expect(refused.answer).toBe('429 ERR_TOO_MANY_REQUESTS')
    expect(await refused.client.closed()).toBe(4429)
    expect(refusal(await make('u2'))).toBe('429 ERR_TOO_MANY_REQUESTS')
    expect((await logIn(other, tokens[1])).answer).toBe('200 OK')
    await limited.parley.close()
  })
})

describe('over TLS', () => {
  it('everything is the same', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-wss-'))
    const tls = await loadTls(readConfig({ TLS: 'self-signed' }), folder)
    const service = await startParley({ environment: { REQUIRE_HTTPS: 'true' }, ...(tls && { tls }) })
    const client = await new Client(service.url, {}, { rejectUnauthorized: false }).opened()
    client.send(authFrame(world, 'alice', await tokenOf(world, 'alice')))
    expect((await client.takeType('auth')).body.code).toBe('200')
    await client.pong()
    await service.parley.close()
    expect(await client.closed()).toBe(1012)
    await rm(folder, { recursive: true, force: true })
  })
})

describe('a service that stops', () => {
  it('tells its sockets to connect again, and ends those that do not listen', async () => {
    const service = await startService({ SOCKET_DRAIN_SECONDS: '0.2' })
    const own = await createWorld(service)
    await createUsers(own, 'alice', 'bob')
    const alice = await connect(own, 'alice')
    const bob = await connect(own, 'bob')
    const stranger = await new Client(own.url).opened()
    bob.ws.pause()
    await service.parley.close()
    expect(await alice.closed()).toBe(1012)
    expect(await stranger.closed()).toBe(1012)
    bob.ws.resume()
    expect([1012, 1006]).toContain(await bob.closed())
  })
})
