import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type ModerationEmulator, startModerationEmulator } from '../../../src/emulators/moderation.ts'
import { dataOf, refusal, say } from '../../support/chat.ts'
import { engineWorld, settledAs, textsSeenBy } from '../../support/engines.ts'
import { pullEvents } from '../../support/events.ts'
import { createOwnServices, type OwnServices } from '../../support/own-services.ts'
import { soon } from '../../support/until.ts'
import { createWorld, servedBy } from '../../support/world.ts'

let own: OwnServices
let engines: ModerationEmulator

beforeAll(async () => {
  ;[own, engines] = await Promise.all([createOwnServices(), startModerationEmulator()])
})
afterEach(() => own.stop())
afterAll(async () => {
  await own.close()
  await engines.close()
})

const waiting = 'select message from message_moderation where due_at is not null'

describe('Messages that wait for an engine', () => {
  it('are worked off by another process where the one that asked stops', async () => {
    const first = await own.start()
    const world = await engineWorld(engines, first)
    const before = engines.calls.length
    engines.behave(() => ({ delayMs: 60_000 }))
    const sent: Array<{ id: string }> = []
    for (let i = 0; i < 5; i++) sent.push(await say(world, 'alice', 'bob', `number ${i}`))
    await soon(() => expect(engines.calls.length - before).toBe(5))
    expect(await own.query(waiting)).toHaveLength(5)
    // Its requests end with it; that is no failure of the engine.
    await first.parley.close()
    expect(await own.query(waiting)).toHaveLength(5)

    engines.behave(() => undefined)
    const second = await own.start()
    const same = servedBy(world, second.url)
    for (const { id } of sent) await settledAs(same, id, 'approved')
    expect(await textsSeenBy(same, 'bob', 'alice')).toEqual([0, 1, 2, 3, 4].map((i) => `number ${i}`))
  })

  it('are settled where a clock that was ahead has put them off, and has them held by somebody', async () => {
    const first = await own.start()
    const world = await engineWorld(engines, first)
    const before = engines.calls.length
    engines.behave(() => ({ delayMs: 60_000 }))
    const { id } = await say(world, 'alice', 'bob', 'hello')
    await soon(() => expect(engines.calls.length - before).toBe(1))
    await first.parley.close()
    const ahead = Math.floor(Date.now() / 1000) + 365 * 86_400
    await own.query('update message_moderation set due_at = $1, leased_until = $2 where due_at is not null', [
      ahead,
      ahead * 1000,
    ])
    engines.behave(() => undefined)
    await settledAs(servedBy(world, (await own.start()).url), id, 'approved')
  })

  it('are found by processes that did not take them in, and by one of them at a time', async () => {
    const [one, another] = await Promise.all([own.start(), own.start()])
    const world = await engineWorld(engines, one)
    const others = servedBy(world, another.url)
    const before = engines.calls.length
    const sent = await Promise.all(
      Array.from({ length: 60 }, (_, i) => say(i % 2 === 0 ? world : others, 'alice', 'bob', `number ${i}`)),
    )
    for (const { id } of sent) await settledAs(world, id, 'approved')
    expect(engines.calls.length - before).toBe(60)
    expect(await own.query(waiting)).toEqual([])
  })
})

describe('The address of an engine', () => {
  it('is refused where it is private', async () => {
    const service = await own.start({ WEBHOOK_ALLOW_PRIVATE: 'false' })
    const world = await createWorld(service)
    const put = (url: string) => world.put('/moderation/engines/labels', { url })
    for (const url of [
      'https://127.0.0.1/',
      'https://localhost/',
      'https://10.1.2.3/',
      'https://[::1]/',
      engines.labels.url,
    ]) {
      expect(refusal(await put(url)), url).toBe('400 ERR_BAD_REQUEST')
    }
    const list = { id: 'api', name: 'api', category: 'custom-api', url: 'https://169.254.169.254/latest' }
    expect(refusal(await world.post('/moderation/keywords', list))).toBe('400 ERR_BAD_REQUEST')
    dataOf(await put('https://labels.example.com/'))
  })

  it('is looked at again with each request', async () => {
    const allowed = await own.start()
    const world = await engineWorld(engines, allowed)
    await allowed.parley.close()
    const before = engines.calls.length
    const careful = servedBy(world, (await own.start({ WEBHOOK_ALLOW_PRIVATE: 'false' })).url)
    const puller = await pullEvents(careful)
    const { id } = await say(careful, 'alice', 'bob', 'a bad word')
    await settledAs(careful, id, 'approved')
    const failed = (await puller.since()).filter(({ trigger }) => trigger === 'moderation_engine_failed')
    expect(failed).toMatchObject([{ data: { failures: [{ category: 'connection_error' }] } }])
    expect(failed[0]?.data.failures[0].errorMessage).toContain('https')
    expect(engines.calls.length).toBe(before)
  })

  it('may be private where the operator allows it', async () => {
    const host = new URL(engines.endpoint).host
    const service = await own.start({ WEBHOOK_ALLOW_PRIVATE: 'false', OUTBOUND_ALLOW: host })
    const world = await engineWorld(engines, service)
    dataOf(await world.put('/moderation/engines/labels', engines.labels))
    const { id } = await say(world, 'alice', 'bob', 'a bad word')
    await settledAs(world, id, 'disapproved')
  })
})
