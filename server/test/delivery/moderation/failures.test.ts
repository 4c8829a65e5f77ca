import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ModerationEmulator, startModerationEmulator } from '../../../src/emulators/moderation.ts'
import { dataOf, refusal, say } from '../../support/chat.ts'
import { openEndpoint } from '../../support/endpoint.ts'
import { addEngineList, addRule, engineWorld, settledAs, statusOf } from '../../support/engines.ts'
import { firstCursor, type Pulled, type Puller, pullEvents } from '../../support/events.ts'
import { soon, until } from '../../support/until.ts'
import { createUsers, createWorld } from '../../support/world.ts'

let engines: ModerationEmulator

beforeAll(async () => {
  engines = await startModerationEmulator()
})
afterAll(() => engines.close())

/** An app whose events are pulled, with a rule that asks at an address. */
async function worldWith(url: string, onError: string = 'approve-message') {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  const puller = await pullEvents(world)
  dataOf(await world.put('/moderation/engines/custom-api', { onError }))
  dataOf(await world.post('/moderation/keywords', { id: 'api', name: 'api', category: 'custom-api', url }))
  await addRule(world, 'by-api', { condition: { category: 'custom-api', value: ['api_greaterThan_80'] } })
  return { world, puller }
}

/** The data of the events of a trigger since the last look. */
async function toldBy(puller: Puller, trigger = 'moderation_engine_failed') {
  return (await puller.since()).filter((event) => event.trigger === trigger).map(({ data }) => data)
}

describe('An engine that fails', () => {
  it('lets a message through by default, and is told of once, beside the decision', async () => {
    const { world, puller } = await worldWith(`${engines.customApi.url}?key=secret`)
    const { id, conversationId, sentAt } = await say(world, 'alice', 'bob', 'it is down')
    await settledAs(world, id, 'approved')
    const events = await puller.since()
    const [told, ...others] = events
      .filter(({ trigger }) => trigger === 'moderation_engine_failed')
      .map(({ data }) => data)
    expect(others).toEqual([])
    expect(told).toEqual({
      resource: {
        ...{
          id,
          conversationId,
          sender: 'alice',
          receiverType: 'user',
          receiver: 'bob',
          category: 'message',
          type: 'text',
        },
        sentAt: expect.any(Number),
      },
      ...{ contentType: 'text', outcome: 'approved', completedAt: expect.any(Number) },
      failures: [
        {
          ...{ category: 'http_5xx', errorMessage: 'the engine answered 503', httpStatus: 503 },
          ...{ responseBody: expect.stringContaining('emulated 503'), responseBodyTruncated: false },
          failedAt: expect.any(Number),
          context: {
            ...{ engine: 'custom_api', setting: 'approve-message' },
            rule: { id: 'by-api', name: 'Rule by-api', revisionId: `${world.app.name}_by-api_1` },
            condition: {
              ...{ id: 1, entity: 'message', operand: 'text', category: 'custom-api', operator: 'contains' },
              ...{
                value: ['api_greaterThan_80'],
                listId: 'api',
                threshold: { comparison: 'greaterThan', percent: 80 },
              },
            },
            request: {
              ...{ url: engines.customApi.url, method: 'POST', bodyBytes: expect.any(Number), basicAuthSent: false },
            },
          },
        },
      ],
    })
    expect(told.completedAt).toBeGreaterThanOrEqual(sentAt)
    expect(events.filter(({ trigger }) => trigger === 'moderation_engine_approved')).toHaveLength(1)
  })

  it('stops a message where the app wants that, as its rule does', async () => {
    const { world, puller } = await worldWith(engines.customApi.url, 'drop-message')
    const { id } = await say(world, 'alice', 'bob', 'it is down')
    await settledAs(world, id, 'disapproved')
    expect(await toldBy(puller)).toMatchObject([
      { outcome: 'disapproved', failures: [{ context: { setting: 'drop-message' } }] },
    ])
  })

  it('counts as no match, and other rules are asked', async () => {
    const { world, puller } = await worldWith(`${engines.customApi.url}/first`)
    await addEngineList(world, 'other', engines, '/second')
    await addRule(world, 'by-other', { condition: { category: 'custom-api', value: ['other_greaterThan_80'] } })
    engines.behave(({ path, text }) => (path.endsWith('/first') && text === 'still bad' ? { status: 500 } : undefined))
    const { id } = await say(world, 'alice', 'bob', 'still bad')
    await settledAs(world, id, 'disapproved')
    expect(dataOf(await world.get(`/messages/${id}`)).data.moderation.rule.id).toBe('by-other')
    expect(await toldBy(puller)).toMatchObject([{ outcome: 'disapproved', failures: [{ httpStatus: 500 }] }])
    engines.behave(() => undefined)
  })

  it('has failed by all but a timely 200 of the right form', async () => {
    const { world, puller } = await worldWith(engines.customApi.url)
    const answers: Record<string, object | 'hang up'> = {
      'one: too late': { delayMs: 2_500 },
      'two: no connection': 'hang up',
      'three: forbidden': { status: 403 },
      'four: a redirect': { status: 302, headers: { location: engines.customApi.url } },
      'five: created': { status: 201 },
      'six: another form': { body: { isMatchingCondition: 'yes', confidence: 7 } },
      'seven: a long answer': { status: 400, body: { text: 'é'.repeat(2000) } },
    }
    engines.behave(({ text }) => answers[text])
    for (const text of Object.keys(answers)) {
      const { id } = await say(world, 'alice', 'bob', text)
      await settledAs(world, id, 'approved')
    }
    engines.behave(() => undefined)
    const told = (await toldBy(puller)).map(({ failures }) => failures[0])
    expect(told).toMatchObject([
      { category: 'timeout', timeoutMs: 2000 },
      { category: 'connection_error' },
      { category: 'http_4xx', httpStatus: 403 },
      { category: 'invalid_response', httpStatus: 302, errorMessage: expect.stringContaining('not followed') },
      { category: 'invalid_response', httpStatus: 201 },
      {
        ...{ category: 'invalid_response', httpStatus: 200 },
        validationErrors: [expect.stringContaining('isMatchingCondition'), expect.stringContaining('confidence')],
      },
      { category: 'http_4xx', responseBodyTruncated: true },
    ])
    expect(Buffer.byteLength(told[6].responseBody)).toBeLessThanOrEqual(2048 + 2)
    expect(told[1]).not.toHaveProperty('httpStatus')
    expect(told[1]).not.toHaveProperty('responseBody')
    // A redirect is followed by nobody.
    expect(engines.calls.filter(({ text }) => text === 'four: a redirect')).toHaveLength(1)
  })

  it('may answer without end: no more is read than is needed', async () => {
    const endpoint = await openEndpoint()
    endpoint.behave(() => ({ body: 'x'.repeat(5_000_000) }))
    const { world, puller } = await worldWith(endpoint.url)
    const { id } = await say(world, 'alice', 'bob', 'much')
    await settledAs(world, id, 'approved')
    expect(await toldBy(puller)).toMatchObject([
      { failures: [{ category: 'invalid_response', responseBody: 'x'.repeat(2048), responseBodyTruncated: true }] },
    ])
    await endpoint.close()
  })
})

describe('An engine that is not set up', () => {
  it('has failed', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const puller = await pullEvents(world)
    dataOf(await world.put('/moderation/engines/llm', engines.llm))
    await addRule(world, 'by-prompt', { condition: { category: 'prompt', value: ['prompt-threats_greaterThan_70'] } })
    dataOf(await world.delete('/moderation/engines/llm'))
    const { id } = await say(world, 'alice', 'bob', 'hello')
    await settledAs(world, id, 'approved')
    const [{ failures }] = await toldBy(puller)
    expect(failures).toMatchObject([{ category: 'not_configured', context: { engine: 'openai' } }])
    expect(failures[0].context).not.toHaveProperty('request')
  })

  it('lets no rule be made that needs labels', async () => {
    const world = await createWorld()
    const rule = {
      ...{ id: 'no-violence', name: 'No violence', enabled: true, action: ['blockMessage'] },
      conditions: [{ operand: 'image', category: 'word', isMediaPresent: true, value: ['violence_greaterThan_30'] }],
    }
    const refused = await world.post('/moderation/rules', rule)
    expect(refusal(refused)).toBe('400 ERR_BAD_REQUEST')
    expect(refused.body.error.devMessage).toContain('body/conditions/0')
    dataOf(await world.put('/moderation/engines/labels', engines.labels))
    dataOf(await world.post('/moderation/rules', rule))
  })
})

describe('A message that many wait with for an engine that is dead', () => {
  it('is settled without asking, once that is known', async () => {
    const world = await engineWorld(engines)
    engines.behave(({ text }) => (text.startsWith('number') ? 'hang up' : undefined))
    const before = engines.calls.length
    const sent: Array<{ id: string }> = []
    for (let i = 0; i < 40; i++) sent.push(await say(world, 'alice', 'bob', `number ${i}`))
    for (const { id } of sent) await settledAs(world, id, 'approved')
    const asked = engines.calls.length - before
    expect(asked).toBeGreaterThanOrEqual(5)
    expect(asked).toBeLessThan(40)
    engines.behave(() => undefined)
    // Now and then one shows whether it is back.
    await soon(async () => {
      const { id } = await say(world, 'alice', 'bob', 'a bad word')
      const settled = await until(async () => {
        const status = await statusOf(world, id)
        return status !== 'pending' && status
      })
      expect(settled).toBe('disapproved')
    })
  })

  it('is not told what that engine said of another message', async () => {
    const { world } = await worldWith(engines.customApi.url)
    const headers = { 'retry-after': '600' }
    engines.behave(({ text }) =>
      text.startsWith('down:') ? { status: 503, headers, body: { error: `cannot judge ${text}` } } : undefined,
    )
    const after = await firstCursor(world)
    const toldOf = async (id: string) => {
      const events: Pulled[] = dataOf(await world.get(`/events?after=${after}&limit=1000`))
      const told = events.filter(({ trigger, data }) => trigger.endsWith('_failed') && data.resource.id === id)
      return told.map(({ data }) => data.failures[0])
    }
    const asked = await say(world, 'alice', 'bob', 'down: between us')
    await settledAs(world, asked.id, 'approved')
    const skipped = await say(world, 'alice', 'bob', 'down: another')
    await settledAs(world, skipped.id, 'approved')
    await soon(async () => {
      expect(await toldOf(asked.id)).toMatchObject([{ responseBody: expect.stringContaining('between us') }])
      expect(await toldOf(skipped.id)).toHaveLength(1)
    })
    const [failure] = await toldOf(skipped.id)
    expect(failure).toMatchObject({
      ...{ category: 'http_5xx', httpStatus: 503, responseBodyTruncated: false },
      errorMessage: expect.stringContaining('the engine was not asked'),
    })
    expect(failure).not.toHaveProperty('responseBody')
    dataOf(await world.delete(`/messages/${asked.id}`, { permanent: true }))
    const left = await world.get(`/events?after=${after}&limit=1000`)
    expect(JSON.stringify(dataOf(left))).not.toContain('between us')
    engines.behave(() => undefined)
  })
})
