import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ModerationEmulator, startModerationEmulator } from '../../../src/emulators/moderation.ts'
import { statement } from '../../../src/store/statement.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../../support/chat.ts'
import { openEndpoint } from '../../support/endpoint.ts'
import { addEngineList, addRule, engineWorld, settledAs, statusOf, textsSeenBy } from '../../support/engines.ts'
import { soon } from '../../support/until.ts'
import { createUsers, createWorld, type World } from '../../support/world.ts'

let engines: ModerationEmulator

beforeAll(async () => {
  engines = await startModerationEmulator()
})
afterAll(() => engines.close())

/** What the engine was asked about messages of an app. */
const callsOf = (world: World, sender = 'alice') =>
  engines.calls.filter(({ body }) => {
    const [message] = Object.values(body?.contextMessages?.at(-1) ?? {}) as Array<{
      sender?: string
      receiver?: string
    }>
    return message?.sender === `${sender}-${world.app.appId}`
  })

/** What is stored of a message. */
const rowsOf = (world: World, text: string, id: string) =>
  world.context.database.query(statement(text), [world.app.appId, id])

/** As engineWorld, with users whose uids tell the app. */
async function ownWorld(): Promise<{ world: World; alice: string; bob: string }> {
  const world = await engineWorld(engines)
  const [alice, bob] = [`alice-${world.app.appId}`, `bob-${world.app.appId}`]
  await createUsers(world, alice, bob)
  return { world, alice, bob }
}

describe('A message for which an engine of the app is asked', () => {
  it('waits for it, and is released where nothing is wrong', async () => {
    const world = await engineWorld(engines)
    const sent = await say(world, 'alice', 'bob', 'a nice word')
    expect(sent.data.moderation).toEqual({ status: 'pending' })
    await settledAs(world, sent.id, 'approved')
    expect(await textsSeenBy(world, 'bob', 'alice')).toEqual(['a nice word'])
  })

  it('is blocked above the threshold, and stays with its sender', async () => {
    const world = await engineWorld(engines)
    const bad = await say(world, 'alice', 'bob', 'a bad word')
    const dubious = await say(world, 'alice', 'bob', 'a dubious word')
    await settledAs(world, bad.id, 'disapproved')
    await settledAs(world, dubious.id, 'approved')
    expect(await textsSeenBy(world, 'bob', 'alice')).toEqual(['a dubious word'])
    expect(dataOf(await world.get(`/messages/${bad.id}`)).data.moderation).toMatchObject({
      rule: { id: 'by-api', name: 'Rule by-api' },
    })
  })

  it('is delivered and flagged where a rule flags', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await addEngineList(world, 'api', engines)
    const condition = { category: 'custom-api', value: ['api_greaterThan_50'] }
    await addRule(world, 'flags', { condition, action: ['flagMessage'] })
    const { id } = await say(world, 'alice', 'bob', 'a dubious word')
    await settledAs(world, id, 'approved')
    const queue = 'select by_rule from moderation_queue where app_id = $1 and message = $2'
    expect(await rowsOf(world, queue, id)).toMatchObject([{ by_rule: [{ ruleId: 'flags', revision: 1 }] }])
  })

  it('is asked about with the list’s password, in the form of the contract', async () => {
    const { world, alice, bob } = await ownWorld()
    const { id } = await say(world, alice, bob, 'a nice word', { tags: ['x'] })
    await settledAs(world, id, 'approved')
    const [call, ...others] = callsOf(world)
    expect(others).toEqual([])
    expect(call?.authorization).toMatch(/^Basic /)
    expect(call?.body).toEqual({
      contextMessages: [
        {
          [bob]: expect.objectContaining({
            ...{
              id,
              sender: alice,
              receiver: bob,
              receiverType: 'user',
              category: 'message',
              type: 'text',
              tags: ['x'],
            },
            data: expect.objectContaining({ text: 'a nice word', entities: expect.anything() }),
          }),
        },
      ],
    })
  })

  it('comes with what was said before, as far as its receiver may see that', async () => {
    const { world, alice, bob } = await ownWorld()
    dataOf(await world.put('/moderation/engines/custom-api', { contextMessages: 3 }))
    const first = await say(world, alice, bob, 'one')
    await settledAs(world, first.id, 'approved')
    const bad = await say(world, alice, bob, 'bad two')
    await settledAs(world, bad.id, 'disapproved')
    const third = await say(world, bob, alice, 'three')
    await settledAs(world, third.id, 'approved')
    const deleted = await say(world, bob, alice, 'four')
    await settledAs(world, deleted.id, 'approved')
    dataOf(await world.delete(`/messages/${deleted.id}`, {}, { as: bob }))
    const last = await say(world, alice, bob, 'five')
    await settledAs(world, last.id, 'approved')
    expect(callsOf(world).at(-1)?.body.contextMessages.slice(0, -1)).toEqual([{ [alice]: 'one' }, { [bob]: 'three' }])

    // Of a history that bob has reset he sees nothing, and so does the engine.
    dataOf(await world.delete(`/users/${alice}/conversation`, {}, { as: bob }))
    const after = await say(world, alice, bob, 'six')
    await settledAs(world, after.id, 'approved')
    expect(callsOf(world).at(-1)?.body.contextMessages).toHaveLength(1)
  })

  it('has the context of its group, up to the number that is set', async () => {
    const { world, alice } = await ownWorld()
    dataOf(await world.put('/moderation/engines/custom-api', { contextMessages: 2 }))
    await createGroup(world, 'team', alice)
    for (const text of ['one', 'two', 'three', 'four']) {
      const { id } = await sayInGroup(world, alice, 'team', text)
      await settledAs(world, id, 'approved')
    }
    const { contextMessages } = callsOf(world).at(-1)?.body ?? {}
    expect(contextMessages.slice(0, -1)).toEqual([{ [alice]: 'two' }, { [alice]: 'three' }])
    expect(Object.keys(contextMessages.at(-1))).toEqual(['team'])
  })

  it('is asked about once for all rules that use the list', async () => {
    const { world, alice, bob } = await ownWorld()
    await addRule(world, 'second', { condition: { category: 'custom-api', value: ['api_greaterThan_20'] } })
    const { id } = await say(world, alice, bob, 'a dubious word')
    await settledAs(world, id, 'disapproved')
    expect(callsOf(world)).toHaveLength(1)
    expect(dataOf(await world.get(`/messages/${id}`)).data.moderation.rule.id).toBe('second')
  })

  it('appears in the order in which its sender wrote', async () => {
    const world = await engineWorld(engines)
    engines.behave(({ text }) => (text === 'first of two' ? { delayMs: 300 } : undefined))
    const first = await say(world, 'alice', 'bob', 'first of two')
    const second = await say(world, 'alice', 'bob', 'second of two')
    await settledAs(world, second.id, 'approved')
    await settledAs(world, first.id, 'approved')
    engines.behave(() => undefined)
    expect(await textsSeenBy(world, 'bob', 'alice')).toEqual(['first of two', 'second of two'])
  })
})

describe('A rule in shadow mode', () => {
  it('holds nothing, and logs what its engine says', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await addEngineList(world, 'api', engines)
    const condition = { category: 'custom-api', value: ['api_greaterThan_80'] }
    await addRule(world, 'tries', { condition, mode: 'shadow' })
    const { id, data } = await say(world, 'alice', 'bob', 'a bad word')
    expect(data.moderation).toEqual({ status: 'approved' })
    const log =
      'select rule_id, mode, lane, decision, confidence from moderation_decisions where app_id = $1 and message = $2'
    await soon(async () => {
      expect(await rowsOf(world, log, id)).toMatchObject([
        { rule_id: 'tries', mode: 'shadow', lane: 'two', decision: 'approved', confidence: 95 },
      ])
    })
    expect(await statusOf(world, id)).toBe('approved')
  })
})

describe('The log of decisions', () => {
  it('keeps how long the engine took, in microseconds', async () => {
    const world = await engineWorld(engines)
    await addRule(world, 'flags', {
      condition: { category: 'custom-api', value: ['api_greaterThan_10'] },
      action: ['flagMessage'],
    })
    const { id } = await say(world, 'alice', 'bob', 'a bad word')
    await settledAs(world, id, 'disapproved')
    const log =
      'select rule_id, lane, took from moderation_decisions where app_id = $1 and message = $2 order by rule_id'
    const took = expect.any(Number)
    expect(await rowsOf(world, log, id)).toEqual([
      { rule_id: 'by-api', lane: 'two', took },
      { rule_id: 'flags', lane: 'two', took },
    ])
    const kept =
      "select lane, took from message_moderation where app_id = $1 and message = $2 and status = 'disapproved'"
    expect(await rowsOf(world, kept, id)).toEqual([{ lane: 'two', took }])
  })
})

describe('A rule in shadow mode, of an edit', () => {
  const log =
    "select rule_id, decision, confidence from moderation_decisions where app_id = $1 and message = $2 and lane = 'two'"
  const hit = (confidence: number) => ({ rule_id: 'tries', decision: 'approved', confidence })
  const shadowWorld = async (url: string) => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.post('/moderation/keywords', { id: 'api', name: 'api', category: 'custom-api', url }))
    await addRule(world, 'tries', {
      condition: { category: 'custom-api', value: ['api_greaterThan_80'] },
      mode: 'shadow',
    })
    return world
  }
  const edit = async (world: World, id: string, text: string) =>
    dataOf(await world.put(`/messages/${id}`, { data: { text } }, { as: 'alice' }))
  const textIn = (body: { contextMessages: object[] }) =>
    (Object.values(body.contextMessages.at(-1) ?? {})[0] as { data: { text: string } }).data.text

  it('asks its engine about the new text, and logs what it says', async () => {
    const endpoint = await openEndpoint()
    endpoint.behave(({ body }) => {
      const isMatchingCondition = textIn(body).includes('bad')
      return { body: JSON.stringify({ isMatchingCondition, confidence: 0.95 }) }
    })
    const world = await shadowWorld(endpoint.url)
    const { id } = await say(world, 'alice', 'bob', 'a nice word')
    await soon(() => expect(endpoint.received).toHaveLength(1))
    await edit(world, id, 'a bad word')
    await soon(async () => expect(await rowsOf(world, log, id)).toEqual([hit(95)]))
    expect(await statusOf(world, id)).toBe('approved')
    expect(await textsSeenBy(world, 'bob', 'alice')).toEqual(['a bad word'])
    expect(endpoint.received.map(({ body }) => textIn(body))).toEqual(['a nice word', 'a bad word'])
    await endpoint.close()
  })

  it('logs nothing of what was said about a text that is no more', async () => {
    const endpoint = await openEndpoint()
    endpoint.behave(({ body }) => {
      const isOld = textIn(body).includes('old')
      const answer = { isMatchingCondition: true, confidence: isOld ? 0.99 : 0.9 }
      return { body: JSON.stringify(answer), delayMs: isOld ? 700 : 0 }
    })
    const world = await shadowWorld(endpoint.url)
    const { id } = await say(world, 'alice', 'bob', 'old')
    await soon(() => expect(endpoint.received).toHaveLength(1))
    await edit(world, id, 'new')
    const other = await say(world, 'alice', 'bob', 'old, too')
    await soon(async () => expect(await rowsOf(world, log, other.id)).toEqual([hit(99)]))
    await soon(async () => expect(await rowsOf(world, log, id)).toEqual([hit(90)]))
    await endpoint.close()
  })

  it('asks about a held message that an edit releases', async () => {
    const endpoint = await openEndpoint()
    endpoint.behave(() => ({ body: JSON.stringify({ isMatchingCondition: true, confidence: 0.9 }) }))
    const world = await shadowWorld(endpoint.url)
    await addRule(world, 'no-casino', { condition: { category: 'word', value: ['casino'] } })
    const { id } = await say(world, 'alice', 'bob', 'casino')
    expect(await statusOf(world, id)).toBe('disapproved')
    await edit(world, id, 'a theatre')
    await soon(async () => expect(await rowsOf(world, log, id)).toEqual([hit(90)]))
    expect(await textsSeenBy(world, 'bob', 'alice')).toEqual(['a theatre'])
    await endpoint.close()
  })
})

describe('A message that changes while an engine is asked about it', () => {
  /** An engine that answers when it is told to. */
  async function heldBack() {
    const endpoint = await openEndpoint()
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(
      await world.post('/moderation/keywords', { id: 'api', name: 'api', category: 'custom-api', url: endpoint.url }),
    )
    await addRule(world, 'by-api', { condition: { category: 'custom-api', value: ['api_greaterThan_80'] } })
    const answer = (confidence: number, delayMs: number) => ({
      body: JSON.stringify({ isMatchingCondition: confidence > 0, confidence }),
      delayMs,
    })
    return { endpoint, world, answer }
  }
  const textIn = (body: { contextMessages: object[] }) =>
    (Object.values(body.contextMessages.at(-1) ?? {})[0] as { data: { text: string } }).data.text

  it('is judged by its new text, whatever is said of the old one', async () => {
    const { endpoint, world, answer } = await heldBack()
    endpoint.behave(({ body }) => (textIn(body) === 'harmless' ? answer(0, 400) : answer(1, 0)))
    const { id } = await say(world, 'alice', 'bob', 'harmless')
    await soon(() => expect(endpoint.received).toHaveLength(1))
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'harmful' } }, { as: 'alice' }))
    await settledAs(world, id, 'disapproved')
    const late = "select from moderation_decisions where app_id = $1 and message = $2 and decision = 'late'"
    await soon(async () => {
      expect(await rowsOf(world, late, id)).toHaveLength(1)
    })
    expect(await statusOf(world, id)).toBe('disapproved')
    expect(await textsSeenBy(world, 'bob', 'alice')).toEqual([])
    await endpoint.close()
  })

  it('stays deleted', async () => {
    const { endpoint, world, answer } = await heldBack()
    endpoint.behave(() => answer(0, 300))
    const { id } = await say(world, 'alice', 'bob', 'gone soon')
    await soon(() => expect(endpoint.received).toHaveLength(1))
    dataOf(await world.delete(`/messages/${id}`, { permanent: true }, { as: 'alice' }))
    const later = await say(world, 'alice', 'bob', 'later')
    await settledAs(world, later.id, 'approved')
    expect(refusal(await world.get(`/messages/${id}`))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await textsSeenBy(world, 'bob', 'alice')).toEqual(['later'])
    await endpoint.close()
  })

  it('keeps its old text for others until an edit is approved', async () => {
    const { endpoint, world, answer } = await heldBack()
    endpoint.behave(({ body }) => answer(textIn(body).includes('bad') ? 1 : 0, 0))
    const { id } = await say(world, 'alice', 'bob', 'first')
    await settledAs(world, id, 'approved')
    const edit = async (text: string) => dataOf(await world.put(`/messages/${id}`, { data: { text } }, { as: 'alice' }))
    const waiting = 'select from message_moderation where app_id = $1 and message = $2 and waiting is not null'
    const settled = () =>
      soon(async () => {
        expect(await rowsOf(world, waiting, id)).toEqual([])
      })
    await edit('second')
    await settled()
    expect(await textsSeenBy(world, 'bob', 'alice')).toEqual(['second'])
    await edit('third, bad')
    await settled()
    expect(await textsSeenBy(world, 'bob', 'alice')).toEqual(['second'])
    expect(endpoint.received.map(({ body }) => textIn(body))).toEqual(['first', 'second', 'third, bad'])
    await endpoint.close()
  })
})
