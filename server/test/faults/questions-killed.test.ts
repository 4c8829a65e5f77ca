import { afterAll, expect, it } from 'vitest'
import { startModerationEmulator } from '../../src/emulators/moderation.ts'
import { soon, until } from '../support/until.ts'
import { expectSuccess, openLine } from './support/line.ts'
import { createStage } from './support/stage.ts'

const stage = createStage()
afterAll(stage.clean)

it('what waits for an engine when the service is killed is settled by the next one', async () => {
  const engines = await startModerationEmulator()
  stage.onClean(() => engines.close())
  const environment = { DATA_DIR: stage.makeDataDir(), WEBHOOK_ALLOW_PRIVATE: 'true' }
  const first = await stage.start(environment)
  let url = await first.ready
  const line = openLine(() => url)
  stage.onClean(() => line.close())
  for (const uid of ['alice', 'bob']) await expectSuccess(line.call('POST', '/users', { uid, name: uid }))
  const list = { id: 'api', name: 'api', category: 'custom-api', ...engines.customApi }
  await expectSuccess(line.call('POST', '/moderation/keywords', list))
  const conditions = [{ operand: 'text', category: 'custom-api', value: ['api_greaterThan_80'] }]
  const rule = { id: 'by-api', name: 'By API', enabled: true, action: ['blockMessage'], conditions }
  await expectSuccess(line.call('POST', '/moderation/rules', rule))

  // Well below the two seconds that an engine has, also on a busy machine.
  engines.behave(() => ({ delayMs: 500 }))
  const sent: Array<{ id: string; status: string }> = []
  for (let i = 0; i < 20; i++) {
    const body = { receiver: 'bob', receiverType: 'user', data: { text: i % 4 === 0 ? `bad ${i}` : `good ${i}` } }
    const { data } = await expectSuccess(line.call('POST', '/messages', body, { as: 'alice' }))
    expect(data.data.moderation).toEqual({ status: 'pending' })
    sent.push({ id: data.id, status: i % 4 === 0 ? 'disapproved' : 'approved' })
  }
  await until(() => engines.calls.length > 0)
  await first.kill()

  engines.behave(() => undefined)
  url = await (await stage.start(environment)).ready
  for (const { id, status } of sent) {
    await soon(async () => {
      const { data } = await expectSuccess(line.call('GET', `/messages/${id}`))
      expect(data.data.moderation.status).toBe(status)
    })
  }
  const { data: seen } = await expectSuccess(
    line.call('GET', '/users/alice/messages?category=message&limit=100', undefined, { as: 'bob' }),
  )
  expect(seen.map(({ data }: { data: { text: string } }) => data.text)).toEqual(
    sent.flatMap(({ status }, i) => (status === 'approved' ? `good ${i}` : [])),
  )
}, 180_000)
