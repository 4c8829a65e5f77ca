import { describe, expect, it } from 'vitest'
import { createKeyRing } from '../../src/chat/credentials/keys.ts'
import type { Database } from '../../src/store/database.ts'
import { createWorld, send } from '../support/world.ts'

describe('API keys', () => {
  it('are made with 40 hex characters, shown again and listed newest first', async () => {
    const world = await createWorld()
    const made = await world.post('/apikeys', { name: 'ci key', scope: 'fullAccess' })
    expect(made.status).toBe(200)
    expect(made.body.data).toEqual({
      apiKey: expect.stringMatching(/^[0-9a-f]{40}$/),
      name: 'ci key',
      scope: 'fullAccess',
      createdAt: expect.any(Number),
    })
    expect((await world.get(`/apikeys/${made.body.data.apiKey}`)).body).toEqual({ data: made.body.data })

    const list = await world.get('/apikeys')
    expect(list.body.data.map((key: { name: string }) => key.name)).toEqual(['ci key', 'front', 'test'])
    expect(list.body.meta).toEqual({
      pagination: { total: 3, count: 3, per_page: 100, current_page: 1, total_pages: 1 },
    })
  })

  it('have scope authOnly when none is asked for, and can be filtered by scope and name', async () => {
    const world = await createWorld()
    expect((await world.post('/apikeys', { name: 'Phone App' })).body.data.scope).toBe('authOnly')
    const names = async (query: string) =>
      (await world.get(`/apikeys?${query}`)).body.data.map((key: { name: string }) => key.name)
    expect(await names('scope=fullAccess')).toEqual(['test'])
    expect(await names('searchKey=phone')).toEqual(['Phone App'])
    expect(await names('perPage=1&page=2')).toEqual(['front'])
  })

  it('open the service at once when made, and nothing any more when deleted', async () => {
    const world = await createWorld()
    const { apiKey } = (await world.post('/apikeys', { name: 'short life', scope: 'fullAccess' })).body.data
    const withKey = () => send(world.url, 'GET', '/apikeys', undefined, { appid: world.app.name, apikey: apiKey })
    expect((await withKey()).status).toBe(200)
    expect((await world.delete(`/apikeys/${apiKey}`)).body.data.success).toBe(true)
    const refused = await withKey()
    expect(refused.status).toBe(401)
    expect(refused.body.error.code).toBe('AUTH_ERR_APIKEY_NOT_FOUND')
    expect((await world.get(`/apikeys/${apiKey}`)).body.error.code).toBe('ERR_APIKEY_NOT_FOUND')
  })

  it('open nothing any more when they are deleted while they are looked up', async () => {
    const world = await createWorld()
    const { apiKey } = (await world.post('/apikeys', { name: 'short life', scope: 'fullAccess' })).body.data
    const { app, context } = world
    // What the database finds first is held back until the key is gone.
    let letGo: (() => void) | undefined
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    let found: (() => void) | undefined
    const isFound = new Promise<void>((resolve) => {
      found = resolve
    })
    const query: Database['query'] = async (statement, values) => {
      const rows = await context.database.query(statement, values)
      found?.()
      await held
      return rows as never
    }
    const ring = createKeyRing({ ...context.database, query }, context.secrets, context.invalidation)
    const early = ring.find(app, apiKey)
    await isFound
    expect((await world.delete(`/apikeys/${apiKey}`)).status).toBe(200)
    ring.forget(app.appId)
    letGo?.()
    await early
    expect(await ring.find(app, apiKey)).toBeUndefined()
  })

  it('lose rights at once when their scope is lowered', async () => {
    const world = await createWorld()
    const { apiKey } = (await world.post('/apikeys', { name: 'k', scope: 'fullAccess' })).body.data
    const headers = { appid: world.app.name, apikey: apiKey }
    expect((await send(world.url, 'GET', '/apikeys', undefined, headers)).status).toBe(200)
    const changed = await world.put(`/apikeys/${apiKey}`, { scope: 'authOnly' })
    expect(changed.body.data).toMatchObject({ name: 'k', scope: 'authOnly' })
    const refused = await send(world.url, 'GET', '/apikeys', undefined, headers)
    expect(refused.status).toBe(403)
    expect(refused.body.error.code).toBe('AUTH_ERR_NO_ACCESS')
  })

  it('cannot change or delete themselves', async () => {
    const world = await createWorld()
    for (const answer of [
      await world.put(`/apikeys/${world.apiKey}`, { name: 'other' }),
      await world.delete(`/apikeys/${world.apiKey}`),
    ]) {
      expect(answer.status).toBe(403)
      expect(answer.body.error.code).toBe('ERR_APIKEY_NO_SELF_ACTION')
    }
  })

  it('are 25 at most, also when many are made at once', async () => {
    const world = await createWorld()
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => world.post('/apikeys', { name: `k${i}` })))
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(23)
    const refused = answers.find((answer) => answer.status !== 200)
    expect(refused?.status).toBe(400)
    expect(refused?.body.error).toMatchObject({ code: 'ERR_BAD_REQUEST', devMessage: expect.stringContaining('25') })
  })

  it('name the field that is wrong', async () => {
    const world = await createWorld()
    const wrong: Array<[unknown, string]> = [
      [{}, 'body/name'],
      [{ name: 5 }, 'body/name'],
      [{ name: 'x'.repeat(101) }, 'body/name'],
      [{ name: 'x', scope: 'root' }, 'body/scope'],
      [[], 'body'],
      ['null', 'body'],
    ]
    for (const [body, path] of wrong) {
      const answer = await world.post('/apikeys', body)
      expect(answer.status).toBe(400)
      expect(answer.body.error.code).toBe('ERR_BAD_REQUEST')
      expect(answer.body.error.details[0].path).toBe(path)
    }
  })
})
