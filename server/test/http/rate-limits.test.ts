import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from '../../src/config/index.ts'
import { createRateLimiter } from '../../src/http/rate-limits.ts'
import { refusal } from '../support/chat.ts'
import { startService } from '../support/service.ts'
import { createUsers, createWorld, send, type World } from '../support/world.ts'

type Service = Awaited<ReturnType<typeof startService>>

describe('rate limits', () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({ RATE_LIMITS: 'core=3,sendPerUser=4,markUnreadPerUser=1' })
  })
  afterAll(() => service.parley.close())

  const call = (world: World, method: string, path: string, body: unknown, as?: string) =>
    send(service.url, method, path, body, {
      appid: world.app.name,
      apikey: world.apiKey,
      ...(as !== undefined && { onbehalfof: as }),
    })

  it('refuse with 429 and say when to come back, for each app by itself', async () => {
    const [world, other] = [await createWorld(), await createWorld()]
    const make = (of: World, uid: string) => call(of, 'POST', '/users', { uid, name: uid })
    const answers = []
    for (let i = 0; i < 5; i++) answers.push(await make(world, `u${i}`))
    expect(answers.map(refusal)).toEqual([
      ...Array(3).fill('200 undefined'),
      ...Array(2).fill('429 ERR_TOO_MANY_REQUESTS'),
    ])
    expect(answers.map((answer) => answer.headers['x-rate-limit-remaining'])).toEqual(['2', '1', '0', '0', '0'])
    const refused = answers[4]
    expect(refused?.headers['x-rate-limit']).toBe('3')
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0)
    expect(Number(refused?.headers['x-rate-limit-reset'])).toBeGreaterThan(Date.now() / 1000)
    expect(refusal(await call(world, 'GET', '/users/u4', undefined))).toBe('404 ERR_UID_NOT_FOUND')
    expect((await make(other, 'u0')).status).toBe(200)
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

  it('are off where nothing is configured', async () => {
    const world = await createWorld()
    const answer = await world.get('/users')
    expect(answer.headers['x-rate-limit']).toBeUndefined()
  })
})

describe('the count of a minute', () => {
  it('starts anew with the next', async () => {
    let now = 0
    const limiter = createRateLimiter({ core: 2 }, undefined, () => now)
    const remaining = async (key: string) => (await limiter.take('core', key))?.remaining
    expect([await remaining('a'), await remaining('a'), await remaining('a')]).toEqual([1, 0, -1])
    expect(await remaining('b')).toBe(1)
    now = 60_000
    expect(await limiter.take('core', 'a')).toEqual({ limit: 2, remaining: 1, resetsAt: 120 })
    expect(await limiter.take('standard', 'a')).toBeUndefined()
  })
})

describe('RATE_LIMITS', () => {
  it('is off, the documented figures, or figures of one’s own', () => {
    expect(readConfig({}).rateLimits).toEqual({})
    expect(readConfig({ RATE_LIMITS: 'hosted' }).rateLimits).toMatchObject({
      core: 10_000,
      standard: 20_000,
      import: 60,
    })
    expect(readConfig({ RATE_LIMITS: 'core=5, sendperuser=7' }).rateLimits).toEqual({ core: 5, sendPerUser: 7 })
    for (const wrong of ['many', 'core=0', 'core', 'other=5', 'core=x']) {
      expect(() => readConfig({ RATE_LIMITS: wrong })).toThrow(ConfigError)
    }
  })
})
