import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectSuccess, type Line, openLine } from '../faults/support/line.ts'
import type { ServiceProcess } from '../faults/support/service-process.ts'
import { createStage } from '../faults/support/stage.ts'
import { describeWith } from '../gate/needs.ts'
import { type Endpoint, openEndpoint } from '../support/endpoint.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { until } from '../support/until.ts'
import { type RedisServer, redisServer, startRedis } from './redis.ts'
import { metricOf } from './support.ts'

const stage = createStage()

describeWith(redisServer, 'the process that leads stands still', () => {
  let redis: RedisServer
  let endpoint: Endpoint
  let database: pg.Client
  let leader: ServiceProcess
  let follower: ServiceProcess
  let throughLeader: Line
  let throughFollower: Line
  let url: string

  const select = async <T>(text: string): Promise<T> => (await database.query(text)).rows[0]
  const sending = { receiver: 'bob', receiverType: 'user' }
  const say = async (line: Line, text: string) =>
    Number(
      (await expectSuccess(line.call('POST', '/messages', { ...sending, data: { text } }, { as: 'alice' }))).data.id,
    )
  const horizon = async () => Number((await select<{ id: string }>('select id from event_horizon')).id)
  const lastEvent = async () => Number((await select<{ id: string }>('select max(id) as id from events')).id)
  const indexed = async () => Number((await select<{ id: string }>('select indexed_id as id from search_progress')).id)
  const openDeliveries = async () =>
    Number((await select<{ n: string }>('select count(*) as n from webhook_deliveries where due_at is not null')).n)
  /** The session that holds the lock of the relay, of which each database of the server has one. */
  const holder = async () =>
    (
      await select<{ pid: number }>(`
        select pid
        from pg_locks
        where locktype = 'advisory'
        and objid = 2911983709
        and database = (select oid from pg_database where datname = current_database())`)
    ).pid
  const told = () => endpoint.received.map(({ headers, body }) => ({ id: headers['webhook-id'], text: textOf(body) }))
  const progress = () => endpoint.received.length

  beforeAll(async () => {
    redis = await startRedis()
    endpoint = await openEndpoint()
    const { url: connectionString, drop } = await createOwnDatabase()
    stage.onClean(drop)
    database = new pg.Client({ connectionString })
    database.on('error', () => {})
    await database.connect()
    const settings = { DATABASE_URL: connectionString, REDIS_URL: redis.url, WEBHOOK_ALLOW_PRIVATE: 'true' }
    // The only one there is leads everything.
    leader = await stage.start({ ...settings, DATA_DIR: stage.makeFolder() })
    const first = await leader.ready
    throughLeader = openLine(() => first)
    for (const uid of ['alice', 'bob']) {
      await expectSuccess(throughLeader.call('POST', '/users', { uid, name: uid }))
    }
    const hook = {
      id: 'hook',
      name: 'Hook',
      webhookURL: endpoint.url,
      retryOnFailure: true,
      triggers: ['message_sent'],
    }
    await expectSuccess(throughLeader.call('POST', '/webhooks', hook))
    const id = await say(throughLeader, 'before')
    await until(async () => (await indexed()) >= id && endpoint.received.length === 1)
    follower = await stage.start({ ...settings, DATA_DIR: stage.makeFolder() })
    url = await follower.ready
    throughFollower = openLine(() => url)
  })
  afterAll(async () => {
    if (leader?.isRunning) process.kill(leader.pid, 'SIGCONT')
    await throughLeader?.close()
    await throughFollower?.close()
    await database?.end()
    await stage.clean()
    await endpoint?.close()
    await redis?.close()
  })

  it('another ends its session, and tells webhooks everything once and in order, also when it wakes up', async () => {
    const texts = ['before']
    const sayAll = async (line: Line, count: number, name: string) => {
      for (let i = 0; i < count; i++) {
        const text = `${name} ${i}`
        texts.push(text)
        await say(line, text)
      }
    }
    // In the middle of delivering.
    endpoint.behave({ delayMs: 50 })
    await sayAll(throughLeader, 20, 'at first')
    await until(() => endpoint.received.length > 3, { interval: 5 })
    const before = await holder()
    process.kill(leader.pid, 'SIGSTOP')
    endpoint.behave({})
    await sayAll(throughFollower, 10, 'meanwhile')
    await until(async () => ((await metricOf(url, 'parley_events_behind_seconds')) ?? 0) > 0)

    const isCaughtUp = async () =>
      (await horizon()) >= (await lastEvent()) &&
      (await openDeliveries()) === 0 &&
      new Set(told().map(({ id }) => id)).size === texts.length
    await until(isCaughtUp, { progress }).catch((error: Error) => {
      throw new Error(`${error.message}; ${follower.output()}`)
    })
    expect(await metricOf(url, 'parley_events_behind_seconds')).toBe(0)
    const after = await holder()
    expect(after).not.toBe(before)
    const lastId = await say(throughFollower, 'to be found')
    texts.push('to be found')
    await until(async () => (await indexed()) >= lastId, { progress })
    for (const work of ['relay', 'search index']) {
      expect(follower.output()).toMatch(new RegExp(`"work":"${work}".*the process that leads this work stands still`))
    }

    process.kill(leader.pid, 'SIGCONT')
    await sayAll(throughLeader, 10, 'awake again')
    await sayAll(throughFollower, 10, 'at last')
    await until(isCaughtUp, { progress }).catch((error: Error) => {
      throw new Error(`${error.message}; ${leader.output()}`)
    })
    expect(await holder()).toBe(after)
    // An attempt whose answer nobody heard is made again, under the same id; nothing has two ids, and nothing comes before what was before it.
    const firsts = [...new Map(told().map(({ id, text }) => [id, text])).values()]
    expect(firsts).toEqual(texts)
    expect(leader.output()).not.toContain('"level":50')
    expect(follower.output()).not.toContain('"level":50')
  })
})

function textOf(body: { data?: { message?: { data?: { text?: string } } } }): string | undefined {
  return body.data?.message?.data?.text
}
