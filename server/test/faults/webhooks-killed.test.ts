import { afterAll, afterEach, expect, it } from 'vitest'
import { openEndpoint } from '../support/endpoint.ts'
import { soon } from '../support/until.ts'
import { expectSuccess, openLine } from './support/line.ts'
import { createStage } from './support/stage.ts'

const stage = createStage()
afterEach(stage.killServices)
afterAll(stage.clean)

it('what a killed service had still to tell a webhook is told by the next, each event at least once', async () => {
  const environment = {
    DATA_DIR: stage.makeDataDir(),
    WEBHOOK_ALLOW_PRIVATE: 'true',
    WEBHOOK_RETRY_SCHEDULE_SECONDS: Array(20).fill('0.5').join(','),
  }
  const endpoint = await openEndpoint()
  let service = await stage.start(environment)
  let url = await service.ready
  const line = openLine(() => url)
  for (const uid of ['alice', 'bob']) await expectSuccess(line.call('POST', '/users', { uid, name: uid }))
  await expectSuccess(
    line.call('POST', '/webhooks', {
      ...{ id: 'hook', name: 'Hook', webhookURL: endpoint.url, retryOnFailure: true },
      triggers: ['user_blocked', 'user_unblocked'],
    }),
  )
  // Slow enough that it is killed in the middle.
  endpoint.behave({ delayMs: 200 })
  const rounds = 40
  for (let i = 0; i < rounds; i++) {
    await expectSuccess(line.call('POST', '/users/alice/blockedusers', { blockedUids: ['bob'] }))
    await expectSuccess(line.call('DELETE', '/users/alice/blockedusers', { blockedUids: ['bob'] }))
  }
  await soon(() => expect(endpoint.received.length).toBeGreaterThan(20))
  await service.kill()
  await endpoint.close()
  const before = endpoint.received
  expect(new Set(before.map(({ headers }) => headers['webhook-id'])).size).toBeLessThan(2 * rounds)

  // Down for a while after the start, too.
  service = await stage.start(environment)
  url = await service.ready
  const back = await openEndpoint(endpoint.port)
  // Where this fails, it shows what became of each of them.
  await soon(
    async () => {
      const { data } = await expectSuccess(line.call('GET', '/webhooks/hook/deliveries?limit=1000'))
      const undelivered = data.filter(({ status }: { status: string }) => status !== 'delivered')
      expect({ deliveries: data.length, undelivered }).toEqual({ deliveries: 2 * rounds, undelivered: [] })
    },
    { progress: () => back.received.length },
  )
  const told = [...before, ...back.received].map(({ headers }) => headers['webhook-id'])
  expect(new Set(told).size).toBe(2 * rounds)
  await line.close()
  await back.close()
})
