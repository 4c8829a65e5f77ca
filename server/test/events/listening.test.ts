import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBus } from '../../src/events/bus.ts'
import { createListening, listenersTopic } from '../../src/events/listening.ts'
import type { BusEvent } from '../../src/events/types.ts'
import { until } from '../support/until.ts'
import { createWorld } from '../support/world.ts'
import { type Cluster, createApp, type Service, startCluster } from './support.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await startCluster(2)
})
afterAll(() => cluster.end())

describe('what is listened for', () => {
  it('is what sources wait for, whatever the envelope calls it, and is asked for once', async () => {
    const { context, app } = await createWorld()
    const listening = createListening(context.database, context.invalidation)
    let asked = 0
    let triggers = ['after_message', 'group_created']
    listening.addSource(async () => {
      asked++
      return triggers
    })
    listening.addSource(async () => ['user_connection_status_change'])
    const known = new Set(['message_sent', 'group_created', 'user_connection_status_changed'])
    expect(listening.known(app.appId)).toEqual(new Set())
    expect(await Promise.all([1, 2, 3].map(() => listening.of(app.appId)))).toEqual([known, known, known])
    expect(listening.known(app.appId)).toEqual(known)
    expect(asked).toBe(1)

    triggers = []
    expect(await listening.of(app.appId)).toEqual(known)
    listening.forget(app.appId)
    expect(await listening.of(app.appId)).toEqual(new Set(['user_connection_status_changed']))
  })

  it('is asked for again when it could not be read', async () => {
    const { context, app } = await createWorld()
    const listening = createListening(context.database, context.invalidation)
    let fails = true
    listening.addSource(async () => {
      if (fails) throw new Error('on purpose')
      return ['message_sent']
    })
    await expect(listening.of(app.appId)).rejects.toThrow('on purpose')
    fails = false
    await until(async () => (await listening.of(app.appId).catch(() => new Set())).has('message_sent'))
  })

  it('is told to every process: when pulling begins, and when webhooks change', async () => {
    const { app, ask } = await createApp(cluster)
    const [first, second] = cluster.services.map(({ parley }) => parley.context) as [
      Service['parley']['context'],
      Service['parley']['context'],
    ]
    expect((await second.events.listens(app.appId)).size).toBe(0)
    await ask(0, 'GET', '/events')
    expect((await first.events.listens(app.appId)).size).toBeGreaterThan(20)
    await until(async () => (await second.events.listens(app.appId)).size > 20)

    const other = await createApp(cluster)
    let triggers: string[] = []
    second.events.keepFor(async (appId) => (appId === other.app.appId ? triggers : []))
    expect((await second.events.listens(other.app.appId)).size).toBe(0)
    triggers = ['message_sent']
    await first.invalidation.announce(first.database, listenersTopic, String(other.app.appId))
    await until(async () => (await second.events.listens(other.app.appId)).has('message_sent'))
  })
})

describe('a bus', () => {
  it('tells every listener, and says whether any of them cares', () => {
    const bus = createBus()
    const event: BusEvent = { trigger: 'user_blocked', by: 'alice', uids: ['bob'] }
    const heard: string[] = []
    expect(bus.isHeard).toBe(false)
    let cares = false
    const stop = bus.subscribe(
      () => heard.push('first'),
      () => cares,
    )
    bus.publish(1, event)
    expect(bus.isHeard).toBe(false)
    cares = true
    expect(bus.isHeard).toBe(true)
    bus.subscribe(() => heard.push('second'))
    stop()
    bus.publish(1, event)
    expect(heard).toEqual(['first', 'second'])
    expect(bus.isHeard).toBe(true)
  })
})
