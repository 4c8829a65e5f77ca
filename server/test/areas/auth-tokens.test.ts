import { describe, expect, it } from 'vitest'
import { dataOf, refusal } from '../support/chat.ts'
import { createUsers, createWorld, send, type World } from '../support/world.ts'

const issue = async (world: World, uid: string, body?: object) =>
  dataOf(await world.post(`/users/${uid}/auth_tokens`, body))

const works = async (world: World, token: string): Promise<boolean> => {
  const answer = await world.get('/users', { token })
  if (answer.status !== 200) expect(refusal(answer)).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
  return answer.status === 200
}

describe('issuing an auth token', () => {
  it('answers one that names its user and time, and logs him in', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const answer = await world.post('/users/Alice/auth_tokens')
    expect(answer.status).toBe(200)
    const { uid, authToken, createdAt, ...rest } = answer.body.data
    expect(rest).toEqual({})
    expect(uid).toBe('alice')
    expect(createdAt).toBeCloseTo(Date.now() / 1000, -2)
    expect(authToken).toMatch(new RegExp(`^alice_${createdAt}[0-9a-f]{30}$`))
    expect(dataOf(await world.get('/users/alice', { token: authToken })).uid).toBe('alice')
  })

  it('makes a new one each time, with and without force', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const bodies = [undefined, {}, { force: true }, { force: false }, '']
    const tokens = await Promise.all(
      bodies.map(async (body) => dataOf(await world.post('/users/alice/auth_tokens', body)).authToken),
    )
    expect(new Set(tokens).size).toBe(bodies.length)
    for (const token of tokens) expect(await works(world, token)).toBe(true)
  })

  it('keeps where it is used, as front ends tell when they log in', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const appInfo = { version: '4.2.0', apiVersion: 'v3.0', userAgent: 'Firefox', nested: { a: [1, null] } }
    const made = await issue(world, 'alice', { platform: 'WEB', deviceId: 'd-1', userAgent: 'Firefox 141', appInfo })
    expect(made).toEqual({
      uid: 'alice',
      authToken: expect.any(String),
      createdAt: expect.any(Number),
      platform: 'WEB',
      userAgent: 'Firefox 141',
      appInfo,
    })
    expect(dataOf(await world.get('/users/alice/auth_tokens'))).toEqual([made])
  })

  it('works with an authOnly key and without a version in the path, but no other token operation does', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const headers = { appid: world.app.name, apikey: world.authKey }
    const call = (method: string, path: string, body?: unknown) => send(world.url, method, path, body, headers)
    const { authToken } = dataOf(await call('POST', '/users/alice/auth_tokens', { platform: 'WEB' }))
    expect(await works(world, authToken)).toBe(true)
    const unversioned = await fetch(`${world.url}/users/alice/auth_tokens`, { method: 'POST', headers })
    expect(unversioned.status).toBe(200)
    for (const [method, path] of [
      ['GET', '/users/alice/auth_tokens'],
      ['DELETE', '/users/alice/auth_tokens'],
      ['GET', `/users/alice/auth_tokens/${authToken}`],
      ['PUT', `/users/alice/auth_tokens/${authToken}`],
      ['DELETE', `/users/alice/auth_tokens/${authToken}`],
    ] as const) {
      expect(refusal(await call(method, path, method === 'GET' ? undefined : {}))).toBe('403 AUTH_ERR_NO_ACCESS')
    }
    expect(refusal(await world.post('/users/alice/auth_tokens', {}, { token: authToken }))).toBe(
      '403 AUTH_ERR_NO_ACCESS',
    )
  })

  it('refuses who is unknown, and the system user, whom nobody may be', async () => {
    const world = await createWorld()
    expect(refusal(await world.post('/users/nobody/auth_tokens'))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.post('/users/a%20b/auth_tokens'))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.post('/users/app_system/auth_tokens'))).toBe('403 ERR_PERMISSION_DENIED')
    expect(dataOf(await world.get('/users/app_system/auth_tokens'))).toEqual([])
  })

  it('refuses what is of the wrong type or too large, naming it', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const { authToken } = await issue(world, 'alice')
    const wrong: Array<[object, string]> = [
      [{ platform: 1 }, 'body/platform'],
      [{ platform: 'x'.repeat(101) }, 'body/platform'],
      [{ userAgent: null }, 'body/userAgent'],
      [{ userAgent: 'x'.repeat(1001) }, 'body/userAgent'],
      [{ appInfo: 'text' }, 'body/appInfo'],
      [{ appInfo: [] }, 'body/appInfo'],
      [{ appInfo: { k: 'x'.repeat(5200) } }, 'body/appInfo'],
    ]
    const calls = [
      (body: object) => world.post('/users/alice/auth_tokens', body),
      (body: object) => world.put(`/users/alice/auth_tokens/${authToken}`, body),
      (body: object) => world.put('/me', body, { token: authToken }),
    ]
    for (const [body, path] of wrong) {
      for (const call of path === 'body/userAgent' ? calls.slice(0, 2) : calls) {
        const answer = await call(body)
        expect(refusal(answer), path).toBe('400 ERR_BAD_REQUEST')
        expect(answer.body.error.details[0].path).toBe(path)
      }
    }
    expect(refusal(await world.post('/users/alice/auth_tokens', { force: 'true' }))).toBe('400 ERR_BAD_REQUEST')
    const list = await world.get('/users/alice/auth_tokens')
    expect(list.body.meta.pagination.total).toBe(1)
    expect(dataOf(list)[0].appInfo).toBeUndefined()
  })

  it('keeps nothing of a login whose profile is refused', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const { authToken: token } = await issue(world, 'alice')
    const login = { platform: 'IOS', appInfo: { version: '1.0' } }
    const refused = await world.put('/me', { ...login, metadata: { k: 'x'.repeat(5200) } }, { token })
    expect(refusal(refused)).toBe('400 ERR_BAD_REQUEST')
    expect(dataOf(await world.get('/users/alice/auth_tokens'))[0]).not.toHaveProperty('platform')
    dataOf(await world.put('/me', login, { token }))
    expect(dataOf(await world.get('/users/alice/auth_tokens'))[0]).toMatchObject(login)
  })
})

describe('a user with many tokens', () => {
  it('has 100 at most; the oldest drop out, also when many are made at once', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const first = await issue(world, 'alice')
    const second = await issue(world, 'alice')
    const ofBob = await issue(world, 'bob')
    for (let i = 0; i < 98; i++) await issue(world, 'alice')
    expect(await works(world, first.authToken)).toBe(true)
    await issue(world, 'alice')
    expect(await works(world, first.authToken)).toBe(false)
    expect(await works(world, second.authToken)).toBe(true)

    const newest = await Promise.all(Array.from({ length: 30 }, () => issue(world, 'alice')))
    const { body } = await world.get('/users/alice/auth_tokens')
    expect(body.meta.pagination.total).toBe(100)
    const kept = body.data.slice(0, 30).map(({ authToken }: { authToken: string }) => authToken)
    expect(new Set(kept)).toEqual(new Set(newest.map(({ authToken }) => authToken)))
    expect(await works(world, second.authToken)).toBe(false)
    expect(await works(world, ofBob.authToken)).toBe(true)
  })

  it('sees them in pages, newest first', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const made: string[] = []
    for (let i = 0; i < 5; i++) made.unshift((await issue(world, 'alice')).authToken)
    const page = async (query: string) => {
      const { data, meta } = (await world.get(`/users/ALICE/auth_tokens?${query}`)).body
      return { tokens: data.map(({ authToken }: { authToken: string }) => authToken), ...meta.pagination }
    }
    expect((await page('')).tokens).toEqual(made)
    expect(await page('perPage=2&page=2')).toEqual({
      tokens: made.slice(2, 4),
      total: 5,
      count: 2,
      per_page: 2,
      current_page: 2,
      total_pages: 3,
    })
    expect((await page('page=7')).tokens).toEqual([])
    for (const query of ['page=0', 'perPage=0', 'perPage=1001', 'perPage=x']) {
      expect(refusal(await world.get(`/users/alice/auth_tokens?${query}`))).toBe('400 ERR_BAD_REQUEST')
    }
  })

  it('loses all of them by a flush, and only his', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const tokens = [await issue(world, 'alice'), await issue(world, 'alice')]
    const ofBob = await issue(world, 'bob')
    expect(dataOf(await world.delete('/users/alice/auth_tokens'))).toEqual({
      success: true,
      message: expect.stringContaining('alice'),
    })
    for (const { authToken } of tokens) expect(await works(world, authToken)).toBe(false)
    expect(await works(world, ofBob.authToken)).toBe(true)
    expect(dataOf(await world.get('/users/alice/auth_tokens'))).toEqual([])
    expect((await world.delete('/users/alice/auth_tokens')).status).toBe(200)
    expect(refusal(await world.delete('/users/nobody/auth_tokens'))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.get('/users/nobody/auth_tokens'))).toBe('404 ERR_UID_NOT_FOUND')
  })
})

describe('a single token', () => {
  it('is read, and tells where it is used once that was recorded', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const made = await issue(world, 'alice')
    const path = `/users/alice/auth_tokens/${made.authToken}`
    expect(dataOf(await world.get(path))).toEqual(made)

    const use = { platform: 'ios', userAgent: 'App/1.0', appInfo: { version: '1.0' } }
    expect(dataOf(await world.put(path, { ...use, shoeSize: 44 }))).toEqual({ ...made, ...use })
    expect(dataOf(await world.put(path, { appInfo: { version: '1.1' } }))).toEqual({
      ...made,
      ...use,
      appInfo: { version: '1.1' },
    })
    expect(dataOf(await world.put(path, {}))).toEqual(dataOf(await world.get(path)))
    for (const body of [undefined, '']) expect(refusal(await world.put(path, body))).toBe('400 ERR_BAD_REQUEST')
    expect(dataOf(await world.get('/users/alice/auth_tokens'))[0].platform).toBe('ios')
  })

  it('stops working when it is deleted, the others do not', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const [one, other] = [await issue(world, 'alice'), await issue(world, 'alice')]
    const path = `/users/alice/auth_tokens/${one.authToken}`
    expect(dataOf(await world.delete(path)).success).toBe(true)
    expect(await works(world, one.authToken)).toBe(false)
    expect(await works(world, other.authToken)).toBe(true)
    for (const answer of [await world.get(path), await world.put(path, {}), await world.delete(path)]) {
      expect(refusal(answer)).toBe('404 ERR_AUTH_TOKEN_NOT_FOUND')
    }
  })

  it('is deleted once when it is asked for many times at once', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const path = `/users/alice/auth_tokens/${(await issue(world, 'alice')).authToken}`
    const answers = await Promise.all(Array.from({ length: 10 }, () => world.delete(path)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)])
  })

  it('is only found under its own user and app', async () => {
    const [world, otherApp] = [await createWorld(), await createWorld()]
    await createUsers(world, 'alice', 'bob')
    await createUsers(otherApp, 'alice')
    const { authToken } = await issue(world, 'alice')
    const calls = (app: World, uid: string, token = authToken) => [
      app.get(`/users/${uid}/auth_tokens/${token}`),
      app.put(`/users/${uid}/auth_tokens/${token}`, { platform: 'x' }),
      app.delete(`/users/${uid}/auth_tokens/${token}`),
    ]
    for (const answer of await Promise.all(calls(world, 'bob'))) {
      expect(refusal(answer)).toBe('403 ERR_AUTHTOKEN_NOT_ACCESSIBLE')
    }
    for (const answer of await Promise.all(calls(world, 'nobody'))) {
      expect(refusal(answer)).toBe('404 ERR_UID_NOT_FOUND')
    }
    for (const answer of await Promise.all([
      ...calls(otherApp, 'alice'),
      ...calls(world, 'alice', 'nonsense'),
      ...calls(world, 'alice', `${authToken}0`),
      ...calls(world, 'alice', encodeURIComponent("' or 1=1 --")),
    ])) {
      expect(refusal(answer)).toBe('404 ERR_AUTH_TOKEN_NOT_FOUND')
    }
    expect(refusal(await otherApp.get('/users', { token: authToken }))).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    expect(await works(world, authToken)).toBe(true)
  })

  it('is not kept as text in the database', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const { authToken } = await issue(world, 'alice')
    const [row] = await world.context.database.query<{ kept: string }>(
      { name: 'test look at token', text: 'select t::text as kept from auth_tokens t where app_id = $1' },
      [world.app.appId],
    )
    expect(row?.kept).toContain('alice')
    expect(row?.kept).not.toContain(authToken.slice(-30))
    expect(row?.kept).not.toContain(Buffer.from(authToken).toString('hex'))
  })
})
