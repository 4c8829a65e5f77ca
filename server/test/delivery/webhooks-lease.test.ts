import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { soon, until } from '../support/until.ts'
import { chatWorld, closeEndpoints, idsOf, open, register, tell } from '../support/webhooks.ts'

let own: OwnServices
let service: Service

beforeAll(async () => {
  own = await createOwnServices()
  service = await own.start()
}, 60_000)
afterAll(async () => {
  await own.close()
  await closeEndpoints()
})

it('a webhook that is left alone gets no jobs from what happens meanwhile, and all that waits once its pause is over', async () => {
  const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
  await register(world, endpoint.url)
  const app = [world.app.appId]
  await own.query(
    'update webhook_states set paused_until = (extract(epoch from clock_timestamp()) * 1000)::bigint + 600000 where app_id = $1',
    app,
  )
  const waiting = (count: number) =>
    soon(async () => {
      const rows = await own.query('select from webhook_deliveries where app_id = $1 and due_at is not null', app)
      expect(rows).toHaveLength(count)
    })
  for (const count of [1, 2, 3]) {
    await tell(world, message)
    await waiting(count)
  }
  // The one for the end of a pause is added as it begins.
  const jobs = `select key from graphile_worker._private_jobs where key like 'webhook:' || $1 || ':%'`
  expect(await own.query(jobs, app)).toEqual([])
  await own.query('update webhook_states set paused_until = 0 where app_id = $1', app)
  await soon(() => expect(new Set(idsOf(endpoint)).size).toBe(3))
})

it('a lease that could not be renewed for a while is given up: nothing overtakes what was left out meanwhile', async () => {
  const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
  await register(world, endpoint.url)
  endpoint.behave({ delayMs: 300 })
  await tell(world, message, 40)
  await soon(() => expect(endpoint.received.length).toBeGreaterThan(2))

  // Renewing waits for this lock, delivering does not; until attempts cease, since somebody else may soon begin.
  const release = await own.lock('select from webhook_states where app_id = $1 for update', [world.app.appId])
  let before = 0
  await until(
    () => {
      const isQuiet = before === endpoint.received.length
      before = endpoint.received.length
      return isQuiet
    },
    { interval: 500 },
  )
  await release()
  await tell(world, message, 5)
  await soon(() => expect(new Set(idsOf(endpoint)).size).toBe(45), { progress: () => endpoint.received.length })
  const ids = [...new Set(idsOf(endpoint).map((id) => Number(id.split('_').at(-1))))]
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
}, 180_000)
