import { createHook } from 'node:async_hooks'
import { fetch } from 'undici'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { dataOf, say } from '../support/chat.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { eventually } from '../support/socket.ts'
import { deliveriesOf, register } from '../support/webhooks.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** Look-ups of names by the system: each takes one of the four threads that read files, too, for as long as it lasts. */
const running = new Set<number>()
let most = 0
const watching = createHook({
  init(id, type) {
    if (type !== 'GETADDRINFOREQWRAP') return
    running.add(id)
    most = Math.max(most, running.size)
  },
  before: (id) => running.delete(id),
})
beforeAll(() => watching.enable())
afterAll(() => watching.disable())

/** An app names webhooks at hosts that do not resolve, and the files of all apps wait for the threads that look for them. */
it('Webhooks at names that do not resolve take no more than one of the threads that read files', async () => {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  const { url } = dataOf(await sendForm(world, toBob, [picture])).data
  const hooks = Array.from({ length: 25 }, (_, n) => `hook-${n}`)
  for (const id of hooks) {
    await register(world, `https://${id}.${world.app.name}.invalid/`, { id, name: id, retryOnFailure: false })
  }
  await say(world, 'alice', 'bob', 'hello')
  for (const id of hooks) {
    const [delivery] = await eventually(
      () => deliveriesOf(world, '', id),
      ([first]) => first?.status === 'failed',
    )
    expect(delivery.attempts).toBe(1)
  }
  expect((await fetch(url)).status).toBe(200)
  expect(most).toBeLessThanOrEqual(1)
})
