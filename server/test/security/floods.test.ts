import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Attacker, attackerAs, attackerWith } from '../support/attacker.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { inTurns } from '../support/in-turns.ts'
import { startService } from '../support/service.ts'
import { tokenOf } from '../support/socket.ts'
import { type Answer, createUsers, createWorld, send, type World } from '../support/world.ts'

const tooMany = '429 ERR_TOO_MANY_REQUESTS'
type Service = Awaited<ReturnType<typeof startService>>

/** Calls so many times, some at a time. */
const flood = (times: number, call: (n: number) => Promise<Answer>) =>
  inTurns(
    8,
    Array.from({ length: times }, (_, n) => () => call(n)),
  )

/** One token asks and sends without a pause, to use up what is there for all. */
describe('Whoever asks without a pause', () => {
  let service: Service
  let world: World
  let mallory: Attacker
  let bert: Attacker

  beforeAll(async () => {
    service = await startService({ RATE_LIMITS: 'standard=300,core=300,user=100,sendPerUser=30' })
    // Set up by another service of the same database, where nothing is counted.
    const unlimited = await createWorld()
    await createUsers(unlimited, 'mallory', 'bert', ...Array.from({ length: 40 }, (_, n) => `u${n}`))
    world = { ...unlimited, url: service.url }
    mallory = await attackerAs(world, 'mallory')
    bert = await attackerAs(world, 'bert')
  })
  afterAll(() => service.parley.close())

  it('is refused themselves, and neither other users nor the back end are', async () => {
    const answers = await flood(320, () => mallory.get('/me'))
    expect(answers.filter((answer) => refusal(answer) === tooMany).length).toBeGreaterThan(99)
    expect((await bert.get('/conversations')).status).toBe(200)
    const backEnd = { appid: world.app.name, apikey: world.apiKey }
    expect((await send(world.url, 'GET', '/users', undefined, backEnd)).status).toBe(200)
  })

  it('reaches no more strangers by naming many at once', async () => {
    const uids = Array.from({ length: 40 }, (_, n) => `u${n}`)
    const toAll = () => bert.post('/messages', { multipleReceivers: { uids }, data: { text: 'SPAM' } })
    const answers = await flood(4, toAll)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(refusal(await bert.post('/messages', { receiver: 'u0', receiverType: 'user', data: { text: 'x' } }))).toBe(
      tooMany,
    )
  })

  it('costs no look-up once their limit is exceeded, and is still told when to come back', async () => {
    const limited = await startService({ RATE_LIMITS: 'user=5' })
    try {
      const unlimited = await createWorld()
      await createUsers(unlimited, 'mallory', 'bert')
      const here = { ...unlimited, url: limited.url }
      const token = await tokenOf(unlimited, 'mallory')
      const [flooding, quiet] = [attackerWith(here, { authtoken: token }), await attackerAs(here, 'bert')]
      for (let n = 0; n < 5; n++) expect((await flooding.get('/me')).status).toBe(200)
      expect(refusal(await flooding.get('/me'))).toBe(tooMany)
      const asked = vi.spyOn(limited.parley.context.database, 'query')
      for (let n = 0; n < 10; n++) {
        const refused = await flooding.get('/users')
        expect(refusal(refused)).toBe(tooMany)
        expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
        expect(refused.headers).toMatchObject({ 'x-rate-limit': '5', 'x-rate-limit-remaining': '0' })
      }
      expect(asked).not.toHaveBeenCalled()
      asked.mockRestore()
      expect((await quiet.get('/me')).status).toBe(200)
      const backEnd = attackerWith(here, { apikey: here.apiKey, authtoken: token })
      expect((await backEnd.get('/users')).status).toBe(200)
    } finally {
      await limited.parley.close()
    }
  })
})

/** Uncounted, a guess costs nothing but a query. */
describe('Whoever guesses keys and tokens', () => {
  let service: Service
  let world: World
  beforeAll(async () => {
    service = await startService({ TRUST_PROXY: 'loopback', RATE_LIMITS: 'off' })
    world = await createWorld(service)
    await createUsers(world, 'victim')
  })
  afterAll(() => service.parley.close())

  const from = (address: string, credential: Record<string, string>) =>
    send(world.url, 'GET', '/users', undefined, {
      appid: world.app.name,
      'x-forwarded-for': address,
      ...credential,
    })

  it.each([
    ['apikey', '198.51.100.7', '198.51.100.8', (n: number) => n.toString(16).padStart(40, '0')],
    [
      'authtoken',
      '2001:db8:0:1::7',
      '2001:db8:0:2::8',
      (n: number) => `victim_1700000000${n.toString(16).padStart(30, '0')}`,
    ],
  ])('is slowed down, and nobody else is: %s', async (name, there, elsewhere, guess) => {
    const answers = await flood(300, (n) => from(there, { [name]: guess(n) }))
    expect(answers.filter((answer) => refusal(answer) === tooMany).length).toBeGreaterThan(100)
    expect(answers.filter(({ status }) => status === 200)).toEqual([])
    expect((await from(elsewhere, { [name]: guess(1) })).status).toBe(401)
    expect((await from(elsewhere, { authtoken: await tokenOf(world, 'victim') })).status).toBe(200)
  })
})

describe('Limits', () => {
  it('are on where nothing is set', async () => {
    const service = await startService({ RATE_LIMITS: 'default' })
    const world = await createWorld(service)
    await createUsers(world, 'alice')
    const alice = await attackerAs(world, 'alice')
    expect(Number((await alice.get('/me')).headers['x-rate-limit'])).toBeGreaterThan(0)
    expect(dataOf(await world.get('/users'))).toHaveLength(1)
    await service.parley.close()
  })
})
