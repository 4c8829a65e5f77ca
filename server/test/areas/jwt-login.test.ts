import { createHmac } from 'node:crypto'
import { createLiveClient, createUserClient } from '@parley/client'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { fcmProvider } from '../http/samples.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { Issuer, type Signing } from '../support/issuer.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { createOwnServices } from '../support/own-services.ts'
import { startService } from '../support/service.ts'
import { authFrame, Client, connect, tokenOf } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, servedBy, type World } from '../support/world.ts'

let issuer: Issuer
beforeAll(async () => {
  issuer = await new Issuer().start()
})
afterAll(() => issuer?.stop())
beforeEach(() => {
  issuer.instead = undefined
})

const unknown = '401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND'
const now = () => Math.floor(Date.now() / 1000)
const day = 86_400

const set = (world: World, settings: object) => world.call('PATCH', `/apps/${world.app.name}/settings`, settings)

/** An app whose users log in with tokens of the issuer. */
async function createIssuedWorld(at = issuer, service?: Parameters<typeof createWorld>[0]): Promise<World> {
  const world = await createWorld(service)
  await createUsers(world, 'alice', 'bob')
  const settings = { jwtIssuer: at.issuer, jwtAudience: world.app.name, jwtKeysUrl: `${at.issuer}/jwks` }
  expect(dataOf(await set(world, settings))).toMatchObject(settings)
  return world
}

function sign(
  world: World,
  uid: string,
  claims: Record<string, unknown> = {},
  signing?: Signing,
  at = issuer,
): Promise<string> {
  const usual = { iss: at.issuer, aud: world.app.name, sub: uid, iat: now(), exp: now() + 600 }
  return at.sign({ ...usual, ...claims }, signing)
}

const login = async (world: World, token: string) => {
  const answer = await world.get('/me', { token })
  return answer.status === 200 ? dataOf(answer).uid : refusal(answer)
}

/** How a socket is answered that logs in with a token. */
async function socketAnswer(world: World, uid: string, token: string) {
  const client = await new Client(`${world.url}/`).opened()
  client.send(authFrame(world, uid, token))
  const { body } = await client.takeType('auth')
  client.close()
  return `${body.code} ${body.status}`
}

describe('a JWT of the app’s own issuer', () => {
  it.each(['RS256', 'ES256', 'EdDSA'] as const)(
    'logs in its user wherever an auth token does, signed by %s',
    async (alg) => {
      const world = await createIssuedWorld()
      const token = await sign(world, 'alice', {}, { alg })
      const me = dataOf(await world.put('/me', { platform: 'web', appInfo: { version: '1' } }, { token }))
      expect(me).toMatchObject({ uid: 'alice', authToken: token, jwt: token })
      const sent = { receiver: 'bob', receiverType: 'user', category: 'message', type: 'text', data: { text: 'hello' } }
      const bob = await connect(world, 'bob', { token: await sign(world, 'bob', {}, { alg }) })
      dataOf(await world.post('/messages', sent, { token }))
      expect((await bob.takeText('hello')).body.data.entities.sender.entity.uid).toBe('alice')
      const online = await world.post(
        '/api/v3.0/online-members',
        {},
        { token: '', headers: { authorization: `Bearer ${token}`, authtoken: '' } },
      )
      expect(dataOf(online)).toEqual({ onlineUsersCount: expect.any(Number) })
      bob.close()
    },
  )

  it('stands beside auth tokens, and is none of them', async () => {
    const world = await createIssuedWorld()
    const own = await tokenOf(world, 'alice')
    expect(await login(world, own)).toBe('alice')
    expect(await login(world, await sign(world, 'alice'))).toBe('alice')
    expect(dataOf(await world.get('/users/alice/auth_tokens'))).toHaveLength(1)
  })

  it('can be long, for a socket too', async () => {
    const world = await createIssuedWorld()
    const token = await sign(world, 'alice', { groups: Array.from({ length: 300 }, (_, i) => `group-${i}`) })
    expect(token.length).toBeGreaterThan(4000)
    expect(await login(world, token)).toBe('alice')
    expect(await socketAnswer(world, 'alice', token)).toBe('200 OK')
  })

  it('is of no use before issuer, audience and address of the keys are set, and after one is not', async () => {
    const world = await createIssuedWorld()
    const token = await sign(world, 'alice')
    expect(await login(world, token)).toBe('alice')
    for (const name of ['jwtIssuer', 'jwtAudience', 'jwtKeysUrl']) {
      const before = dataOf(await set(world, {}))[name]
      dataOf(await set(world, { [name]: null }))
      expect(await login(world, token), name).toBe(unknown)
      dataOf(await set(world, { [name]: before }))
      expect(await login(world, token), name).toBe('alice')
    }
  })

  it('gives no role: that is the one of the user', async () => {
    const world = await createIssuedWorld()
    dataOf(await world.post('/roles', { role: 'admin', name: 'Admin' }))
    const claims = { role: 'admin', roles: ['admin'], scope: 'admin fullAccess', permissions: ['*'], uid: 'bob' }
    const token = await sign(world, 'alice', claims)
    expect(dataOf(await world.get('/me', { token }))).toMatchObject({ uid: 'alice', role: 'default' })
    expect(refusal(await world.get('/users/bob/auth_tokens', { token }))).toBe('403 AUTH_ERR_NO_ACCESS')
  })

  it('of the issuer of one app opens no other', async () => {
    const [one, other] = [await createIssuedWorld(), await createIssuedWorld()]
    const token = await sign(one, 'alice')
    expect(await login(one, token)).toBe('alice')
    expect(await login(other, token)).toBe(unknown)
    expect(await socketAnswer(other, 'alice', token)).toBe(unknown)
    const without = await createWorld()
    await createUsers(without, 'alice')
    expect(await login(without, token)).toBe(unknown)
    const elsewhere = await new Issuer().start()
    const third = await createIssuedWorld(elsewhere)
    expect(await login(third, await sign(third, 'alice'))).toBe(unknown)
    expect(await login(third, await sign(third, 'alice', {}, {}, elsewhere))).toBe('alice')
    await elsewhere.stop()
  })
})

describe('refused is a JWT', () => {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const flaws: [string, (world: World) => Promise<string> | string][] = [
    ['of another issuer', (world) => sign(world, 'alice', { iss: 'https://evil.example.com' })],
    ['for another audience', (world) => sign(world, 'alice', { aud: 'other' })],
    ['for nobody', (world) => sign(world, 'alice', { aud: undefined })],
    ['without an end', (world) => sign(world, 'alice', { exp: undefined })],
    ['that has ended', (world) => sign(world, 'alice', { exp: now() - 1 })],
    ['that ends more than a day ahead', (world) => sign(world, 'alice', { exp: now() + day + 120 })],
    ['without a beginning', (world) => sign(world, 'alice', { iat: undefined })],
    ['issued in the future', (world) => sign(world, 'alice', { iat: now() + 120 })],
    ['that is not valid yet', (world) => sign(world, 'alice', { nbf: now() + 120 })],
    ['issued before its user was created', (world) => sign(world, 'alice', { iat: now() - 3600 })],
    ['whose sub is written otherwise', (world) => sign(world, 'Alice')],
    ['whose sub has a blank', (world) => sign(world, ' alice')],
    ['whose sub is nobody', (world) => sign(world, 'nobody')],
    ['whose sub is the system', (world) => sign(world, 'app_system')],
    ['whose sub is empty', (world) => sign(world, '')],
    ['whose sub is a number', (world) => sign(world, 'alice', { sub: 7 })],
    ['without a sub', (world) => sign(world, 'alice', { sub: undefined })],
    ['signed by another key', (world) => sign(world, 'alice', {}, { forged: true })],
    ['signed by an algorithm that is not taken', (world) => sign(world, 'alice', {}, { alg: 'PS256' })],
    [
      'that names keys of its own',
      (world) => sign(world, 'alice', {}, { forged: true, header: { jku: `${issuer.issuer}/mine` } }),
    ],
    ['without a signature', (world) => `${encode({ alg: 'none' })}.${encode({ sub: 'alice', aud: world.app.name })}.a`],
    [
      'signed by a public key as if it were a secret',
      (world) => {
        const claims = { iss: issuer.issuer, aud: world.app.name, sub: 'alice', iat: now(), exp: now() + 60 }
        const signed = `${encode({ alg: 'HS256', kid: issuer.keySet().keys[0]?.kid })}.${encode(claims)}`
        const hmac = createHmac('sha256', JSON.stringify(issuer.keySet().keys[0]))
        return `${signed}.${hmac.update(signed).digest('base64url')}`
      },
    ],
    ['that is none', () => 'eyJh.eyJh.eyJh'],
  ]

  let world: World
  beforeAll(async () => {
    world = await createIssuedWorld()
  })

  it.each(flaws)('%s', async (_, make) => {
    const token = await make(world)
    expect(await login(world, token)).toBe(unknown)
    expect(await socketAnswer(world, 'alice', token)).toBe(unknown)
  })

  it('and not one that ends just a day ahead', async () => {
    expect(await login(world, await sign(world, 'alice', { exp: now() + day }))).toBe('alice')
  })
})

describe('a JWT ends', () => {
  /** One that was issued after this second. */
  const signLater = (world: World, uid: string) => sign(world, uid, { iat: now() + 2 })

  it('when its user is deactivated, for good', async () => {
    const world = await createIssuedWorld()
    const token = await sign(world, 'alice')
    const socket = await connect(world, 'alice', { token })
    dataOf(await world.delete('/users', { uidsToDeactivate: ['alice'] }))
    expect(await socket.closed()).toBe(4403)
    expect(await login(world, token)).toBe(unknown)
    dataOf(await world.put('/users', { uidsToActivate: ['alice'] }))
    expect(await login(world, token)).toBe(unknown)
    expect(await login(world, await signLater(world, 'alice'))).toBe('alice')
  })

  it('when its user is logged out everywhere, and so do auth tokens and devices', async () => {
    const world = await createIssuedWorld()
    const [token, own, ofBob] = [await sign(world, 'alice'), await tokenOf(world, 'alice'), await sign(world, 'bob')]
    const sockets = [await connect(world, 'alice', { token }), await connect(world, 'alice', { token: own })]
    const bob = await connect(world, 'bob', { token: ofBob })
    dataOf(await world.delete('/users/alice/auth_tokens'))
    expect(await Promise.all(sockets.map((socket) => socket.closed()))).toEqual([4403, 4403])
    expect([await login(world, token), await login(world, own)]).toEqual([unknown, unknown])
    expect(await login(world, await signLater(world, 'alice'))).toBe('alice')
    await bob.pong()
    expect(await login(world, ofBob)).toBe('bob')
    bob.close()
  })

  it('when its user logs out with it, however its signature is written', async () => {
    const world = await createIssuedWorld()
    const [token, other] = [await sign(world, 'alice'), await sign(world, 'alice', { jti: 'another' })]
    const [socket, stays] = [await connect(world, 'alice', { token }), await connect(world, 'alice', { token: other })]
    dataOf(await world.delete('/me', undefined, { token }))
    expect(await socket.closed()).toBe(4403)
    expect(await login(world, token)).toBe(unknown)
    // 342 letters hold four bits more than a signature of 256 bytes: they can be anything.
    const twin = token.slice(0, -1) + String.fromCharCode(token.charCodeAt(token.length - 1) + 1)
    expect(Buffer.from(twin.split('.')[2] as string, 'base64url')).toEqual(
      Buffer.from(token.split('.')[2] as string, 'base64url'),
    )
    expect(await login(world, twin)).toBe(unknown)
    await stays.pong()
    expect(await login(world, other)).toBe('alice')
    stays.close()
  })

  it('when its user logs out with it, also where another one does while the clock is ahead', async () => {
    const services = await createOwnServices()
    onTestFinished(() => services.close())
    const first = await services.start()
    const world = await createIssuedWorld(issuer, first)
    const [token, other] = [await sign(world, 'alice'), await sign(world, 'bob')]
    dataOf(await world.delete('/me', undefined, { token }))
    await first.parley.close()
    // When the service was last there, it was a year earlier.
    await services.query(
      `insert into settings (name, value) values ('age_clock', $1)
      on conflict (name) do update set value = excluded.value`,
      [`${(now() - 365 * day) * 1000} 0 0`],
    )
    await services.query('update ended_jwts set expires_at = $1', [now() - 60])
    const ahead = servedBy(world, (await services.start()).url)
    dataOf(await ahead.delete('/me', undefined, { token: other }))
    expect([await login(ahead, token), await login(ahead, other)]).toEqual([unknown, unknown])
  })

  it('when its user is deleted, also for somebody new with their uid', async () => {
    const world = await createIssuedWorld()
    const token = await sign(world, 'alice')
    dataOf(await world.delete('/users/alice', { permanent: true }))
    expect(await login(world, token)).toBe(unknown)
    await until(() => now() > (JSON.parse(atob(token.split('.')[1] as string)).iat as number))
    await createUsers(world, 'alice')
    expect(await login(world, token)).toBe(unknown)
  })

  it('at its end, with its socket', async () => {
    const world = await createIssuedWorld()
    const exp = now() + 3
    const socket = await connect(world, 'alice', { token: await sign(world, 'alice', { exp }) })
    const stays = await connect(world, 'alice', { token: await sign(world, 'alice') })
    expect(await socket.closed()).toBe(4403)
    expect(Date.now()).toBeGreaterThanOrEqual(exp * 1000)
    await stays.pong()
    stays.close()
  })

  it('when the app has another issuer, with its socket', async () => {
    const world = await createIssuedWorld()
    const socket = await connect(world, 'alice', { token: await sign(world, 'alice') })
    const own = await connect(world, 'alice')
    dataOf(await set(world, { jwtAudience: 'another' }))
    expect(await socket.closed()).toBe(4403)
    await own.pong()
    own.close()
  })

  it('when that happens while this process hears of no change, with its socket', async () => {
    const services = await createOwnServices()
    onTestFinished(() => services.close())
    const world = await createIssuedWorld(issuer, await services.start())
    const socket = await connect(world, 'alice', { token: await sign(world, 'alice') })
    const own = await connect(world, 'alice')
    // As by another process, while the line is cut by which it would be told.
    await services.query(`update apps set settings = (settings::jsonb || '{"jwtAudience": "another"}')::json`)
    await services.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'parley changes' and datname = current_database()`,
    )
    expect(await socket.closed()).toBe(4403)
    await own.pong()
    own.close()
  })
})

describe('the keys of an issuer', () => {
  it('are kept; one that is not known is asked for once a minute', async () => {
    const own = await new Issuer().start()
    const world = await createIssuedWorld(own)
    const as = async (signing: Signing = {}) => login(world, await sign(world, 'alice', {}, signing, own))
    expect([await as(), await as(), own.asked.length]).toEqual(['alice', 'alice', 1])
    await own.rotate()
    expect([await as(), own.asked.length]).toEqual(['alice', 2])
    for (let i = 0; i < 3; i++) expect(await as({ header: { kid: `made-up-${i}` } })).toBe(unknown)
    expect(own.asked.length).toBe(2)
    expect(await as()).toBe('alice')
    await own.stop()
    // They are known still.
    expect(await as()).toBe('alice')
  })

  it.each<[string, Issuer['instead']]>([
    ['away', (_, response) => Boolean(response.destroy())],
    ['broken', (_, response) => Boolean(response.writeHead(500).end())],
    ['no keys', (_, response) => Boolean(response.end('<html>'))],
    ['elsewhere', (_, response) => Boolean(response.writeHead(302, { location: '/jwks' }).end())],
  ])('that are %s log nobody out', async (_, instead) => {
    const own = await new Issuer().start()
    const world = await createIssuedWorld(own)
    own.instead = instead
    const token = await sign(world, 'alice', {}, {}, own)
    expect(await login(world, token)).toBe('503 ERR_MISSION_FAILED')
    const client = await new Client(`${world.url}/`).opened()
    client.send(authFrame(world, 'alice', token))
    expect((await client.takeType('auth')).body.code).toBe('503')
    expect(await client.closed()).toBe(1013)
    expect(await login(world, await tokenOf(world, 'alice'))).toBe('alice')
    await own.stop()
  })

  it('are where apps may have addresses called, and nowhere else', async () => {
    const database = await createOwnDatabase()
    const service = await startService({ WEBHOOK_ALLOW_PRIVATE: 'false' }, database.connection)
    try {
      const world = await createWorld(service)
      for (const jwtKeysUrl of [
        `${issuer.issuer}/jwks`,
        'https://127.0.0.1/jwks',
        'https://10.0.0.1',
        'file:///etc/passwd',
      ]) {
        expect(refusal(await set(world, { jwtKeysUrl })), jwtKeysUrl).toBe('400 ERR_BAD_REQUEST')
      }
      // What was set before, or by the command, is held against it when it is asked.
      await createUsers(world, 'alice')
      const { settings, audit } = service.parley.context
      const change = { jwtIssuer: issuer.issuer, jwtAudience: world.app.name, jwtKeysUrl: `${issuer.issuer}/jwks` }
      await settings.change(world.app, change, audit)
      const before = issuer.asked.length
      expect(await login(world, await sign(world, 'alice'))).toBe('503 ERR_MISSION_FAILED')
      expect(issuer.asked.length).toBe(before)
    } finally {
      await service.parley.close()
      await database.drop()
    }
  })
})

describe('a front end with JWTs', () => {
  it('gets another one from its function when one has ended', async () => {
    const world = await createIssuedWorld()
    const tokens = [await sign(world, 'alice', { exp: now() - 1 }), await sign(world, 'alice')]
    const options = { url: world.url, appId: world.app.name }
    const client = createUserClient({ ...options, authToken: async () => tokens.shift() ?? 'none' })
    expect(await client.me.get()).toMatchObject({ uid: 'alice' })

    const given: string[] = []
    const { live } = createLiveClient({
      ...options,
      WebSocket: WebSocket as never,
      authToken: async () => {
        const token = await sign(world, 'alice', {
          exp: now() + (given.length === 0 ? 3 : 600),
          jti: `${given.length}`,
        })
        given.push(token)
        return token
      },
    })
    live.connect()
    await until(() => given.length === 2 && live.connection.getSnapshot().status === 'live')
    live.close()
  })

  it('registers devices that outlive its tokens, until its user is logged out everywhere', async () => {
    const world = await createIssuedWorld()
    dataOf(await world.post('/notifications/push/v1/providers/fcm', { providerId: 'phones', ...fcmProvider }))
    const register = async (device: string | undefined, fcmToken: string) => {
      const headers = device === undefined ? {} : { resource: device }
      const body = { platform: 'fcm_android', fcmToken }
      dataOf(
        await world.post('/notifications/push/v1/tokens', body, {
          token: await sign(world, 'alice', { jti: fcmToken }),
          headers,
        }),
      )
    }
    const registered = async (later = 0) => {
      const token = await sign(world, 'alice', { iat: now() + later })
      const { pushTokens } = dataOf(await world.get('/notifications/push/v1/tokens?all=1', { token }))
      return pushTokens.map(({ pushToken }: { pushToken: string }) => pushToken).sort()
    }
    await register('phone', 'first')
    await register('phone', 'second')
    await register('tablet', 'third')
    await register(undefined, 'fourth')
    await register(undefined, 'fifth')
    // A device has one registration, whatever its token of the day.
    expect(await registered()).toEqual(['fifth', 'fourth', 'second', 'third'])
    const leaving = { token: await sign(world, 'alice', { jti: 'leaving' }), headers: { resource: 'phone' } }
    dataOf(await world.delete('/me', undefined, leaving))
    expect(await registered()).toEqual(['fifth', 'fourth', 'third'])
    dataOf(await world.delete('/users/alice/auth_tokens'))
    expect(await registered(2)).toEqual([])
  })
})
