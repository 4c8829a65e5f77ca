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
import { openFlapping } from './workers.ts'

const stage = createStage()

describeWith(redisServer, 'the process that leads is killed', () => {
  let redis: RedisServer
  let endpoint: Endpoint
  let database: pg.Client
  let leader: ServiceProcess
  let line: Line
  let settings: Record<string, string>

  const select = async <T>(text: string): Promise<T> => (await database.query(text)).rows[0]
  const sending = { receiver: 'bob', receiverType: 'user' }
  const say = async (text: string) =>
    Number(
      (await expectSuccess(line.call('POST', '/messages', { ...sending, data: { text } }, { as: 'alice' }))).data.id,
    )
  const horizon = async () => Number((await select<{ id: string }>('select id from event_horizon')).id)
  const indexed = async () => Number((await select<{ id: string }>('select indexed_id as id from search_progress')).id)

  beforeAll(async () => {
    redis = await startRedis()
    endpoint = await openEndpoint()
    const { url: connectionString, drop } = await createOwnDatabase()
    stage.onClean(drop)
    database = new pg.Client({ connectionString })
    database.on('error', () => {})
    await database.connect()
    settings = { DATABASE_URL: connectionString, REDIS_URL: redis.url, WEBHOOK_ALLOW_PRIVATE: 'true' }
    // The only one there is does everything.
    leader = await stage.start({ ...settings, DATA_DIR: stage.makeFolder() })
    const leading = await leader.ready
    line = openLine(() => leading)
    for (const uid of ['alice', 'bob', 'watcher']) await expectSuccess(line.call('POST', '/users', { uid, name: uid }))
    const hook = { id: 'hook', name: 'Hook', webhookURL: endpoint.url, retryOnFailure: true }
    const triggers = ['message_sent', 'user_connection_status_changed']
    await expectSuccess(line.call('POST', '/webhooks', { ...hook, triggers }))
    const first = await say('before')
    await until(async () => (await indexed()) >= first && (await horizon()) > 0)
    await until(() => endpoint.received.length === 1)
  })
  afterAll(async () => {
    await line?.close()
    await database?.end()
    await stage.clean()
    await endpoint?.close()
    await redis?.close()
  })

  it('another moves the event log on, delivers to webhooks, fills the search, and lets its users go', async () => {
    const follower = await stage.start({ ...settings, DATA_DIR: stage.makeFolder() })
    const following = await follower.ready
    const token = async (uid: string) =>
      (await expectSuccess(line.call('POST', `/users/${uid}/auth_tokens`, {}))).data.authToken
    const loginOf = async (uid: string) => ({
      ...{ type: 'auth', appId: 'parley', deviceId: `d-${uid}` },
      body: { auth: await token(uid), presenceSubscription: 'NONE' },
    })
    const leading = await leader.ready
    const bob = openFlapping(leading, await loginOf('bob'))
    stage.onClean(() => bob.stop())
    const isOnline = async () =>
      (await select<{ online: boolean }>(`select online from users where uid = 'bob'`)).online
    await until(isOnline)

    // It is killed in the middle of delivering.
    endpoint.behave({ delayMs: 100 })
    let last = 0
    for (let i = 0; i < 30; i++) last = await say(`event ${i}`)
    await until(() => endpoint.received.length > 5, { interval: 10 })
    await leader.kill()
    await line.close()
    line = openLine(() => following)
    const newest = await say('after')
    expect(newest).toBeGreaterThan(last)

    const ids = () => new Set(endpoint.received.map(({ headers }) => headers['webhook-id']))
    const delivered = async () =>
      Number(
        (await select<{ n: string }>(`select count(*) as n from webhook_deliveries where due_at is not null`)).n,
      ) === 0
    const checks: Record<string, () => Promise<boolean>> = {
      'the event log moves on': async () => {
        const { id } = await select<{ id: string }>('select max(id) as id from events')
        return (await horizon()) >= Number(id)
      },
      'every message is searched by index': async () => (await indexed()) >= newest,
      // 32 messages, bob who came, bob who went.
      'every event is delivered': async () => ids().size === 34 && (await delivered()),
      'users of the dead are offline': async () => !(await isOnline()),
    }
    for (const [what, isSo] of Object.entries(checks)) {
      await until(isSo, { progress: () => endpoint.received.length }).catch((error: Error) => {
        throw new Error(`${what}: ${error.message}; ${follower.output()}`)
      })
    }
    // He came and went, once each, though several processes might have said so.
    const seen = endpoint.received.filter(({ body }) => body.trigger === 'user_connection_status_changed')
    expect(new Set(seen.map(({ headers }) => headers['webhook-id'])).size).toBe(2)
  })
})
