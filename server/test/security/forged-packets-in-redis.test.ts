import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RedisServer, redisServer, startRedis } from '../cluster/redis.ts'
import { describeWith } from '../gate/needs.ts'
import { say } from '../support/chat.ts'
import { startService } from '../support/service.ts'
import { connect } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** Whoever may publish in the Redis between the processes says what users and apps never said. */
describeWith(redisServer, 'In a Redis that others use as well', () => {
  let redis: RedisServer
  let service: Awaited<ReturnType<typeof startService>>
  let intruder: Redis
  beforeAll(async () => {
    redis = await startRedis()
    service = await startService({ REDIS_URL: redis.url })
    intruder = new Redis(redis.url)
  })
  afterAll(async () => {
    intruder.disconnect()
    await service.parley.close()
    await redis.close()
  })

  it('nobody else tells the sockets anything, nor twice what was told before', async () => {
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    const bob = await connect(world, 'bob')
    const listener = intruder.duplicate()
    const overheard: Array<[channel: string, text: string]> = []
    listener.on('pmessage', (_pattern, channel: string, text: string) => overheard.push([channel, text]))
    await listener.psubscribe('*')
    await say(world, 'alice', 'bob', 'said once')
    await bob.takeText('said once')
    await until(() => overheard.some(([, text]) => text.includes('said once') || text.includes('message')))

    const place = { kind: 'user', first: 'alice', second: 'bob' }
    const event = { signal: 'typing_indicator', ...place, uid: 'alice', device: 'd', body: { action: 'started' } }
    const heard = overheard.splice(0)
    for (const [channel, text] of heard) {
      await intruder.publish(channel, text)
      await intruder.publish(channel, text.replaceAll('said once', 'never said'))
      await intruder.publish(channel, `forger e1 ${JSON.stringify([world.app.appId, event])}`)
      await intruder.publish(channel, 'nonsense')
    }
    await say(world, 'alice', 'bob', 'the end')
    await bob.takeText('the end')
    expect(heard.length).toBeGreaterThan(0)
    expect(bob.frames).toEqual([])
    listener.disconnect()
  })
})
