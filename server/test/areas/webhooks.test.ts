import { triggers } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { dataOf, refusal } from '../support/chat.ts'
import { type Answer, createWorld, send, type World } from '../support/world.ts'

const url = 'http://127.0.0.1:9/hook'
const hook = { id: 'hook-1', name: 'Hook one', webhookURL: url }
const legacy = { headers: { 'X-Webhook-Version': '1' } }

async function worldWithHook(settings: object = {}): Promise<World> {
  const world = await createWorld()
  dataOf(await world.post('/webhooks', { ...hook, ...settings }))
  return world
}

/** The fields that a 400 names. */
function flawsOf(answer: Answer): string[] {
  expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
  return [...new Set<string>(answer.body.error.details.map(({ path }: { path: string }) => path))]
}

describe('webhooks', () => {
  it('are made, read, listed newest first and found by name, at both addresses', async () => {
    const world = await createWorld()
    const made = await world.post(`/apps/${world.app.name}/webhooks`, {
      ...hook,
      ...{ useBasicAuth: true, username: 'user1', password: 'secret1', retryOnFailure: true },
      triggers: ['message_sent', 'group_created'],
    })
    const { secret, ...webhook } = dataOf(made)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(webhook).toEqual({
      id: 'hook-1',
      name: 'Hook one',
      webhookURL: url,
      version: 2,
      enabled: true,
      useBasicAuth: true,
      username: 'user1',
      retryOnFailure: true,
      triggers: ['group_created', 'message_sent'],
      createdAt: expect.any(Number),
      updatedAt: webhook.createdAt,
    })
    dataOf(await world.post('/webhooks', { id: 'hook2', name: 'Second', webhookURL: url, enabled: false }))
    for (const base of [
      '/webhooks',
      `/apps/${world.app.name}/webhooks`,
      `/apps/${world.app.name.toUpperCase()}/webhooks`,
    ]) {
      expect((await world.get(`${base}/hook-1`)).body).toEqual({ data: webhook })
      const list = await world.get(base)
      expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual(['hook2', 'hook-1'])
      expect(list.body.meta).toEqual({
        pagination: { total: 2, count: 2, per_page: 100, current_page: 1, total_pages: 1 },
      })
      expect((await world.get(`${base}?searchKey=ONE`)).body.data).toEqual([webhook])
      expect((await world.get(`${base}?perPage=1&page=2`)).body.data).toEqual([webhook])
    }
    expect(JSON.stringify((await world.get('/webhooks')).body)).not.toContain('secret1')
  })

  it('need just id, name and address; then they are enabled, plain and try once', async () => {
    const world = await createWorld()
    expect(dataOf(await world.post('/webhooks', hook))).toMatchObject({
      ...{ enabled: true, useBasicAuth: false, retryOnFailure: false, triggers: [], version: 2 },
    })
  })

  it('keep what is not changed, and are found changed at once', async () => {
    const world = await worldWithHook({ triggers: ['message_sent'], retryOnFailure: true })
    const changed = dataOf(
      await world.put('/webhooks/hook-1', {
        ...{ name: 'Other', webhookURL: 'http://127.0.0.1:10/', enabled: false },
        ...{ useBasicAuth: true, username: 'u', password: 'p', triggers: ['user_blocked'] },
      }),
    )
    expect(changed).toMatchObject({
      ...{ id: 'hook-1', name: 'Other', webhookURL: 'http://127.0.0.1:10/', enabled: false, retryOnFailure: true },
      ...{ useBasicAuth: true, username: 'u', triggers: ['user_blocked'] },
    })
    expect(dataOf(await world.get('/webhooks/hook-1'))).toEqual(changed)
    expect(dataOf(await world.put('/webhooks/hook-1', {}))).toEqual({ ...changed, updatedAt: expect.any(Number) })
    // Its id cannot be changed: the member is unknown here.
    dataOf(await world.put(`/apps/${world.app.name}/webhooks/hook-1`, { id: 'else', triggers: [] }))
    expect(dataOf(await world.get('/webhooks/hook-1')).triggers).toEqual([])
  })

  it('are gone when removed, and may be made again', async () => {
    const world = await worldWithHook({ triggers: ['message_sent'] })
    expect((await world.delete('/webhooks/hook-1')).body).toEqual({
      data: { success: true, message: 'webhook removed' },
    })
    expect(refusal(await world.get('/webhooks/hook-1'))).toBe('404 ERR_WEBHOOK_NOT_FOUND')
    expect(refusal(await world.delete('/webhooks/hook-1'))).toBe('404 ERR_WEBHOOK_NOT_FOUND')
    expect(dataOf(await world.post('/webhooks', hook)).triggers).toEqual([])
  })

  it('have ids of their own', async () => {
    const world = await worldWithHook()
    expect(refusal(await world.post('/webhooks', { ...hook, name: 'Other' }))).toBe('409 ERR_WEBHOOK_ALREADY_EXISTS')
    expect(dataOf(await world.get('/webhooks/hook-1')).name).toBe('Hook one')
    // Another app may use the same.
    await worldWithHook()
  })

  it('are 25 at most, also when many are made at the same time', async () => {
    const world = await createWorld()
    const answers = await Promise.all(
      Array.from({ length: 28 }, (_, i) => world.post('/webhooks', { ...hook, id: `hook${i}` })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(25)
    const refused = answers.find(({ status }) => status !== 200) as Answer
    expect(refusal(refused)).toBe('400 ERR_BAD_REQUEST')
    expect(refused.body.error.devMessage).toContain('25')
  })

  it.each([
    [{ id: undefined }, 'body/id'],
    [{ id: '' }, 'body/id'],
    [{ id: 'a b' }, 'body/id'],
    [{ id: 'x'.repeat(51) }, 'body/id'],
    [{ id: 5 }, 'body/id'],
    [{ name: undefined }, 'body/name'],
    [{ name: '' }, 'body/name'],
    [{ name: 'x'.repeat(51) }, 'body/name'],
    [{ webhookURL: undefined }, 'body/webhookURL'],
    [{ webhookURL: `${url}/${'x'.repeat(255)}` }, 'body/webhookURL'],
    [{ webhookURL: 'not a url' }, 'body/webhookURL'],
    [{ webhookURL: '/hook' }, 'body/webhookURL'],
    [{ webhookURL: 'ftp://example.com/' }, 'body/webhookURL'],
    [{ webhookURL: 'file:///etc/passwd' }, 'body/webhookURL'],
    [{ webhookURL: 'https://user:pass@example.com/' }, 'body/webhookURL'],
    [{ webhookURL: 'https://exa mple.com/' }, 'body/webhookURL'],
    [{ webhookURL: { $ne: '' } }, 'body/webhookURL'],
    [{ useBasicAuth: 'true' }, 'body/useBasicAuth'],
    [{ username: 'a-b' }, 'body/username'],
    [{ username: 'x'.repeat(51) }, 'body/username'],
    [{ password: 'a b' }, 'body/password'],
    [{ password: 'x'.repeat(101) }, 'body/password'],
    [{ enabled: 1 }, 'body/enabled'],
    [{ retryOnFailure: 'yes' }, 'body/retryOnFailure'],
    [{ triggers: 'message_sent' }, 'body/triggers'],
    [{ triggers: ['message_sent', 'nonsense'] }, 'body/triggers/1'],
    [{ triggers: ['after_message'] }, 'body/triggers/0'],
    [{ triggers: [7] }, 'body/triggers/0'],
  ])('are refused with the field named: %j', async (part, path) => {
    const world = await createWorld()
    expect(flawsOf(await world.post('/webhooks', { ...hook, ...part }))).toEqual([path])
    expect((await world.get('/webhooks')).body.data).toEqual([])
  })

  it('need a user name and a password for basic auth, given now or earlier', async () => {
    const world = await createWorld()
    const basic = { ...hook, useBasicAuth: true }
    expect(flawsOf(await world.post('/webhooks', basic))).toEqual(['body/username', 'body/password'])
    expect(flawsOf(await world.post('/webhooks', { ...basic, username: 'u' }))).toEqual(['body/password'])
    dataOf(await world.post('/webhooks', hook))
    expect(flawsOf(await world.put('/webhooks/hook-1', { useBasicAuth: true }))).toHaveLength(2)
    dataOf(await world.put('/webhooks/hook-1', { username: 'u', password: 'p' }))
    expect(dataOf(await world.put('/webhooks/hook-1', { useBasicAuth: true })).useBasicAuth).toBe(true)
  })

  it('are unknown below another app, as below one that does not exist', async () => {
    const [world, other] = [await worldWithHook(), await createWorld()]
    for (const app of [other.app.name, 'nowhere']) {
      for (const answer of [
        await world.get(`/apps/${app}/webhooks`),
        await world.get(`/apps/${app}/webhooks/hook-1`),
        await world.post(`/apps/${app}/webhooks`, { ...hook, id: 'hook2' }),
        await world.put(`/apps/${app}/webhooks/hook-1`, { name: 'x' }),
        await world.delete(`/apps/${app}/webhooks/hook-1`),
      ]) {
        expect(refusal(answer)).toBe('404 ERR_APP_NOT_FOUND')
      }
    }
    expect(refusal(await other.get('/webhooks/hook-1'))).toBe('404 ERR_WEBHOOK_NOT_FOUND')
  })

  it('are not for authOnly keys', async () => {
    const world = await worldWithHook()
    const headers = { appid: world.app.name, apikey: world.authKey }
    for (const path of ['/webhooks', '/webhooks/hook-1', '/webhooks/hook-1/deliveries', '/triggers']) {
      expect(refusal(await send(world.url, 'GET', path, undefined, headers))).toBe('403 AUTH_ERR_NO_ACCESS')
    }
  })

  it('take the version of the header, and refuse one that there is not', async () => {
    const world = await createWorld()
    const versionOf = async (id: string, version?: string) =>
      dataOf(
        await world.post(
          '/webhooks',
          { ...hook, id },
          version === undefined ? {} : { headers: { 'X-Webhook-Version': version } },
        ),
      ).version
    expect(await versionOf('one', '1')).toBe(1)
    expect(await versionOf('two', '2')).toBe(2)
    expect(await versionOf('none')).toBe(2)
    for (const version of ['3', '0', 'new', '1.5']) {
      const answer = await world.post('/webhooks', hook, { headers: { 'X-Webhook-Version': version } })
      expect(flawsOf(answer)).toEqual(['headers/X-Webhook-Version'])
    }
  })
})

describe('triggers', () => {
  it('are listed, each once, with category and description', async () => {
    const world = await createWorld()
    const { data, meta } = (await world.get('/triggers')).body
    expect(data).toEqual(triggers)
    expect(meta.pagination).toEqual({
      ...{ total: triggers.length, count: triggers.length },
      ...{ per_page: 100, current_page: 1, total_pages: 1 },
    })
  })

  it('are added one by one, listed and removed together', async () => {
    const world = await worldWithHook()
    const path = '/webhooks/hook-1/triggers'
    const added = await world.post(path, {
      triggerIds: ['message_read_receipt', 'nonsense', 'message_delivery_receipt', 'before_message', 'message_sent'],
    })
    expect(added.body).toEqual({
      data: {
        message_read_receipt: { success: true, message: 'trigger added' },
        message_delivery_receipt: { success: true, message: 'trigger added' },
        message_sent: { success: true, message: 'trigger added' },
        nonsense: {
          success: false,
          message: 'There is no trigger with the id nonsense.',
          error: expect.objectContaining({ code: 'ERR_TRIGGER_NOT_FOUND' }),
        },
        before_message: {
          success: false,
          message: 'The trigger before_message is for webhooks of version 1.',
          error: expect.objectContaining({ code: 'ERR_BAD_REQUEST' }),
        },
      },
    })
    // Again does no harm.
    expect(dataOf(await world.post(path, { triggerIds: ['message_sent'] })).message_sent.success).toBe(true)
    expect((await world.delete(path, { triggerIds: ['message_sent', 'group_created'] })).body).toEqual({
      data: { success: true, message: 'trigger removed' },
    })
    expect((await world.get(path)).body).toEqual({
      data: [
        { id: 'message_delivery_receipt', description: 'a message was delivered' },
        { id: 'message_read_receipt', description: 'a message was read' },
      ],
      meta: { pagination: { total: 2, count: 2, per_page: 100, current_page: 1, total_pages: 1 } },
    })
    expect((await world.get(`/apps/${world.app.name}${path}`)).body.data).toHaveLength(2)
  })

  it('are refused where they are unknown, missing or of no webhook', async () => {
    const world = await worldWithHook({ triggers: ['message_sent'] })
    const path = '/webhooks/hook-1/triggers'
    expect(refusal(await world.delete(path, { triggerIds: ['message_sent', 'nonsense'] }))).toBe(
      '404 ERR_TRIGGER_NOT_FOUND',
    )
    expect(dataOf(await world.get(path))).toHaveLength(1)
    for (const method of ['POST', 'DELETE']) {
      for (const body of [{}, { triggerIds: [] }, { triggerIds: 'message_sent' }]) {
        expect(flawsOf(await world.call(method, path, body))).toEqual(['body/triggerIds'])
      }
      const nowhere = await world.call(method, '/webhooks/nowhere/triggers', { triggerIds: ['message_sent'] })
      expect(refusal(nowhere)).toBe('404 ERR_WEBHOOK_NOT_FOUND')
    }
    expect(refusal(await world.get('/webhooks/nowhere/triggers'))).toBe('404 ERR_WEBHOOK_NOT_FOUND')
  })

  it('of the legacy envelope are those of webhooks of version 1, and only they', async () => {
    const world = await createWorld()
    const all = ['before_message', 'after_message', 'message_delivery_receipt', 'message_read_receipt']
    const made = await world.post('/webhooks', { ...hook, triggers: [...all, 'user_connection_status_change'] }, legacy)
    expect(dataOf(made).triggers).toHaveLength(5)
    expect(flawsOf(await world.put('/webhooks/hook-1', { triggers: ['message_sent'] }))).toEqual(['body/triggers/0'])
    const added = dataOf(await world.post('/webhooks/hook-1/triggers', { triggerIds: ['group_created'] }))
    expect(added.group_created.success).toBe(false)
  })
})
