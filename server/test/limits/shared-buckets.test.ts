import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSharedBuckets } from '../../src/limits/shared-buckets.ts'
import { createLog } from '../../src/log.ts'
import { openRedis, type RedisLink } from '../../src/store/redis.ts'
import { type RedisServer, redisServer, startRedis } from '../cluster/redis.ts'
import { describeWith } from '../gate/needs.ts'
import { until } from '../support/until.ts'

describeWith(redisServer, 'Buckets of several processes', () => {
  let server: RedisServer
  let links: RedisLink[]
  beforeAll(async () => {
    server = await startRedis()
    links = Array.from({ length: 3 }, () => openRedis({ url: server.url, prefix: 'test' }, 'here', createLog('silent')))
    await until(() => links.every(({ isUp }) => isUp))
  })
  afterAll(async () => {
    for (const link of links) link.close()
    await server.close()
  })
  const share = (name: string, size: { perMinute: number; burst: number }) =>
    links.map((link) => createSharedBuckets(name, size, link))

  it('give together what one would, however the requests are spread', async () => {
    const size = { perMinute: 6, burst: 6 }
    const processes = share('spread', size)
    const from = performance.now()
    let taken = 0
    for (let n = 0; n < 30; n++) if ((await processes[n % 3]?.take('key'))?.isTaken) taken++
    const refilled = Math.ceil((performance.now() - from) / 10_000)
    expect(taken).toBeGreaterThanOrEqual(6)
    expect(taken).toBeLessThanOrEqual(6 + refilled)
  })

  it('differ by no more than a hundredth of a minute for each process', async () => {
    const size = { perMinute: 600, burst: 100 }
    const processes = share('steps', size)
    const from = performance.now()
    let taken = 0
    for (let n = 0; n < 900; n++) if ((await processes[n % 3]?.take('key'))?.isTaken) taken++
    const refilled = Math.ceil((performance.now() - from) / 100)
    expect(taken).toBeGreaterThanOrEqual(100)
    expect(taken).toBeLessThanOrEqual(100 + 3 * 6 + refilled)
    const after = await Promise.all(processes.map((process) => process.take('key', 50)))
    expect(after.map(({ isTaken }) => isTaken)).toEqual([false, false, false])
  })

  it('share a debt', async () => {
    const [one, other] = share('debt', { perMinute: 6, burst: 6 })
    expect((await one?.take('key', 100, 0))?.isTaken).toBe(true)
    const refused = await other?.take('key')
    expect(refused?.isTaken).toBe(false)
    expect(refused?.left).toBeLessThan(-80)
    expect(refused?.msLeft).toBeGreaterThan(800_000)
  })

  it('leave nothing behind when they are full again', async () => {
    const [one] = share('gone', { perMinute: 60_000, burst: 600 })
    for (let n = 0; n < 600; n++) await one?.take('key')
    await until(async () => {
      const keys = (await server.command('keys', '*bucket:gone:*')) as string[]
      return keys.length === 0
    })
  })
})
