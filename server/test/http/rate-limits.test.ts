import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ConfigError, readConfig } from '../../src/config/index.ts'
import { createOwner } from '../admin/operator.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { inTurns } from '../support/in-turns.ts'
import { Issuer } from '../support/issuer.ts'
import { startService } from '../support/service.ts'
import { Client, tokenOf } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, send, type World } from '../support/world.ts'

type Service = Awaited<ReturnType<typeof startService>>

const tooMany = '429 ERR_TOO_MANY_REQUESTS'
const many = async <T>(times: number, call: (n: number) => Promise<T>) => {
  const results: T[] = []
  for (let n = 0; n < times; n++) results.push(await call(n))
  return results
}

describe('rate limits that are set', () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({ RATE_LIMITS: 'core=3,user=8,sendPerUser=4,markUnreadPerUser=1' })
  })
  afterAll(() => service.parley.close())

  const call = (world: World, method: string, path: string, body: unknown, as?: string) =>
    send(service.url, method, path, body, {
      appid: world.app.name,
      apikey: world.apiKey,
      ...(as !== undefined && { onbehalfof: as }),
    })
  const make = (world: World, uid: string, apikey = world.apiKey) =>
    send(service.url, 'POST', '/users', { uid, name: uid }, { appid: world.app.name, apikey })

  it('refuse with 429 and say when to come back, for each app by itself', async () => {
    const [world, other] = [await createWorld(), await createWorld()]
    const answers = await many(5, (n) => make(world, `u${n}`))
    expect(answers.map(refusal)).toEqual([...Array(3).fill('200 undefined'), ...Array(2).fill(tooMany)])
    expect(answers.map((answer) => answer.headers['x-rate-limit-remaining'])).toEqual(['2', '1', '0', '0', '0'])
    const refused = answers[4]
    expect(refused?.headers['x-rate-limit']).toBe('3')
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0)
    expect(Number(refused?.headers['retry-after'])).toBeLessThanOrEqual(60)
    expect(Number(refused?.headers['x-rate-limit-reset'])).toBeGreaterThan(Date.now() / 1000)
    expect(refused?.body.error.devMessage).toContain('core')
    expect(refusal(await call(world, 'GET', '/users/u4', undefined))).toBe('404 ERR_UID_NOT_FOUND')
    expect((await make(other, 'u0')).status).toBe(200)
  })

  it('count servers apart from front ends: what these use up is not missing there', async () => {
    const world = await createWorld()
    const fromFront = await many(4, (n) => make(world, `front${n}`, world.authKey))
    expect(fromFront.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect((await make(world, 'server')).status).toBe(200)
  })

  it('count sends and unread marks for each user', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const say = (from: string, to: string) =>
      call(world, 'POST', '/messages', { receiver: to, receiverType: 'user', data: { text: 'x' } }, from)
    const answers = await Promise.all(Array.from({ length: 6 }, () => say('alice', 'bob')))
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(2)
    expect((await say('bob', 'alice')).status).toBe(200)
    const unread = () => call(world, 'DELETE', '/users/alice/conversation/read', {}, 'bob')
    expect((await unread()).status).toBe(200)
    expect((await unread()).status).toBe(429)
  })

  it('count replies in threads as sends', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const said = { receiver: 'bob', receiverType: 'user', data: { text: 'x' } }
    const { id } = dataOf(await call(world, 'POST', '/messages', said, 'alice'))
    const answers = await many(4, () => call(world, 'POST', `/messages/${id}/thread`, said, 'alice'))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
  })

  it('count every receiver of a send, and refuse none that began within the limit', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', ...Array.from({ length: 6 }, (_, n) => `r${n}`))
    const uids = Array.from({ length: 6 }, (_, n) => `r${n}`)
    const toAll = () => call(world, 'POST', '/messages', { multipleReceivers: { uids }, data: { text: 'x' } }, 'alice')
    const first = await toAll()
    expect(Object.values(dataOf(first).uids as Record<string, { success: boolean }>).map((o) => o.success)).toEqual(
      Array(6).fill(true),
    )
    expect(first.headers['x-rate-limit-remaining']).toBe('0')
    expect(refusal(await toAll())).toBe(tooMany)
    const one = { receiver: 'r0', receiverType: 'user', data: { text: 'x' } }
    expect(refusal(await call(world, 'POST', '/messages', one, 'alice'))).toBe(tooMany)
  })

  it('let of several sends to many at the same time only the first be done', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'r0', 'r1', 'r2', 'r3')
    const uids = ['r0', 'r1', 'r2', 'r3']
    const body = { multipleReceivers: { uids }, data: { text: 'x' } }
    const answers = await Promise.all(Array.from({ length: 4 }, () => call(world, 'POST', '/messages', body, 'alice')))
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    expect(dataOf(await world.get('/messages')).length).toBeLessThanOrEqual(4)
  })

  it('count whatever a user asks with a token, and not what the app asks', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const authtoken = await tokenOf(world, 'alice')
    const asAlice = () => send(service.url, 'GET', '/me', undefined, { appid: world.app.name, authtoken })
    const answers = await Promise.all(Array.from({ length: 12 }, asAlice))
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(8)
    expect(answers.filter((answer) => refusal(answer) === tooMany).length).toBeGreaterThan(0)
    const asApp = await many(10, () => call(world, 'GET', '/users', undefined))
    expect(new Set(asApp.map(({ status }) => status))).toEqual(new Set([200]))
  })
})

describe('rate limits that are not set', () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({ RATE_LIMITS: 'default' })
  })
  afterAll(() => service.parley.close())

  it('are there for front ends, far above what these need, and not for servers', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const token = await tokenOf(world, 'alice')
    const as = (headers: Record<string, string>, path: string) =>
      send(service.url, 'GET', path, undefined, { appid: world.app.name, ...headers })
    const answer = await as({ authtoken: token }, '/me')
    expect(answer.headers['x-rate-limit']).toBe('3000')
    expect(answer.headers['x-rate-limit-remaining']).toBe('499')
    const body = { receiver: 'bob', receiverType: 'user', data: { text: 'x' } }
    const sent = await send(service.url, 'POST', '/messages', body, { appid: world.app.name, authtoken: token })
    expect(sent.headers['x-rate-limit']).toBe('600')
    for (const headers of [{ apikey: world.apiKey }, { apikey: world.apiKey, onbehalfof: 'alice' }]) {
      expect((await as(headers, '/users')).headers['x-rate-limit']).toBeUndefined()
    }
  })
})

describe('a limit of many requests', () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({ RATE_LIMITS: 'user=600' })
  })
  afterAll(() => service.parley.close())
  const askAs = (world: World, authtoken: string) =>
    send(service.url, 'GET', '/me', undefined, { appid: world.app.name, authtoken })

  it('lets a front end ask for all at once that it needs at its start', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const token = await tokenOf(world, 'alice')
    const answers = await Promise.all(Array.from({ length: 100 }, () => askAs(world, token)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  })

  it('gives nobody all of a minute at its beginning, and lets whoever waits as told go on at once', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const token = await tokenOf(world, 'alice')
    const answers = await inTurns(
      50,
      Array.from({ length: 400 }, () => () => askAs(world, token)),
    )
    const refused = answers.filter((answer) => refusal(answer) === tooMany)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]?.body.error.devMessage).toContain('user of 600 per minute, 100 of them at once,')
    for (const { headers } of refused) {
      expect(headers).toMatchObject({ 'x-rate-limit': '600', 'x-rate-limit-remaining': '0', 'retry-after': '1' })
    }
    await until(async () => (await askAs(world, token)).status === 200)
  })
})

describe('the limit of operators', () => {
  it('is of each by themselves', async () => {
    const { url, parley } = await startService({ RATE_LIMITS: 'operator=60' })
    const [busy, other] = await Promise.all([1, 2].map(() => createOwner({ url, context: parley.context })))
    const answers = await Promise.all(Array.from({ length: 90 }, () => busy?.get('/session')))
    const outcomes = new Set(answers.map((answer) => answer && (answer.status === 200 ? 'answered' : refusal(answer))))
    expect(outcomes).toEqual(new Set(['answered', tooMany]))
    expect((await other?.get('/session'))?.status).toBe(200)
    await parley.close()
  })
})

describe('the limit of an address', () => {
  let behindProxy: Service
  let direct: Service
  beforeAll(async () => {
    behindProxy = await startService({ RATE_LIMITS: 'address=3', TRUST_PROXY: 'loopback,203.0.113.9' })
    direct = await startService({ RATE_LIMITS: 'address=3' })
  })
  afterAll(() => Promise.all([behindProxy.parley.close(), direct.parley.close()]))

  const from = (address: string, path = '/users', headers: Record<string, string> = {}) =>
    send(behindProxy.url, 'GET', path, undefined, { 'x-forwarded-for': address, ...headers })
  const statuses = async (times: number, address: (n: number) => string) =>
    (await many(times, (n) => from(address(n)))).map(({ status }) => status)

  it('is counted before anything is looked up, each address by itself', async () => {
    const world = await createWorld()
    const headers = { appid: world.app.name, apikey: world.apiKey }
    const answers = await many(4, () => from('198.51.100.1', '/users', headers))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect(refusal(answers[3] as (typeof answers)[0])).toBe(tooMany)
    expect(Number(answers[3]?.headers['retry-after'])).toBeGreaterThan(0)
    expect((await from('198.51.100.2', '/users', headers)).status).toBe(200)
    // Nor does it matter what is asked for: the app is not looked up either.
    expect((await from('198.51.100.1', '/users', { appid: 'nobody' })).status).toBe(429)
    expect((await from('198.51.100.1', '/no/such/path')).status).toBe(429)
  })

  it('is that of a /64 network for IPv6', async () => {
    expect(await statuses(4, (n) => `2001:db8:1:2:${n}::1`)).toEqual([401, 401, 401, 429])
    expect((await from('2001:db8:1:3::1')).status).toBe(401)
  })

  it('takes an IPv4 address in its IPv6 form for the same, and passes over a port', async () => {
    const forms = ['198.51.100.7', '::ffff:198.51.100.7', '198.51.100.7:4711', '198.51.100.7']
    expect(await statuses(4, (n) => forms[n] as string)).toEqual([401, 401, 401, 429])
  })

  it('is that of the last one who is no proxy, whatever the client wrote before', async () => {
    expect(await statuses(4, (n) => `192.0.2.${n}, 198.51.100.3, 203.0.113.9`)).toEqual([401, 401, 401, 429])
  })

  it('is none for private addresses, and none that is no address', async () => {
    for (const address of ['10.0.0.1', '127.0.0.1', 'fd00::1', 'unknown', '']) {
      expect(await statuses(5, () => address)).toEqual(Array(5).fill(401))
    }
  })

  it('is none for a peer on this machine, who cannot pretend to be another either', async () => {
    const answers = await many(6, () =>
      send(direct.url, 'GET', '/users', undefined, { 'x-forwarded-for': '192.0.2.1' }),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(401))
  })

  it('counts sockets that are opened', async () => {
    const open = async () => {
      const client = new Client(behindProxy.url, { 'x-forwarded-for': '198.51.100.4' })
      const refused = new Promise<number | undefined>((resolve) =>
        client.ws.on('unexpected-response', (_request, response) => resolve(response.statusCode)),
      )
      const opened = new Promise<number>((resolve) => client.ws.on('open', () => resolve(101)))
      const status = await Promise.race([refused, opened])
      client.ws.terminate()
      return status
    }
    expect(await many(4, open)).toEqual([101, 101, 101, 429])
  })
})

describe('wrong keys and tokens', () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({ TRUST_PROXY: 'loopback' })
  })
  afterAll(() => service.parley.close())

  const ask = (world: World, address: string, credential: Record<string, string>) =>
    send(service.url, 'GET', '/users', undefined, {
      appid: world.app.name,
      'x-forwarded-for': address,
      ...credential,
    })
  const guess = (n: number) => ({ authtoken: `alice_1${n}` })
  const firstRefused = async (call: (n: number) => ReturnType<typeof ask>) => {
    for (let n = 0; ; n++) {
      const answer = await call(n)
      if (answer.status !== 401 || n > 20) return answer
    }
  }

  it('slow down their address, and not who has been right from there, nor anybody elsewhere', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const [known, fresh] = [await tokenOf(world, 'alice'), await tokenOf(world, 'bob')]
    expect((await ask(world, '198.51.100.1', { authtoken: known })).status).toBe(200)

    const answers = await many(101, (n) => ask(world, '198.51.100.1', guess(n)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
    // The wait grows with each, so that it is met on a slow machine, too.
    const refused = await firstRefused((n) => ask(world, '198.51.100.1', guess(101 + n)))
    expect(refusal(refused)).toBe(tooMany)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)

    expect((await ask(world, '198.51.100.1', { authtoken: known })).status).toBe(200)
    expect((await ask(world, '198.51.100.2', { authtoken: fresh })).status).toBe(200)
    expect((await ask(world, '198.51.100.2', guess(1))).status).toBe(401)
  })

  it('count once each: a client whose token was deleted may ask for ever', async () => {
    const world = await createWorld()
    const answers = await many(120, () => ask(world, '198.51.100.3', guess(1)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
  })

  it('do not count where they have been right from there', async () => {
    const world = await createWorld(service)
    const uids = ['alice', 'bob', 'carol']
    await createUsers(world, ...uids, 'dave')
    const tokens = (await Promise.all(uids.map((uid) => many(35, () => tokenOf(world, uid))))).flat()
    const address = '198.51.100.6'
    for (const authtoken of tokens) expect((await ask(world, address, { authtoken })).status).toBe(200)
    for (const uid of uids) dataOf(await world.delete(`/users/${uid}/auth_tokens`))
    for (const authtoken of tokens) expect((await ask(world, address, { authtoken })).status).toBe(401)
    expect((await ask(world, address, { authtoken: await tokenOf(world, 'dave') })).status).toBe(200)
  })

  it('do not count where they were good and are over, of whatever kind', async () => {
    const issuer = await new Issuer().start()
    onTestFinished(() => issuer.stop())
    const world = await createWorld(service)
    await createUsers(world, 'alice')
    const named = { jwtIssuer: issuer.issuer, jwtAudience: world.app.name, jwtKeysUrl: `${issuer.issuer}/jwks` }
    dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { ...named, tokenLifetime: 1000 }))
    const own = await many(40, () => tokenOf(world, 'alice'))
    await world.context.database.run(
      sql`update auth_tokens set created_at = created_at - 2000 where app_id = ${world.app.appId}`,
    )
    const now = Math.floor(Date.now() / 1000)
    // They were good for an hour, long ago or until now, or are from before their user was there.
    const times = [
      { iat: now - 7200, exp: now - 3600 },
      { iat: now - 3600, exp: now - 1 },
      { iat: now - 3600, exp: now + 3600 },
    ]
    const usual = { iss: issuer.issuer, aud: world.app.name, sub: 'alice' }
    const signed = await many(90, (n) => issuer.sign({ ...usual, jti: `${n}`, ...times[n % times.length] }))
    const address = '198.51.100.7'
    for (const authtoken of [...own, ...signed]) expect((await ask(world, address, { authtoken })).status).toBe(401)
    const fresh = await tokenOf(world, 'alice')
    expect((await ask(world, address, { authtoken: fresh })).status).toBe(200)

    const [expired = ''] = signed
    const forge = (n: number) => ({
      authtoken: `${expired.slice(0, expired.lastIndexOf('.'))}.${Buffer.alloc(256, n).toString('base64url')}`,
    })
    const answers = await many(101, (n) => ask(world, address, forge(n)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
    expect(refusal(await firstRefused((n) => ask(world, address, forge(101 + n))))).toBe(tooMany)
  })

  it('count for sockets, too', async () => {
    const logIn = async (n: number) => {
      const client = await new Client(service.url, { 'x-forwarded-for': '198.51.100.5' }).opened()
      client.send({ type: 'auth', appId: 'parley', body: { auth: `wrong-${n}` } })
      const { body } = await client.takeType('auth')
      await client.closed()
      return body.code
    }
    const codes = await many(101, logIn)
    expect(new Set(codes)).toEqual(new Set(['401']))
    for (let n = 101; (await logIn(n)) !== '429'; n++) expect(n).toBeLessThan(120)
  })

  it('on this machine are not slowed down', async () => {
    const world = await createWorld()
    const answers = await many(110, (n) => ask(world, '127.0.0.1', guess(n)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
  })
})

describe('RATE_LIMITS', () => {
  const figures = (text?: string) => {
    const { rateLimits } = readConfig(text === undefined ? {} : { RATE_LIMITS: text })
    return Object.fromEntries(Object.entries(rateLimits).map(([name, { perMinute }]) => [name, perMinute]))
  }
  const defaults = figures()

  it('has defaults; is off, the documented figures, or figures of one’s own', () => {
    expect(defaults).toMatchObject({ address: expect.any(Number), user: expect.any(Number), core: expect.any(Number) })
    expect(defaults).not.toHaveProperty('import')
    expect(figures('default')).toEqual(defaults)
    expect(figures('off')).toEqual({})
    expect(figures('hosted')).toEqual({
      ...defaults,
      ...{ core: 10_000, standard: 20_000, import: 60, sendPerUser: 30, markUnreadPerUser: 5 },
    })
    expect(figures('core=5, senDperuser=7,user=0')).toEqual(
      Object.fromEntries(Object.entries({ ...defaults, core: 5, sendPerUser: 7 }).filter(([name]) => name !== 'user')),
    )
    for (const wrong of ['many', 'core', 'other=5', 'core=x', 'core=-1']) {
      expect(() => readConfig({ RATE_LIMITS: wrong })).toThrow(ConfigError)
    }
  })
})
