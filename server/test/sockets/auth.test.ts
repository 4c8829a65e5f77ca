import { request } from 'node:http'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Parley } from '../../src/app.ts'
import { dataOf } from '../support/chat.ts'
import { startService } from '../support/service.ts'
import { authFrame, Client, connect, tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

let world: World
let hasty: { parley: Parley; url: string }

beforeAll(async () => {
  world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  hasty = await startService({ SOCKET_AUTH_SECONDS: '0.5', CORS_ORIGINS: 'https://chat.example.com' })
})
afterAll(() => hasty.parley.close())

const open = (headers: Record<string, string> = {}, path = '/') => new Client(`${world.url}${path}`, headers).opened()

/** What an auth frame is answered, and the code of the close behind it. */
async function refused(frame: object, headers?: Record<string, string>): Promise<string> {
  const client = await open(headers)
  client.send(frame)
  const { body } = await client.takeType('auth')
  return `${body.code} ${body.status} ${await client.closed()}`
}

describe('the first frame', () => {
  it('with a valid token is answered, on every path and with a query', async () => {
    const token = await tokenOf(world, 'alice')
    for (const path of ['/', '/v3', '/v3/', '/v3.0', '/v3.0/?x=1']) {
      const client = await open({}, path)
      client.send(authFrame(world, 'alice', token))
      expect(await client.takeType('auth')).toEqual({ type: 'auth', body: { code: '200', status: 'OK' } })
      client.send({ action: 'ping', ack: 'true' })
      expect(await client.take(({ action }) => action === 'pong')).toEqual({ action: 'pong' })
      client.close()
    }
  })

  it('takes the jwt that a login was answered', async () => {
    const token = await tokenOf(world, 'alice')
    const { jwt } = dataOf(await world.put('/me', { platform: 'WEB' }, { token }))
    await connect(world, 'alice', { token: jwt })
  })

  it('names the app by header as well, which counts more than the frame', async () => {
    const token = await tokenOf(world, 'alice')
    const byHeader = await open({ appid: world.app.name })
    byHeader.send(authFrame(world, 'alice', token, { frame: { appId: 'somewhere-else' } }))
    expect((await byHeader.takeType('auth')).body.code).toBe('200')
    const byHost = await open({ host: `${world.app.name}.api-us.example.com` })
    byHost.send(authFrame(world, 'alice', token, { frame: { appId: undefined } }))
    expect((await byHost.takeType('auth')).body.code).toBe('200')
  })

  it('with a token that is none, of another app or of another user is refused', async () => {
    const other = await createWorld()
    await createUsers(other, 'alice')
    const token = await tokenOf(world, 'alice')
    const expected = '401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND 4401'
    expect(await refused(authFrame(world, 'alice', 'nonsense'))).toBe(expected)
    expect(await refused(authFrame(world, 'alice', `${token}0`))).toBe(expected)
    expect(await refused(authFrame(world, 'alice', world.apiKey))).toBe(expected)
    expect(await refused(authFrame(other, 'alice', token))).toBe(expected)
    expect(await refused(authFrame(world, 'bob', token))).toBe(expected)
    expect(await refused(authFrame(world, 'alice', token, { frame: { appId: 'no-such-app' } }))).toBe(
      '401 AUTH_ERR_INVALID_APPID 4401',
    )
  })

  it('that is not formed like one is refused', async () => {
    const token = await tokenOf(world, 'alice')
    for (const frame of [
      { type: 'auth' },
      { type: 'auth', body: {} },
      { type: 'auth', body: { auth: '' } },
      { type: 'auth', body: { auth: { $ne: 'x' } } },
      { type: 'auth', body: { auth: token, presenceSubscription: 'EVERYBODY' } },
      { type: 'auth', appId: 7, body: { auth: token } },
    ]) {
      expect(await refused(frame), JSON.stringify(frame)).toBe('400 ERR_BAD_REQUEST 4401')
    }
  })

  it('must be an auth frame; a ping may come before', async () => {
    const client = await open()
    await client.pong()
    client.send({ type: 'typing_indicator', receiver: 'bob', receiverType: 'user', body: { action: 'started' } })
    expect(await client.closed()).toBe(4401)
  })

  it('with a dropped token, or that of a user who is deactivated or deleted, is refused', async () => {
    await createUsers(world, 'leaver', 'goner')
    const [token, leaver, goner] = [
      await tokenOf(world, 'alice'),
      await tokenOf(world, 'leaver'),
      await tokenOf(world, 'goner'),
    ]
    dataOf(await world.delete(`/users/alice/auth_tokens/${token}`))
    dataOf(await world.delete('/users', { uidsToDeactivate: ['leaver'] }))
    dataOf(await world.delete('/users/goner', { permanent: true }))
    const expected = '401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND 4401'
    expect(await refused(authFrame(world, 'alice', token))).toBe(expected)
    expect(await refused(authFrame(world, 'leaver', leaver))).toBe(expected)
    expect(await refused(authFrame(world, 'goner', goner))).toBe(expected)
  })

  it('that does not come in time closes the socket', async () => {
    const client = await new Client(`${hasty.url}/`).opened()
    expect(await client.closed()).toBe(4408)
  })

  it('may be followed by others at once', async () => {
    const token = await tokenOf(world, 'alice')
    const bob = await connect(world, 'bob')
    const client = await open()
    client.send(authFrame(world, 'alice', token))
    client.send({ type: 'typing_indicator', receiver: 'bob', receiverType: 'user', body: { action: 'started' } })
    expect((await bob.takeType('typing_indicator')).sender).toBe('alice')
  })
})

/** Status and body of a request for a WebSocket that is not let in. */
function upgrade(url: string, path: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const asked = request(`${url}${path}`, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        ...headers,
      },
    })
    asked.on('upgrade', (response, socket) => {
      socket.destroy()
      resolve({ status: response.statusCode, body: '' })
    })
    asked.on('response', (response) => {
      let body = ''
      response.on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode, body }))
    })
    asked.on('error', reject)
    asked.end()
  })
}

describe('an upgrade', () => {
  it('is offered on the paths of the socket only', async () => {
    expect((await upgrade(world.url, '/')).status).toBe(101)
    for (const path of ['/users', '/v3/users', '/v4', '/v3.0/x', '//']) {
      const { status, body } = await upgrade(world.url, path)
      expect(status).toBe(404)
      expect(JSON.parse(body).error.code).toBe('ERR_API_NOT_FOUND')
    }
  })

  it('is refused to pages of origins that may not call', async () => {
    const { status, body } = await upgrade(hasty.url, '/', { origin: 'https://evil.example.com' })
    expect([status, JSON.parse(body).error.code]).toEqual([403, 'AUTH_ERR_NO_ACCESS'])
    expect((await upgrade(hasty.url, '/', { origin: 'https://chat.example.com' })).status).toBe(101)
  })

  it('that is not for a WebSocket leaves the request as it is', async () => {
    const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' }
    expect(await upgrade(world.url, '/health', headers)).toEqual({ status: 200, body: '{"status":"ok"}' })
  })
})

describe('a login that ends', () => {
  it('closes its sockets at once: logged out, one token dropped, all dropped, deactivated, deleted', async () => {
    const closing = await createWorld()
    await createUsers(closing, 'alice', 'bob', 'carol')
    const tokens = [await tokenOf(closing, 'alice'), await tokenOf(closing, 'alice'), await tokenOf(closing, 'alice')]
    const clients = await Promise.all(tokens.map((token, i) => connect(closing, 'alice', { token, deviceId: `d${i}` })))
    dataOf(await closing.delete('/me', undefined, { token: tokens[0] as string }))
    expect(await clients[0]?.closed()).toBe(4403)
    dataOf(await closing.delete(`/users/alice/auth_tokens/${tokens[1]}`))
    expect(await clients[1]?.closed()).toBe(4403)
    await clients[2]?.pong()
    dataOf(await closing.delete('/users/alice/auth_tokens'))
    expect(await clients[2]?.closed()).toBe(4403)
    const [bob, carol] = [await connect(closing, 'bob'), await connect(closing, 'carol')]
    dataOf(await closing.delete('/users', { uidsToDeactivate: ['bob'] }))
    expect(await bob.closed()).toBe(4403)
    dataOf(await closing.delete('/users/carol', { permanent: true }))
    expect(await carol.closed()).toBe(4403)
  })

  it('closes its sockets when that is asked once more, where the first time nobody heard that it was done', async () => {
    const closing = await createWorld()
    await createUsers(closing, 'alice', 'bob')
    const [alice, bob] = [await connect(closing, 'alice'), await connect(closing, 'bob')]
    // As if the answer of the database had been lost.
    const { database } = closing.context
    const { appId } = closing.app
    await database.run(sql`delete from auth_tokens where app_id = ${appId}`)
    await database.run(sql`update users set deactivated_at = 1 where app_id = ${appId} and uid = 'bob'`)
    dataOf(await closing.delete('/users/alice/auth_tokens'))
    expect(await alice.closed()).toBe(4403)
    dataOf(await closing.delete('/users', { uidsToDeactivate: ['bob'] }))
    expect(await bob.closed()).toBe(4403)
  })
})
