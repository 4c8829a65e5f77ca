import pg from 'pg'
import { afterAll, afterEach, expect, it } from 'vitest'
import { redisServer, startRedis } from '../cluster/redis.ts'
import { describeWith } from '../gate/needs.ts'
import { openEndpoint } from '../support/endpoint.ts'
import { soon } from '../support/until.ts'
import { connectToDatabase } from './support/database.ts'
import { startExternalServer } from './support/external.ts'
import { expectSuccess, openLine } from './support/line.ts'
import type { ServiceProcess } from './support/service-process.ts'
import { createStage } from './support/stage.ts'

const stage = createStage()
afterEach(stage.killServices)
afterAll(stage.clean)

/** As it is left by a process that is killed while it delivers, but for a lease that nobody could wait for. */
async function leaveLease(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(
    `update webhook_states set leased_by = 'killed', leased_until = (extract(epoch from now()) * 1000)::bigint + 3600000`,
  )
  expect(rowCount).toBe(1)
}

/** A webhook for blocks, with one who is about to be blocked. */
async function prepare(service: ServiceProcess, webhookURL: string) {
  const url = await service.ready
  const line = openLine(() => url)
  for (const uid of ['alice', 'bob']) await expectSuccess(line.call('POST', '/users', { uid, name: uid }))
  const webhook = { id: 'hook', name: 'Hook', webhookURL, retryOnFailure: true, triggers: ['user_blocked'] }
  await expectSuccess(line.call('POST', '/webhooks', webhook))
  return {
    async block() {
      await expectSuccess(line.call('POST', '/users/alice/blockedusers', { blockedUids: ['bob'] }))
      await line.close()
    },
  }
}

/** Kills a service that had something to deliver and starts it again. */
async function expectToGoOn(settings: Record<string, string> = {}): Promise<void> {
  const environment = { DATA_DIR: stage.makeFolder(), WEBHOOK_ALLOW_PRIVATE: 'true', ...settings }
  const endpoint = await openEndpoint()
  const service = await stage.start(environment)
  const world = await prepare(service, endpoint.url)
  const database = await connectToDatabase(environment.DATA_DIR)
  await leaveLease(database)
  await database.end()
  await world.block()
  await service.kill()
  expect(endpoint.received).toHaveLength(0)

  await stage.start(environment)
  await soon(() => expect(endpoint.received).toHaveLength(1))
  await endpoint.close()
}

it('on its embedded database, a service delivers at once what a killed one held', () => expectToGoOn(), 180_000)

describeWith(redisServer, 'WORKERS=2', () => {
  it('delivers at once what killed workers held', async () => {
    const redis = await startRedis()
    await expectToGoOn({ WORKERS: '2', REDIS_URL: redis.url })
    await stage.killServices()
    await redis.close()
  }, 180_000)
})

it('on an external database, where others may serve too, a start leaves leases alone', async () => {
  const server = await startExternalServer(stage)
  const connectionString = await server.database('leased')
  const environment = { DATABASE_URL: connectionString, WEBHOOK_ALLOW_PRIVATE: 'true' }
  const endpoint = await openEndpoint()
  const service = await stage.start({ ...environment, DATA_DIR: stage.makeFolder() })
  await prepare(service, endpoint.url)
  const database = new pg.Client({ connectionString })
  await database.connect()
  await leaveLease(database)
  await stage.start({ ...environment, DATA_DIR: stage.makeFolder() })
  const { rows } = await database.query('select leased_by from webhook_states')
  expect(rows).toEqual([{ leased_by: 'killed' }])
  await database.end()
  await endpoint.close()
}, 120_000)
