import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest'
import { createOwnDatabase, type OwnDatabase } from '../support/own-database.ts'
import { openReception, type Reception } from '../support/reception.ts'
import { startService } from '../support/service.ts'
import { soon, until } from '../support/until.ts'
import { chatWorld, closeEndpoints, open, register, tell } from '../support/webhooks.ts'

const worker = 'parley jobs'
let own: OwnDatabase
let reception: Reception

beforeEach(async () => {
  own = await createOwnDatabase()
  reception = await openReception(String(own.connection.database))
})
afterEach(async () => {
  reception.close()
  await own.drop()
})
afterAll(closeEndpoints)

/** A service that has just started, while the worker's second connection is not let through. */
async function startWhile(welcome: 'refuse' | 'hold') {
  // The first connection is that by which the worker looks at its tables, before it fetches.
  reception.behave((name, count) => (name === worker && count > 1 ? welcome : 'pass'))
  const service = await startService({}, reception.connection)
  await until(() => reception.count(worker) > 1, { interval: 5 })
  return service
}

async function expectDelivery(service: Awaited<ReturnType<typeof startService>>): Promise<void> {
  const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
  await register(world, endpoint.url)
  await tell(world, message)
  await soon(() => expect(endpoint.received).toHaveLength(1))
}

async function statusOf({ url }: { url: string }) {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const metric = (name: string) => Number(new RegExp(`^${name} (.+)$`, 'm').exec(metrics)?.[1])
  const ready = await fetch(`${url}/ready`)
  return {
    status: ready.status,
    jobs: ((await ready.json()) as { jobs: string }).jobs,
    up: metric('parley_job_runner_up'),
    restarts: metric('parley_job_runner_restarts_total'),
  }
}

it('webhooks go out after a start at which the database refused the connections of the worker', async () => {
  const service = await startWhile('refuse')
  // It has stalled, and says so; nothing else is worse for it.
  await soon(async () => expect(await statusOf(service)).toMatchObject({ status: 200, jobs: 'stalled', up: 0 }))
  reception.open()
  await expectDelivery(service)
  const { restarts, ...now } = await statusOf(service)
  expect(now).toEqual({ status: 200, jobs: 'running', up: 1 })
  expect(restarts).toBeGreaterThan(0)
  await service.parley.close()
})

it('webhooks go out after a start at which the worker waited for its connection', async () => {
  const service = await startWhile('hold')
  await delay(3_000)
  reception.open()
  await expectDelivery(service)
  await service.parley.close()
})

it('webhooks go on after the connections of the worker have died without a word', async () => {
  const service = await startService({}, reception.connection)
  await expectDelivery(service)
  reception.mute(worker)
  await expectDelivery(service)
  expect((await statusOf(service)).restarts).toBeGreaterThan(0)
  await service.parley.close()
}, 120_000)
