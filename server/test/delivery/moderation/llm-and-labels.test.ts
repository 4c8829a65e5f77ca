import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ModerationEmulator, startModerationEmulator } from '../../../src/emulators/moderation.ts'
import { dataOf, say } from '../../support/chat.ts'
import { addRule, settledAs } from '../../support/engines.ts'
import { pullEvents } from '../../support/events.ts'
import { createUsers, createWorld, type World } from '../../support/world.ts'

let engines: ModerationEmulator

beforeAll(async () => {
  engines = await startModerationEmulator()
})
afterAll(() => engines.close())

async function llmWorld(settings: object = {}): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  dataOf(await world.put('/moderation/engines/llm', { ...engines.llm, ...settings }))
  return world
}

async function showPicture(world: World, ...urls: string[]) {
  const attachments = urls.map((url) => ({ url, name: 'a', extension: 'png', mimeType: 'image/png', size: 10 }))
  const body = { receiver: 'bob', receiverType: 'user', type: 'image', data: { attachments } }
  return dataOf(await world.post('/messages', body, { as: 'alice' }))
}

describe('A language model', () => {
  it('judges texts by predefined prompts, and by those of the app', async () => {
    const world = await llmWorld()
    await addRule(world, 'threats', { condition: { category: 'prompt', value: ['prompt-threats_greaterThan_70'] } })
    const prompts = ['It is in capital letters.', 'It is rude.']
    dataOf(await world.post('/moderation/keywords', { id: 'own', name: 'own', category: 'prompt', prompts }))
    await addRule(world, 'own', { condition: { category: 'prompt', value: ['own_greaterThan_70'] } })

    const good = await say(world, 'alice', 'bob', `a nice word ${world.app.name}`)
    const bad = await say(world, 'alice', 'bob', `a bad word ${world.app.name}`)
    await settledAs(world, good.id, 'approved')
    await settledAs(world, bad.id, 'disapproved')
    const asked = engines.calls.filter(({ text }) => text === `a nice word ${world.app.name}`)
    expect(asked.map(({ authorization }) => authorization)).toEqual(Array(2).fill(`Bearer ${engines.llm.apiKey}`))
    const policies = asked.map(({ body }) => body.messages[0].content)
    expect(policies.some((text) => text.includes('1. It is in capital letters.\n2. It is rude.'))).toBe(true)
    expect(policies.some((text) => text.includes('threatens people with violence'))).toBe(true)
  })

  it('is shown what was said before, by users without names', async () => {
    const world = await llmWorld({ contextMessages: 5 })
    await addRule(world, 'threats', { condition: { category: 'prompt', value: ['prompt-threats_greaterThan_70'] } })
    const first = await say(world, 'bob', 'alice', 'hello alice')
    await settledAs(world, first.id, 'approved')
    const second = await say(world, 'alice', 'bob', `hello bob ${world.app.name}`)
    await settledAs(world, second.id, 'approved')
    const call = engines.calls.find(({ text }) => text === `hello bob ${world.app.name}`)
    expect(JSON.parse(call?.body.messages[1].content)).toEqual({
      context: [{ author: 'user 1', text: 'hello alice' }],
      message: { author: 'user 2', text: `hello bob ${world.app.name}` },
    })
  })

  it('looks at pictures', async () => {
    const world = await llmWorld()
    const value = ['prompt-image-violence_greaterThan_70']
    await addRule(world, 'pictures', { condition: { operand: 'image', category: 'prompt', value } })
    const bad = await showPicture(world, 'https://files.example.com/bad.png', 'https://files.example.com/2.png')
    const good = await showPicture(world, 'https://files.example.com/good.png')
    const text = await say(world, 'alice', 'bob', 'a bad word')
    expect(text.data.moderation).toEqual({ status: 'approved' })
    await settledAs(world, bad.id, 'disapproved')
    await settledAs(world, good.id, 'approved')
  })

  it('that is refused its key fails with the code of its error', async () => {
    const world = await llmWorld({ apiKey: 'wrong' })
    const puller = await pullEvents(world)
    await addRule(world, 'threats', { condition: { category: 'prompt', value: ['prompt-threats_greaterThan_70'] } })
    const { id } = await say(world, 'alice', 'bob', 'hello')
    await settledAs(world, id, 'approved')
    const failed = (await puller.since()).find(({ trigger }) => trigger === 'moderation_engine_failed')
    expect(failed?.data.failures).toMatchObject([
      {
        ...{ category: 'http_4xx', httpStatus: 401 },
        context: { engine: 'openai', providerErrorCode: 'refused', openaiRequestId: expect.stringMatching(/^req_/) },
      },
    ])
    expect(JSON.stringify(failed)).not.toContain('wrong"')
  })
})

describe('The engine for labels', () => {
  it('judges pictures by the labels of all rules, asked once', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.put('/moderation/engines/labels', engines.labels))
    const ofPictures = (...value: string[]) => ({ operand: 'image', category: 'word', isMediaPresent: true, value })
    await addRule(world, 'violence', { condition: ofPictures('violence_greaterThan_30') })
    await addRule(world, 'unsafe', { condition: ofPictures('Any unsafe content_greaterThan_97') })
    const at = (name: string) => `https://files.example.com/${world.app.name}/${name}.png`

    const violent = await showPicture(world, at('plain'), at('violence-bad'))
    const harmless = await showPicture(world, at('plain'))
    const drinks = await showPicture(world, at('alcohol-bad'))
    await settledAs(world, violent.id, 'disapproved')
    await settledAs(world, harmless.id, 'approved')
    await settledAs(world, drinks.id, 'approved')
    const [first, ...others] = engines.calls.filter(({ text }) => text.includes(world.app.name))
    expect(others).toHaveLength(2)
    expect(first?.body).toEqual({
      labels: ['violence', 'Any unsafe content'],
      files: [at('plain'), at('violence-bad')].map((url) => ({ type: 'image', url, mimeType: 'image/png' })),
    })
    expect(first?.authorization).toBe(`Bearer ${engines.labels.apiKey}`)
  })

  it.each<[string, string, 'image' | 'video', (bad: string, plain: string) => object]>([
    ['without a MIME type', 'image', 'image', (url) => ({ attachments: [{ url }] })],
    ['of another MIME type', 'image', 'image', (url) => ({ attachments: [{ url, mimeType: 'text/csv' }] })],
    ['that is said to be a video', 'image', 'image', (url) => ({ attachments: [{ url, mimeType: 'video/mp4' }] })],
    ['beside attachments', 'image', 'image', (url, plain) => ({ url, attachments: [{ url: plain }] })],
    ['beside an empty address', 'image', 'image', (url) => ({ url: '', attachments: [{ url }] })],
    ['without attachments', 'image', 'image', (url) => ({ url, mimeType: 'text/plain' })],
    ['that is said to be a picture', 'video', 'video', (url) => ({ attachments: [{ url, mimeType: 'image/png' }] })],
    ['among other files', 'file', 'image', (url) => ({ attachments: [{ url, mimeType: ' IMAGE/png' }] })],
    ['of a text', 'text', 'video', (url) => ({ text: 'look', attachments: [{ url, mimeType: 'video/mp4' }] })],
    ['of a card', 'card', 'image', (imageUrl) => ({ interactiveData: { imageUrl } })],
  ])('judges what front ends show: a file %s', async (_, type, operand, dataOfFiles) => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.put('/moderation/engines/labels', engines.labels))
    const condition = { operand, category: 'word', isMediaPresent: true, value: ['violence_greaterThan_30'] }
    await addRule(world, 'violence', { condition })
    const at = (name: string) => `https://files.example.com/${world.app.name}/${name}`
    const category = type === 'card' ? 'interactive' : 'message'
    const data = dataOfFiles(at('violence-bad'), at('plain'))
    const body = { receiver: 'bob', receiverType: 'user', category, type, data }
    const sent = dataOf(await world.post('/messages', body, { as: 'alice' }))
    expect(sent.data.moderation).toEqual({ status: 'pending' })
    await settledAs(world, sent.id, 'disapproved')
    const asked = engines.calls.find(({ text }) => text.includes(world.app.name))
    const shown = asked?.body.files.map((file: { type: string; url: string }) => `${file.type} ${file.url}`)
    expect(shown).toContain(`${operand} ${at('violence-bad')}`)
    expect(new Set(shown).size).toBe(shown.length)
  })
})
