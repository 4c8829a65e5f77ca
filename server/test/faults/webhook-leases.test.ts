import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redisServer, startRedis } from '../cluster/redis.ts'
import { describeWith } from '../gate/needs.ts'
import { type Endpoint, openEndpoint } from '../support/endpoint.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { soon } from '../support/until.ts'
import { connectToDatabase } from './support/database.ts'
import { expectSuccess, type Line, openLine } from './support/line.ts'
import type { ServiceProcess } from './support/service-process.ts'
import { createStage } from './support/stage.ts'

const stage = createStage()
afterAll(stage.clean)

/** As it is left by a process that is killed while it delivers, but for a lease that nobody could wait for. */
async function leaveLease(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(
    `update webhook_states set leased_by = 'killed', leased_until = (extract(epoch from now()) * 1000)::bigint + 600000`,
  )
  expect(rowCount).toBe(1)
}

/** A webhook for blocks, with two who are about to be blocked. */
async function prepare(line: Line, webhookURL: string): Promise<void> {
  for (const uid of ['alice', 'bob', 'carol']) await expectSuccess(line.call('POST', '/users', { uid, name: uid }))
  const webhook = { id: 'hook', name: 'Hook', webhookURL, retryOnFailure: true, triggers: ['user_blocked'] }
  await expectSuccess(line.call('POST', '/webhooks', webhook))
}

describe('on its embedded database', () => {
  const environment = { DATA_DIR: stage.makeDataDir(), WEBHOOK_ALLOW_PRIVATE: 'true' }
  let endpoint: Endpoint
  let service: ServiceProcess
  let url = ''
  const line = openLine(() => url)
  stage.onClean(line.close)

  async function start(settings: Record<string, string> = {}): Promise<void> {
    service = await stage.start({ ...environment, ...settings })
    url = await service.ready
  }

  beforeAll(async () => {
    endpoint = await openEndpoint()
    stage.onClean(endpoint.close)
    await start()
    await prepare(line, endpoint.url)
  })
  afterAll(stage.killServices)

  /** Kills the service, which then has a block to tell of, and starts it again with these settings. */
  async function expectToGoOn(uid: string, settings: Record<string, string> = {}): Promise<void> {
    const before = endpoint.received.length
    const database = await connectToDatabase(environment.DATA_DIR)
    await leaveLease(database)
    await database.end()
    await expectSuccess(line.call('POST', '/users/alice/blockedusers', { blockedUids: [uid] }))
    await service.kill()
    expect(endpoint.received).toHaveLength(before)

    await start(settings)
    await soon(() => expect(endpoint.received).toHaveLength(before + 1))
  }

  it('a service delivers at once what a killed one held', () => expectToGoOn('bob'))

  describeWith(redisServer, 'WORKERS=2', () => {
    it('delivers at once what a killed service held', async () => {
      const redis = await startRedis()
      stage.onClean(redis.close)
      await expectToGoOn('carol', { WORKERS: '2', REDIS_URL: redis.url })
    })
  })
})

it('on an external database, where others may serve too, a start leaves leases alone', async () => {
  const { connection, url: connectionString, drop } = await createOwnDatabase()
  stage.onClean(drop)
  const environment = { DATABASE_URL: connectionString, WEBHOOK_ALLOW_PRIVATE: 'true' }
  const endpoint = await openEndpoint()
  const service = await stage.start({ ...environment, DATA_DIR: stage.makeFolder() })
  const url = await service.ready
  const line = openLine(() => url)
  await prepare(line, endpoint.url)
  await line.close()
  const database = new pg.Client(connection)
  await database.connect()
  await leaveLease(database)
  await stage.start({ ...environment, DATA_DIR: stage.makeFolder() })
  const { rows } = await database.query('select leased_by from webhook_states')
  expect(rows).toEqual([{ leased_by: 'killed' }])
  await database.end()
  await endpoint.close()
})
