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
