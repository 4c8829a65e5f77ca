import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { createServer as createHttp2Server, type Http2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type ApnsTarget, createApns } from '../../src/delivery/notifications/apns.ts'
import { createApnsConnections } from '../../src/delivery/notifications/apns-connections.ts'
import { createFcm } from '../../src/delivery/notifications/fcm.ts'
import { createProviderClient } from '../../src/delivery/notifications/provider-client.ts'
import type { Notification } from '../../src/delivery/notifications/render.ts'
import { soon } from '../support/until.ts'

const closing: Array<() => unknown> = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function listen(server: Server | Http2Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const p8Key = () =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey
const apple = {
  ...{ keyId: 'KEY0000001', bundleId: 'com.example.app' },
  ...{ includeContentAvailable: false, includeMutableContent: false, productionMode: false },
}
const target = {
  ...{ project_id: 'project', client_email: 'push@example.com', private_key: privateKey },
  notificationInPayload: { ios: {}, android: {}, web: {} },
}
const device = { token: 'device', platform: 'fcm_android', expiresAt: Date.now() + 60_000 }
const notification: Notification = {
  ...{ uid: 'bob', title: 'Alice', body: 'hello', sender: 'alice', senderName: 'Alice' },
  ...{ receiver: 'bob', receiverName: 'Bob', receiverType: 'user', tag: '1', conversationId: 'alice_user_bob' },
  ...{ sentAt: 1_700_000_000_000, unread: 1, sound: 'default' },
}

describe('an answer of FCM', () => {
  it('that has no end is read no further than it can be of use', async () => {
    let isLeft = false
    const server = createServer((request, response) => {
      if (request.url === '/token') {
        response.end(JSON.stringify({ access_token: 'token', expires_in: 3600 }))
        return
      }
      response.writeHead(503)
      const write = () => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
      }
      response.on('drain', write).on('close', () => {
        isLeft = true
      })
      write()
    })
    const endpoint = await listen(server)
    const fcm = createFcm({ fcm: endpoint, fcmToken: `${endpoint}/token` })
    closing.push(() => fcm.close())
    const attempt = await fcm.send(target, device, notification)
    expect(attempt).toMatchObject({ outcome: 'failed', status: 503, text: 'x'.repeat(512) })
    await soon(() => expect(isLeft).toBe(true))
  })
})

describe('a date as Retry-After', () => {
  const inAMinute = () => new Date(Date.now() + 60_000).toUTCString()

  it('is heard of FCM', async () => {
    const server = createServer((_, response) => response.writeHead(503, { 'retry-after': inAMinute() }).end())
    const client = createProviderClient(1)
    closing.unshift(() => client.close())
    const { retryAfter } = await client.post(await listen(server), {}, '{}')
    expect(retryAfter).toBeGreaterThan(30)
    expect(retryAfter).toBeLessThanOrEqual(60)
  })

  it('is heard of APNs', async () => {
    const server = createHttp2Server()
    server.on('stream', (stream) => {
      stream.respond({ ':status': 429, 'retry-after': inAMinute() })
      stream.end()
    })
    const connections = createApnsConnections(undefined)
    closing.unshift(() => connections.close())
    const request = { path: '/3/device/a0', headers: {}, body: '{}' }
    const { retryAfter } = await connections.post({ origin: await listen(server), account: 'team' }, request, 10_000)
    expect(retryAfter).toBeGreaterThan(30)
    expect(retryAfter).toBeLessThanOrEqual(60)
  })
})

describe('a request to a provider over HTTP/1.1', () => {
  it('whose answer only trickles in ends in time, and so does what waits behind it', async () => {
    const left: number[] = []
    let requests = 0
    const server = createServer((_, response) => {
      const number = ++requests
      response.writeHead(200)
      const timer = setInterval(() => response.write('x'), 5)
      response.on('close', () => {
        clearInterval(timer)
        left.push(number)
      })
    })
    const client = createProviderClient(1)
    closing.unshift(() => client.close())
    const endpoint = await listen(server)
    // The second one is late first: otherwise it may begin in the moment between the two ends.
    const posts = [client.post(`${endpoint}/a`, {}, '{}', 200), client.post(`${endpoint}/b`, {}, '{}', 100)]
    await Promise.all(posts.map((post) => expect(post).rejects.toMatchObject({ name: 'TimeoutError' })))
    await soon(() => expect(left).toContain(1))
    // What was late before it began is not sent any more.
    expect(requests).toBe(1)
  })

  it('whose connection breaks has no answer, and one that cannot be made has none either', async () => {
    const server = createServer((request) => request.socket.destroy())
    const client = createProviderClient(1)
    closing.unshift(() => client.close())
    await expect(client.post(await listen(server), {}, '{}')).rejects.toThrow('other side closed')
    await expect(client.post('http://127.0.0.1:1', {}, '{}')).rejects.toThrow('ECONNREFUSED')
    await expect(client.post('not an address', {}, '{}')).rejects.toThrow('Invalid URL')
  })
})

describe('a request to APNs', () => {
  const request = { path: '/3/device/a0', headers: {}, body: '{}' }

  it('that is never answered ends in time, and the next goes over another connection', async () => {
    let sessions = 0
    let isMute = true
    const server = createHttp2Server()
    server.on('session', () => sessions++)
    server.on('stream', (stream) => {
      stream.on('error', () => {})
      if (isMute) return
      stream.respond({ ':status': 200 })
      stream.end()
    })
    const connections = createApnsConnections(undefined)
    const origin = await listen(server)
    closing.unshift(() => connections.close())
    await expect(connections.post({ origin, account: 'team' }, request, 50)).rejects.toThrow(
      'APNs did not answer in time',
    )
    isMute = false
    expect(await connections.post({ origin, account: 'team' }, request, 10_000)).toMatchObject({ status: 200 })
    expect(sessions).toBe(2)
  })

  it('whose answer only trickles in ends in time', async () => {
    const server = createHttp2Server()
    server.on('stream', (stream) => {
      stream.respond({ ':status': 400 })
      const timer = setInterval(() => stream.write('x'), 5)
      stream.on('error', () => {}).on('close', () => clearInterval(timer))
    })
    const connections = createApnsConnections(undefined)
    closing.unshift(() => connections.close())
    await expect(connections.post({ origin: await listen(server), account: 'team' }, request, 100)).rejects.toThrow(
      'APNs did not answer in time',
    )
  })
  it('goes over a connection of its team: APNs takes one team over each', async () => {
    const teams = new WeakMap<object, string>()
    const opened: string[] = []
    const server = createHttp2Server()
    server.on('stream', (stream, headers) => {
      const claims = String(headers.authorization).split('.')[1] ?? ''
      const { iss } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { iss: string }
      const session = stream.session as object
      const team = teams.get(session) ?? iss
      if (!teams.has(session)) opened.push(iss)
      teams.set(session, team)
      const isSame = team === iss
      stream.respond({ ':status': isSame ? 200 : 403 })
      stream.end(isSame ? '' : JSON.stringify({ reason: 'InvalidProviderToken' }))
    })
    const apns = createApns({ apns: await listen(server), apnsCa: undefined })
    closing.unshift(() => apns.close())
    const [first, second] = ['TEAM000001', 'TEAM000002'].map((teamId) => ({ ...apple, teamId, p8Key: p8Key() }))
    for (const team of [first, second, first, second] as const) {
      const sent = await apns.send(team as ApnsTarget, device, 'id', notification)
      expect(sent).toMatchObject({ outcome: 'accepted' })
    }
    expect(opened).toEqual(['TEAM000001', 'TEAM000002'])
  })

  it('opens so many connections at most: the one that is unused for the longest is closed after its last answer', async () => {
    let sessions = 0
    const waiting: Array<() => void> = []
    const server = createHttp2Server()
    server.on('session', (session) => {
      sessions++
      session.on('close', () => sessions--)
    })
    server.on('stream', (stream, { ':path': path }) => {
      const answer = () => {
        stream.respond({ ':status': 200 })
        stream.end()
      }
      if (path === '/late') waiting.push(answer)
      else answer()
    })
    const connections = createApnsConnections(undefined, 2)
    closing.unshift(() => connections.close())
    const origin = await listen(server)
    const post = (account: string, path = '/now') =>
      connections.post({ origin, account }, { ...request, path }, 10_000).then(({ status }) => status)
    const late = post('a', '/late')
    await soon(() => expect(waiting).toHaveLength(1))
    for (const account of ['b', 'c', 'd', 'c']) expect(await post(account)).toBe(200)
    for (const answer of waiting) answer()
    expect(await late).toBe(200)
    await soon(() => expect(sessions).toBe(2))
  })
})
