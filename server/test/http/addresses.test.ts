import type { IncomingMessage } from 'node:http'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/index.ts'
import { createAddresses } from '../../src/protocol/addresses.ts'
import { dataOf } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { ask, type Service, startParley } from './watched.ts'

let world: World
let token: string
let plain: Service
let behindProxy: Service
let named: Service

beforeAll(async () => {
  world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  token = dataOf(await world.post('/users/alice/auth_tokens')).authToken
  plain = await startParley()
  behindProxy = await startParley({ environment: { TRUST_PROXY: 'loopback', REQUIRE_HTTPS: 'true' } })
  named = await startParley({ environment: { TRUST_PROXY: 'loopback', PUBLIC_URL: 'https://chat.example.com:8443' } })
})
afterAll(() => Promise.all([plain, behindProxy, named].map(({ parley }) => parley.close())))

const settingsBy = (service: Service, headers: Record<string, string> = {}) =>
  ask(`${service.url}/v3/settings`, { headers: { appid: world.app.name, authtoken: token, ...headers } })

/** What is answered to a request whose first line ends as is given; clients would not send some of these. */
async function settingsRaw(start: string): Promise<string> {
  const { hostname, port } = new URL(plain.url)
  const socket = net.connect(Number(port), hostname)
  socket.write(
    `GET /v3/settings ${start}\r\nappid: ${world.app.name}\r\nauthtoken: ${token}\r\nconnection: close\r\n\r\n`,
  )
  return text(socket)
}

/** Sends a file and gives the address that it got. */
async function upload({ url }: Service, headers: Record<string, string> = {}): Promise<string> {
  const parts = { receiver: 'bob', receiverType: 'user', category: 'message', type: 'file' }
  const fields = Object.entries(parts).map(
    ([name, value]) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const file =
    '--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\na\r\n'
  const answer = await ask(`${url}/v3/messages`, {
    method: 'POST',
    headers: {
      appid: world.app.name,
      authtoken: token,
      'content-type': 'multipart/form-data; boundary=x',
      ...headers,
    },
    body: `${fields.join('')}${file}--x--\r\n`,
  })
  return dataOf(answer).data.attachments[0].url
}

/** The status of a request for a socket. */
async function openSocket({ url }: Service, headers: Record<string, string>): Promise<number> {
  const { hostname, port } = new URL(url)
  const socket = net.connect(Number(port), hostname)
  const lines = Object.entries({ host: 'x', connection: 'upgrade', upgrade: 'websocket', ...headers })
  const key = 'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
  socket.write(`GET /v3 HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}${key}\r\n`)
  const [first] = (await new Promise<Buffer>((resolve, reject) => socket.once('error', reject).once('data', resolve)))
    .toString()
    .split('\r\n')
  socket.destroy()
  return Number(first?.split(' ')[1])
}

describe('a host that is none', () => {
  const wrong = ['a b', '[', 'x:99999', 'x:y', 'a/b', 'a?b', 'a#b', 'me@a', 'a\\b', '%zz', '[::1', '1.2.3.4.5']

  it.each(wrong)('is refused: %s', async (host) => {
    const answer = await settingsRaw(`HTTP/1.1\r\nhost: ${host}`)
    expect(answer).toMatch(
      /^HTTP\/1.1 400 .*"code":"ERR_BAD_REQUEST".*"path":"headers\/host","message":"is not a valid host"/s,
    )
    expect(await openSocket(plain, { host })).toBe(400)
    const throughProxy = { 'x-forwarded-host': host, 'x-forwarded-proto': 'https' }
    expect((await settingsBy(behindProxy, throughProxy)).status).toBe(400)
  })

  it('is one that is missing, in HTTP/1.0 and 1.1', async () => {
    for (const start of ['HTTP/1.0', 'HTTP/1.1\r\nhost:', 'HTTP/1.1']) {
      expect(await settingsRaw(start)).toMatch(/^HTTP\/1.1 400 .*"path":"headers\/host","message":"is required"/s)
    }
  })

  it('is none of these', async () => {
    for (const host of [
      'chat.example.com',
      'x',
      'a_b.example.com:8443',
      '[::1]:8080',
      '10.0.0.1:80',
      'bücher.example',
    ]) {
      expect((await settingsBy(plain, { host: Buffer.from(host).toString('latin1') })).status, host).toBe(200)
    }
  })
})

describe('what proxies say', () => {
  it.each([
    ['https', 200, 101],
    ['http, https', 200, 101],
    ['https, http', 400, 400],
    ['http', 400, 400],
  ])('of the scheme is read alike for REST and sockets: %s', async (scheme, rest, socket) => {
    const headers = { 'x-forwarded-proto': scheme }
    expect((await settingsBy(behindProxy, headers)).status).toBe(rest)
    expect(await openSocket(behindProxy, headers)).toBe(socket)
  })

  it('of the host counts as the nearest one says it', async () => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example, chat.example.com' }
    expect(dataOf(await settingsBy(behindProxy, headers)).CHAT_HOST).toBe('chat.example.com')
    expect(await upload(behindProxy, headers)).toMatch(/^https:\/\/chat\.example\.com\/media\//)
  })
})

describe('the address of a client', () => {
  const clientOf = (trustProxy: string | undefined, peer: string, forwarded?: string | string[]) =>
    createAddresses(readConfig(trustProxy === undefined ? {} : { TRUST_PROXY: trustProxy })).clientOf({
      socket: { remoteAddress: peer },
      headers: { 'x-forwarded-for': forwarded },
    } as unknown as IncomingMessage)

  it.each([
    ['is that of the connection, where no proxy is trusted', undefined, '::ffff:192.0.2.1', '203.0.113.9', '192.0.2.1'],
    ['is that of the connection, where that is no proxy', '10.0.0.0/8', '192.0.2.1', '203.0.113.9', '192.0.2.1'],
    ['is what a proxy says', '10.0.0.0/8', '10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['is the last that is no proxy', '10.0.0.0/8', '10.0.0.1', '1.2.3.4, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['is the last there is, where all are proxies', '10.0.0.0/8', '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
    [
      'is what the nearest proxy says, where any is trusted',
      'true',
      '192.0.2.1',
      '1.2.3.4, 203.0.113.9',
      '203.0.113.9',
    ],
    ['is that of the proxy, where it says nothing', 'true', '192.0.2.1', undefined, '192.0.2.1'],
    ['is that of the proxy, where it says what is no address', 'true', '192.0.2.1', '1.2.3.4, unknown', '192.0.2.1'],
    ['is read without its port', 'true', '192.0.2.1', '203.0.113.9:4711', '203.0.113.9'],
    ['is read without its port, IPv6 too', 'true', '192.0.2.1', '[2001:db8:0::1]:4711', '2001:db8::1'],
    ['is read of several headers', '10.0.0.0/8', '10.0.0.1', ['1.2.3.4', '203.0.113.9'], '203.0.113.9'],
  ])('%s', (_what, trustProxy, peer, forwarded, expected) => {
    expect(clientOf(trustProxy, peer, forwarded)).toBe(expected)
  })
})

describe('PUBLIC_URL', () => {
  it('is what answers name, whatever a request says', async () => {
    const headers = { 'x-forwarded-proto': 'http', 'x-forwarded-host': 'evil.example', host: 'other.example' }
    expect(dataOf(await settingsBy(named, headers))).toMatchObject({
      CLIENT_API_HOST: 'chat.example.com:8443',
      ADMIN_API_HOST: 'chat.example.com:8443',
      SECURED_MEDIA_HOST: 'chat.example.com:8443',
      CHAT_HOST: 'chat.example.com',
      CHAT_WSS_PORT: '8443',
    })
    expect(await upload(named, headers)).toMatch(/^https:\/\/chat\.example\.com:8443\/media\//)
  })

  it('does not say which app a request is for', async () => {
    const host = `${world.app.name}.api-us.example.com`
    expect((await settingsBy(named, { host, appid: 'other' })).status).toBe(200)
  })
})
