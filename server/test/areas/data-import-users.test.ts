import { describe, expect, it } from 'vitest'
import { statement } from '../../src/store/statement.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { codes, importAll, importWell } from '../support/imports.ts'
import { createWorld, send } from '../support/world.ts'

const seconds = () => Math.floor(Date.now() / 1000)

describe('the import of users', () => {
  it('makes users with their times and answers them under their keys', async () => {
    const world = await createWorld()
    const before = seconds()
    const answer = await world.post('/data_import/users', {
      users: {
        alice: {
          uid: 'alice',
          name: 'Alice',
          avatar: 'https://example.com/a.webp',
          link: 'https://example.com/alice',
          createdAt: '1700000000',
          metadata: { k: 'v', '@private': { email: 'a@example.com' } },
          lastActiveAt: '1700000006',
          tags: ['red', 'blue', 'red'],
          deactivatedAt: 1_700_000_100,
        },
        Bob: { uid: 'bob', name: 'Bob' },
      },
    })
    expect(answer.status).toBe(200)
    const { alice, Bob } = answer.body.data
    expect(alice).toEqual({
      success: true,
      data: {
        uid: 'alice',
        name: 'Alice',
        avatar: 'https://example.com/a.webp',
        link: 'https://example.com/alice',
        metadata: { k: 'v', '@private': { email: 'a@example.com' } },
        status: 'offline',
        role: 'default',
        lastActiveAt: 1_700_000_006,
        createdAt: 1_700_000_000,
        updatedAt: expect.any(Number),
        deactivatedAt: 1_700_000_100,
        tags: ['red', 'blue'],
      },
    })
    expect(alice.data.updatedAt).toBeGreaterThanOrEqual(before)
    expect(Bob.data).toEqual({
      uid: 'bob',
      name: 'Bob',
      status: 'offline',
      role: 'default',
      createdAt: expect.any(Number),
    })
    expect(Bob.data.createdAt).toBeGreaterThanOrEqual(before)
    expect(dataOf(await world.get('/users/bob'))).toMatchObject({ uid: 'bob', name: 'Bob' })
    expect(refusal(await world.post('/users/alice/auth_tokens', {}))).toBe('404 ERR_UID_NOT_FOUND')
  })

  it('answers under /v3.0 too, for a fullAccess key only', async () => {
    const world = await createWorld()
    const body = { users: { alice: { uid: 'alice', name: 'Alice' } } }
    const headers = { appid: world.app.name, 'content-type': 'application/json' }
    const post = (apikey: string) =>
      fetch(`${world.url}/v3.0/data_import/users`, {
        method: 'POST',
        headers: { ...headers, apikey },
        body: JSON.stringify(body),
      })
    expect((await post(world.authKey)).status).toBe(403)
    const answer = await post(world.apiKey)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ data: { alice: { success: true } } })
    const keyless = await send(world.url, 'POST', '/data_import/users', body, { appid: world.app.name })
    expect(refusal(keyless)).toBe('401 AUTH_ERR_EMPTY_APIKEY')
  })

  it('ignores onBehalfOf', async () => {
    const world = await createWorld()
    const answer = await world.post('/data_import/users', { users: [{ uid: 'a', name: 'A' }] }, { as: 'nobody' })
    expect(answer.body.data.a.success).toBe(true)
  })

  it('stores what is sound, names what is not, and leaves what exists as it is', async () => {
    const world = await createWorld()
    await importWell(world, 'users', [{ uid: 'alice', name: 'Alice' }])
    const outcomes = await importAll(world, 'users', {
      ALICE: { uid: 'Alice', name: 'Somebody else', role: 'no-such-role' },
      bob: { uid: 'bob', name: 'Bob' },
      carol: { uid: 'dave', name: 'Carol' },
      erin: { uid: 'erin' },
      frank: { uid: 'frank', name: 'Frank', role: 'no-such-role' },
      gina: { uid: 'gina', name: 'Gina', createdAt: seconds() + 120 },
      heidi: null,
      ivan: ['ivan'],
      judy: 5,
      'k k': { uid: 'k k', name: 'K' },
    })
    expect(codes(outcomes)).toEqual({
      ALICE: 'ERR_UID_ALREADY_EXISTS',
      bob: 'stored',
      carol: 'ERR_IMPORT_INVALID_USER_FORMAT',
      erin: 'ERR_IMPORT_INVALID_USER_FORMAT',
      frank: 'ERR_ROLE_NOT_FOUND',
      gina: 'ERR_BAD_REQUEST',
      heidi: 'ERR_IMPORT_INVALID_USER_FORMAT',
      ivan: 'ERR_IMPORT_INVALID_USER_FORMAT',
      judy: 'ERR_IMPORT_INVALID_USER_FORMAT',
      'k k': 'ERR_BAD_REQUEST',
    })
    expect(outcomes.erin.error).toEqual({
      code: 'ERR_IMPORT_INVALID_USER_FORMAT',
      message: expect.any(String),
      devMessage: expect.stringContaining('name'),
      source: 'chat-api',
      details: [{ path: 'name', message: 'is required' }],
    })
    expect(dataOf(await world.get('/users/alice')).name).toBe('Alice')
    expect(refusal(await world.get('/users/frank'))).toBe('404 ERR_UID_NOT_FOUND')
  })

  it('answers records of an array under their own ids, and hides none behind another', async () => {
    const world = await createWorld()
    const outcomes = await importAll(world, 'users', [
      { uid: 'Alice', name: 'Alice' },
      { uid: 'alice', name: 'Alice again' },
      { uid: 'Alice', name: 'Alice once more' },
      { name: 'Nobody' },
      null,
      [],
      { uid: 7, name: 'Seven' },
      { uid: 'bob', name: 'Bob' },
    ])
    expect(codes(outcomes)).toEqual({
      Alice: 'stored',
      alice: 'ERR_UID_ALREADY_EXISTS',
      '[2]': 'ERR_UID_ALREADY_EXISTS',
      '[3]': 'ERR_IMPORT_INVALID_USER_FORMAT',
      '[4]': 'ERR_IMPORT_INVALID_USER_FORMAT',
      '[5]': 'ERR_IMPORT_INVALID_USER_FORMAT',
      '[6]': 'ERR_IMPORT_INVALID_USER_FORMAT',
      bob: 'stored',
    })
    expect(outcomes.Alice.data).toMatchObject({ uid: 'alice', name: 'Alice' })
  })

  it('can be run again, and at the same moment', async () => {
    const world = await createWorld()
    const users = Array.from({ length: 200 }, (_, i) => ({ uid: `u${(i * 77) % 200}`, name: `User ${i}` }))
    const runs = await Promise.all(
      [users, users.toReversed(), users, users.toReversed()].map((records) => importAll(world, 'users', records)),
    )
    const stored = runs.flatMap((outcomes) => Object.values(codes(outcomes)).filter((code) => code === 'stored'))
    expect(stored).toHaveLength(200)
    const again = Object.values(codes(await importAll(world, 'users', users)))
    expect(new Set(again)).toEqual(new Set(['ERR_UID_ALREADY_EXISTS']))
    const list = await world.get('/users?perPage=1')
    expect(list.body.meta.pagination.total).toBe(200)
  })

  it('gives roles that exist', async () => {
    const world = await createWorld()
    await world.context.database.query(
      statement("insert into roles (app_id, role, name, created_at) values ($1, 'teacher', 'Teacher', 0)"),
      [world.app.appId],
    )
    const { alice } = await importWell(world, 'users', [{ uid: 'alice', name: 'Alice', role: 'Teacher' }])
    expect(alice.role).toBe('teacher')
  })

  it('takes 0 where an optional time is meant to be absent', async () => {
    const world = await createWorld()
    const users = [{ uid: 'alice', name: 'Alice', createdAt: 0, lastActiveAt: '0', deactivatedAt: 0 }]
    const { alice } = await importWell(world, 'users', users)
    expect(alice).not.toHaveProperty('deactivatedAt')
    expect(alice).not.toHaveProperty('lastActiveAt')
    expect(alice.createdAt).toBeGreaterThan(1_700_000_000)
  })

  it('refuses a request without readable records as a whole', async () => {
    const world = await createWorld()
    for (const users of [undefined, null, 'alice', 5, true]) {
      const answer = await world.post('/data_import/users', { users })
      expect(refusal(answer)).toBe('400 ERR_IMPORT_INVALID_USER_FORMAT')
      expect(answer.body.error.details[0].path).toBe('body/users')
    }
    expect(refusal(await world.post('/data_import/users', []))).toBe('400 ERR_BAD_REQUEST')
    expect(await importAll(world, 'users', {})).toEqual({})
    expect(await importAll(world, 'users', [])).toEqual({})
  })

  it('stores nothing of a request with more than 1,000 records', async () => {
    const world = await createWorld()
    const users = Array.from({ length: 1001 }, (_, i) => ({ uid: `u${i}`, name: 'U' }))
    const answer = await world.post('/data_import/users', { users })
    expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
    expect(answer.body.error.devMessage).toContain('1000')
    expect(refusal(await world.get('/users/u0'))).toBe('404 ERR_UID_NOT_FOUND')
    await importWell(world, 'users', users.slice(1))
  })
})
