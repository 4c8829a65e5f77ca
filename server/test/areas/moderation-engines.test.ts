import { describe, expect, it } from 'vitest'
import { dataOf, refusal } from '../support/chat.ts'
import { createWorld } from '../support/world.ts'

const llm = { url: 'https://192.0.2.20/v1', model: 'small' }

describe('the engines of an app', () => {
  it('are none at first, and let messages through when they fail', async () => {
    const world = await createWorld()
    expect(dataOf(await world.get('/moderation/engines'))).toEqual({
      customApi: { onError: 'approve-message', contextMessages: 0 },
      llm: { hasApiKey: false, onError: 'approve-message', contextMessages: 0 },
      labels: { hasApiKey: false, onError: 'approve-message' },
    })
  })

  it('are set and forgotten one by one, and never tell their keys', async () => {
    const world = await createWorld()
    const set = { ...llm, contextMessages: 50, onError: 'drop-message' }
    const shown = { ...set, hasApiKey: true }
    expect(dataOf(await world.put('/moderation/engines/llm', { ...set, apiKey: 'sk-very-secret' }))).toEqual(shown)
    const labels = { url: 'https://192.0.2.21/labels' }
    dataOf(await world.put('/moderation/engines/labels', labels))
    const all = await world.get('/moderation/engines')
    expect(dataOf(all)).toMatchObject({ llm: shown, labels: { ...labels, hasApiKey: false } })
    const log = await world.get('/audit-log?targetType=engine')
    expect(dataOf(log)).toMatchObject([{ target: { id: 'labels' } }, { details: { after: set, keyChanged: true } }])
    for (const answer of [all, log]) expect(JSON.stringify(answer.body)).not.toContain('very-secret')

    expect(dataOf(await world.delete('/moderation/engines/llm'))).toMatchObject({ success: true })
    expect(dataOf(await world.get('/moderation/engines')).llm).toEqual({
      ...{ hasApiKey: false, onError: 'approve-message', contextMessages: 0 },
    })
    expect(dataOf(await world.get('/audit-log?action=moderation_engine_deleted'))).toHaveLength(1)
    dataOf(await world.delete('/moderation/engines/llm'))
    expect(dataOf(await world.get('/audit-log?action=moderation_engine_deleted'))).toHaveLength(1)
  })

  it('keep their key when they change, but give it to no other host', async () => {
    const world = await createWorld()
    dataOf(await world.put('/moderation/engines/llm', { ...llm, apiKey: 'secret' }))
    const put = async (url: string) => dataOf(await world.put('/moderation/engines/llm', { ...llm, url })).hasApiKey
    expect(await put('https://192.0.2.20/v2')).toBe(true)
    expect(await put('https://192.0.2.20:8443/v2')).toBe(false)
    expect(await put('https://192.0.2.20/v1')).toBe(false)
  })

  it('have addresses as webhooks have them', async () => {
    const world = await createWorld()
    const put = async (url: string) => {
      const answer = await world.put('/moderation/engines/labels', { url })
      return `${refusal(answer)}: ${answer.body.error.details[0].path}`
    }
    for (const url of ['nowhere', 'https://a b/', 'ftp://192.0.2.20/', 'https://me:secret@192.0.2.20/']) {
      expect(await put(url), url).toBe('400 ERR_BAD_REQUEST: body/url')
    }
  })

  it('take up to 50 messages of context, and no failure setting but the two', async () => {
    const world = await createWorld()
    const put = (body: object) => world.put('/moderation/engines/custom-api', body)
    expect(refusal(await put({ contextMessages: 51 }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await put({ contextMessages: -1 }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await put({ onError: 'block' }))).toBe('400 ERR_BAD_REQUEST')
    expect(dataOf(await put({ contextMessages: 50 }))).toEqual({ onError: 'approve-message', contextMessages: 50 })
  })
})
