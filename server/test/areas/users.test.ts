import { describe, expect, it } from 'vitest'
import { type Answer, createUsers, createWorld, send, type World } from '../support/world.ts'

const inFrontEnd = (world: World, method: string, path: string, body: unknown): Promise<Answer> =>
  send(world.url, method, path, body, { appid: world.app.name, apikey: world.authKey })

const createRole = (world: World, role: string) =>
  world.context.database.query(
    { name: 'test make role', text: 'insert into roles (app_id, role, name, created_at) values ($1, $2, $2, 1)' },
    [world.app.appId, role],
  )

/** Everything that a profile can have. */
const whole = {
  name: 'Alice',
  avatar: 'https://example.com/alice.png',
  link: 'https://example.com/alice',
  role: 'manager',
  statusMessage: 'busy',
  metadata: { rawMetadata: "{'k':'v'}", '@private': { email: 'alice@example.com' } },
  tags: ['eng', 'manager'],
}

describe('creating a user', () => {
  it('keeps and answers every field, the uid in lower case', async () => {
    const world = await createWorld()
    await createRole(world, 'manager')
    const made = await world.post('/users', { uid: 'Alice-1_X', ...whole, role: 'Manager' })
    expect(made.status).toBe(200)
    expect(made.body).toEqual({
      data: { ...whole, uid: 'alice-1_x', status: 'offline', createdAt: expect.any(Number) },
    })
    expect(made.body.data.createdAt).toBeCloseTo(Date.now() / 1000, -2)
    expect((await world.get('/users/ALICE-1_x')).body).toEqual(made.body)
  })

  it('needs a uid and a name only and leaves out what is not there', async () => {
    const world = await createWorld()
    const made = await world.post('/users', { uid: 'bob', name: 'Bob' })
    expect(made.body).toEqual({
      data: { uid: 'bob', name: 'Bob', status: 'offline', role: 'default', createdAt: expect.any(Number) },
    })
  })

  it('answers a working auth token when asked for one', async () => {
    const world = await createWorld()
    const { authToken, ...user } = (await world.post('/users', { uid: 'bob', name: 'Bob', withAuthToken: true })).body
      .data
    expect(authToken).toMatch(/^bob_[0-9]{10}[0-9a-f]{30}$/)
    expect((await world.get('/users/bob', { token: authToken })).body.data).toEqual(user)
  })

  it('refuses a uid that is taken, whatever its case, and the uid of the system user', async () => {
    const world = await createWorld()
    await createUsers(world, 'bob')
    for (const uid of ['bob', 'BOB', 'app_system']) {
      const answer = await world.post('/users', { uid, name: 'Other', withAuthToken: true })
      expect(answer.status).toBe(409)
      expect(answer.body.error).toMatchObject({
        code: 'ERR_UID_ALREADY_EXISTS',
        source: 'chat-api',
        devMessage: expect.stringContaining(uid.toLowerCase()),
      })
    }
    expect((await world.get('/users/bob')).body.data.name).toBe('Bob')
    expect((await world.get('/users/bob/auth_tokens')).body.data).toEqual([])
  })

  it('makes one user when the same uid is asked for twenty times at the same time', async () => {
    const world = await createWorld()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => world.post('/users', { uid: 'same', name: `n${i}`, withAuthToken: true })),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array(19).fill(409)])
    const winner = answers.find((answer) => answer.status === 200)
    expect((await world.get('/users/same')).body.data.name).toBe(winner?.body.data.name)
    expect((await world.get('/users/same/auth_tokens')).body.meta.pagination.total).toBe(1)
  })

  it('wants a role that exists', async () => {
    const world = await createWorld()
    const answer = await world.post('/users', { uid: 'bob', name: 'Bob', role: 'nosuch' })
    expect(answer.status).toBe(404)
    expect(answer.body.error).toMatchObject({
      code: 'ERR_ROLE_NOT_FOUND',
      devMessage: expect.stringContaining('nosuch'),
    })
    expect((await world.get('/users/bob')).status).toBe(404)
  })

  it('takes every limit to the last character and refuses the next, naming the field', async () => {
    const world = await createWorld()
    const metadata = (bytes: number) => ({ k: 'é'.repeat((bytes - 8) / 2) })
    expect(Buffer.byteLength(JSON.stringify(metadata(5120)))).toBe(5120)
    const url = (length: number) => `https://example.com/${'x'.repeat(length - 20)}`
    const tags = (count: number, length: number) => Array.from({ length: count }, (_, i) => `${i}`.padEnd(length, 'x'))
    const fits = {
      uid: 'u'.repeat(100),
      name: '😀'.repeat(100),
      avatar: url(3000),
      link: url(3000),
      statusMessage: 's'.repeat(255),
      metadata: metadata(5120),
      tags: tags(25, 100),
    }
    const made = await world.post('/users', fits)
    expect(made.status).toBe(200)
    expect(made.body.data).toMatchObject(fits)

    const wrong: Array<[object, string]> = [
      [{ uid: 'u'.repeat(101) }, 'body/uid'],
      [{ name: '😀'.repeat(101) }, 'body/name'],
      [{ avatar: url(3001) }, 'body/avatar'],
      [{ link: url(3001) }, 'body/link'],
      [{ statusMessage: 's'.repeat(256) }, 'body/statusMessage'],
      [{ metadata: metadata(5122) }, 'body/metadata'],
      [{ tags: tags(26, 1) }, 'body/tags'],
      [{ tags: tags(1, 101) }, 'body/tags/0'],
    ]
    for (const [flaw, path] of wrong) {
      const answer = await world.post('/users', { ...fits, uid: 'other', ...flaw })
      expect(answer.status, path).toBe(400)
      expect(answer.body.error.code).toBe('ERR_BAD_REQUEST')
      expect(answer.body.error.details[0].path).toBe(path)
    }
    expect((await world.get('/users/other')).status).toBe(404)
  })

  it('refuses what is missing or of the wrong type, naming the field', async () => {
    const world = await createWorld()
    const wrong: Array<[object, string]> = [
      [{ uid: undefined }, 'body/uid'],
      [{ uid: 5 }, 'body/uid'],
      [{ uid: '' }, 'body/uid'],
      [{ uid: 'a b' }, 'body/uid'],
      [{ uid: 'ä' }, 'body/uid'],
      [{ uid: { $ne: 'x' } }, 'body/uid'],
      [{ uid: ['bob'] }, 'body/uid'],
      [{ uid: 'bob\n' }, 'body/uid'],
      [{ name: undefined }, 'body/name'],
      [{ name: '' }, 'body/name'],
      [{ name: null }, 'body/name'],
      [{ name: 'a\0b' }, 'body/name'],
      [{ avatar: 'alice.png' }, 'body/avatar'],
      [{ avatar: 'javascript://example.com/%0aalert(1)' }, 'body/avatar'],
      [{ link: 'https://[' }, 'body/link'],
      [{ link: 7 }, 'body/link'],
      [{ role: '' }, 'body/role'],
      [{ role: 'a role' }, 'body/role'],
      [{ statusMessage: 1 }, 'body/statusMessage'],
      [{ metadata: 'text' }, 'body/metadata'],
      [{ metadata: [] }, 'body/metadata'],
      [{ metadata: null }, 'body/metadata'],
      [{ tags: 'eng' }, 'body/tags'],
      [{ tags: [1] }, 'body/tags/0'],
      [{ tags: [''] }, 'body/tags/0'],
      [{ withAuthToken: 'true' }, 'body/withAuthToken'],
    ]
    for (const [flaw, path] of wrong) {
      const answer = await world.post('/users', { uid: 'bob', name: 'Bob', ...flaw })
      expect(answer.status, `${path} ${JSON.stringify(flaw)}`).toBe(400)
      expect(answer.body.error.code).toBe('ERR_BAD_REQUEST')
      expect(answer.body.error.details[0].path).toBe(path)
    }
    for (const body of [undefined, '', '[]', 'null', '{', '"bob"']) {
      expect((await world.post('/users', body)).body.error.code).toBe('ERR_BAD_REQUEST')
    }
    expect((await world.get('/users/bob')).status).toBe(404)
  })

  it('ignores unknown members, drops repeated tags and an empty status message', async () => {
    const world = await createWorld()
    const body = { uid: 'bob', name: 'Bob', tags: ['a', 'b', 'a'], statusMessage: '', shoeSize: 44, deactivatedAt: 1 }
    const { data } = (await world.post('/users', body)).body
    expect(data).toEqual({
      uid: 'bob',
      name: 'Bob',
      tags: ['a', 'b'],
      status: 'offline',
      role: 'default',
      createdAt: expect.any(Number),
    })
  })

  it('keeps text of every script, broken surrogates replaced', async () => {
    const world = await createWorld()
    const made = await world.post(
      '/users',
      '{"uid":"bob","name":"中\\ud800","metadata":{"a\\udfff":{"b":["\\ud83d"]}}}',
    )
    expect(made.status).toBe(200)
    expect((await world.get('/users/bob')).body.data).toMatchObject({
      name: '中\ufffd',
      metadata: { 'a\ufffd': { b: ['\ufffd'] } },
    })
  })

  it('works with an authOnly key, which gives no role', async () => {
    const world = await createWorld()
    await createRole(world, 'manager')
    const made = await inFrontEnd(world, 'POST', '/users', { uid: 'bob', name: 'Bob', withAuthToken: true })
    expect(made.status).toBe(200)
    expect(made.body.data.authToken).toMatch(/^bob_/)
    expect((await inFrontEnd(world, 'POST', '/users', { uid: 'carol', name: 'C', role: 'default' })).status).toBe(200)

    const refused = await inFrontEnd(world, 'POST', '/users', { uid: 'dave', name: 'Dave', role: 'manager' })
    expect(refused.status).toBe(403)
    expect(refused.body.error.code).toBe('AUTH_ERR_NO_ACCESS')
    expect((await world.get('/users/dave')).status).toBe(404)
  })

  it('is not open to the token of a user', async () => {
    const world = await createWorld()
    const { authToken } = (await world.post('/users', { uid: 'bob', name: 'Bob', withAuthToken: true })).body.data
    for (const answer of [
      await world.post('/users', { uid: 'carol', name: 'Carol' }, { token: authToken }),
      await world.put('/users/bob', { name: 'Robert' }, { token: authToken }),
      await world.delete('/users/bob', {}, { token: authToken }),
      await world.put('/users', { uidsToActivate: ['bob'] }, { token: authToken }),
      await world.delete('/users', { uidsToDeactivate: ['bob'] }, { token: authToken }),
    ]) {
      expect(answer.status).toBe(403)
      expect(answer.body.error.code).toBe('AUTH_ERR_NO_ACCESS')
    }
  })
})

describe('reading a user', () => {
  it('finds him whatever the case of the uid, and nobody under an unknown or impossible one', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    expect((await world.get('/users/ALICE')).body.data.uid).toBe('alice')
    for (const uid of ['nobody', 'a%20b', '%E4%BD%A0', 'x'.repeat(300), '%00']) {
      const answer = await world.get(`/users/${uid}`)
      expect([400, 404], uid).toContain(answer.status)
      if (uid !== '%00') expect(answer.body.error.code).toBe('ERR_UID_NOT_FOUND')
    }
  })

  it('finds the system user', async () => {
    const world = await createWorld()
    expect((await world.get('/users/app_system')).body.data).toMatchObject({ name: 'System', role: 'default' })
  })

  it('shows what is private to the app and to himself only', async () => {
    const world = await createWorld()
    const metadata = { '@private': { email: 'alice@example.com' }, city: 'Rome' }
    await world.post('/users', { uid: 'alice', name: 'Alice', metadata })
    await createUsers(world, 'bob')
    const seenBy = async (as?: string) => (await world.get('/users/alice', as ? { as } : {})).body.data.metadata
    expect(await seenBy()).toEqual(metadata)
    expect(await seenBy('alice')).toEqual(metadata)
    expect(await seenBy('bob')).toEqual({ city: 'Rome' })
  })

  it('tells a viewer the conversation with him and the blocks either way', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave')
    const block = {
      name: 'test block',
      text: 'insert into blocks (app_id, blocker, blocked, blocked_at) values ($1, $2, $3, $4)',
    }
    await world.context.database.query(block, [world.app.appId, 'alice', 'bob', 1700000001])
    await world.context.database.query(block, [world.app.appId, 'carol', 'alice', 1700000002])
    await world.context.database.query(block, [world.app.appId, 'alice', 'dave', 1700000003])
    await world.context.database.query(block, [world.app.appId, 'dave', 'alice', 1700000004])
    const seenByAlice = async (uid: string) => {
      const { name, status, role, createdAt, ...rest } = (await world.get(`/users/${uid}`, { as: 'ALICE' })).body.data
      return rest
    }
    expect(await seenByAlice('alice')).toEqual({ uid: 'alice' })
    expect(await seenByAlice('bob')).toEqual({
      uid: 'bob',
      conversationId: 'alice_user_bob',
      blockedByMe: true,
      blockedByMeAt: 1700000001,
      blockedAt: 1700000001,
    })
    expect(await seenByAlice('carol')).toEqual({
      uid: 'carol',
      conversationId: 'alice_user_carol',
    })
    expect(await seenByAlice('dave')).toMatchObject({
      blockedByMe: true,
      blockedByMeAt: 1700000003,
      blockedAt: 1700000003,
    })
    const seenByBob = (await world.get('/users/alice', { as: 'bob' })).body.data
    expect(seenByBob).toMatchObject({ conversationId: 'alice_user_bob' })
    for (const hidden of ['blockedByMe', 'hasBlockedMe', 'blockedAt']) expect(seenByBob).not.toHaveProperty(hidden)
  })

  it('needs an acting user who is known', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const answer = await world.get('/users/alice', { as: 'nobody' })
    expect(answer.status).toBe(404)
    expect(answer.body.error).toMatchObject({
      code: 'ERR_UID_NOT_FOUND',
      devMessage: expect.stringContaining('nobody'),
    })
  })
})

describe('changing a user', () => {
  it('changes what is given, leaves the rest and stamps the change', async () => {
    const world = await createWorld()
    await createRole(world, 'manager')
    const made = (await world.post('/users', { uid: 'alice', ...whole })).body.data
    const changed = await world.put('/users/Alice', { name: 'Alicia', metadata: { city: 'Rome' }, tags: [] })
    expect(changed.status).toBe(200)
    const { tags, ...rest } = made
    expect(changed.body.data).toEqual({
      ...rest,
      name: 'Alicia',
      metadata: { city: 'Rome' },
      updatedAt: expect.any(Number),
    })
    expect(tags).toEqual(whole.tags)
    expect((await world.get('/users/alice')).body).toEqual(changed.body)
    expect((await world.get('/users?searchKey=alicia')).body.data).toHaveLength(1)
  })

  it('takes every field', async () => {
    const world = await createWorld()
    await createRole(world, 'manager')
    await createUsers(world, 'alice')
    const changed = await world.put('/users/alice', { ...whole, role: 'MANAGER' })
    expect(changed.body.data).toMatchObject({ uid: 'alice', ...whole })
  })

  it('clears what unset names, also when it is given as well', async () => {
    const world = await createWorld()
    await createRole(world, 'manager')
    await world.post('/users', { uid: 'alice', ...whole })
    const { data } = (
      await world.put('/users/alice', {
        unset: ['avatar', 'link', 'metadata'],
        avatar: 'https://example.com/new.png',
        statusMessage: '',
      })
    ).body
    expect(data).toEqual({
      uid: 'alice',
      name: 'Alice',
      role: 'manager',
      tags: whole.tags,
      status: 'offline',
      createdAt: expect.any(Number),
      updatedAt: expect.any(Number),
    })
  })

  it('changes nothing when nothing is given', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    for (const body of [undefined, {}, { unset: [] }, { uid: 'other', createdAt: 1 }]) {
      const answer = await world.put('/users/alice', body)
      expect(answer.status).toBe(200)
      expect(answer.body.data).not.toHaveProperty('updatedAt')
      expect(answer.body.data.uid).toBe('alice')
    }
  })

  it('refuses what is unknown or wrong, and then changes nothing', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const wrong: Array<[string, object, number, string]> = [
      ['nobody', { name: 'x' }, 404, 'ERR_UID_NOT_FOUND'],
      ['a%20b', {}, 404, 'ERR_UID_NOT_FOUND'],
      ['alice', { name: 'x', role: 'nosuch' }, 404, 'ERR_ROLE_NOT_FOUND'],
      ['alice', { name: 5 }, 400, 'ERR_BAD_REQUEST'],
      ['alice', { name: '' }, 400, 'ERR_BAD_REQUEST'],
      ['alice', { name: 'x', avatar: 'ftp://example.com/a.png' }, 400, 'ERR_BAD_REQUEST'],
      ['alice', { name: 'x', metadata: { k: 'x'.repeat(6000) } }, 400, 'ERR_BAD_REQUEST'],
      ['alice', { name: 'x', unset: 'avatar' }, 400, 'ERR_BAD_REQUEST'],
      ['alice', { name: 'x', unset: ['name'] }, 400, 'ERR_BAD_REQUEST'],
      ['alice', { name: 'x', tags: Array(26).fill('t') }, 400, 'ERR_BAD_REQUEST'],
    ]
    for (const [uid, body, status, code] of wrong) {
      const answer = await world.put(`/users/${uid}`, body)
      expect([answer.status, answer.body.error.code], JSON.stringify(body)).toEqual([status, code])
    }
    expect((await world.get('/users/alice')).body.data.name).toBe('Alice')
  })

  it('with an authOnly key changes profiles, but no roles, not the system user, and shows nothing private', async () => {
    const world = await createWorld()
    await createRole(world, 'manager')
    await world.post('/users', { uid: 'alice', ...whole })
    const changed = await inFrontEnd(world, 'PUT', '/users/alice', { name: 'Alicia', role: 'manager' })
    expect(changed.status).toBe(200)
    expect(changed.body.data).toMatchObject({ name: 'Alicia', metadata: { rawMetadata: "{'k':'v'}" } })
    expect(changed.body.data.metadata).not.toHaveProperty('@private')
    expect((await world.get('/users/alice')).body.data.metadata).toEqual(whole.metadata)

    for (const [uid, body] of [
      ['alice', { role: 'default' }],
      ['app_system', { name: 'Boss' }],
    ] as const) {
      const refused = await inFrontEnd(world, 'PUT', `/users/${uid}`, body)
      expect(refused.status).toBe(403)
      expect(refused.body.error.code).toBe('AUTH_ERR_NO_ACCESS')
    }
    expect((await world.get('/users/alice')).body.data.role).toBe('manager')
    expect((await world.get('/users/app_system')).body.data.name).toBe('System')
  })

  it('loses no change when many come at the same time', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const changes = [
      { avatar: whole.avatar },
      { link: whole.link },
      { statusMessage: 'hi' },
      { tags: ['x'] },
      { name: 'A' },
    ]
    const answers = await Promise.all(changes.map((change) => world.put('/users/alice', change)))
    expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200))
    expect((await world.get('/users/alice')).body.data).toMatchObject(Object.assign({}, ...changes))
  })

  it('never touches the user of the same uid in another app', async () => {
    const [one, other] = [await createWorld(), await createWorld()]
    await createUsers(one, 'alice')
    await createUsers(other, 'alice')
    await one.put('/users/alice', { name: 'Changed' })
    await one.delete('/users/alice', { permanent: true })
    expect((await other.get('/users/alice')).body.data).toMatchObject({ name: 'Alice' })
    expect((await one.get('/users/alice')).status).toBe(404)
  })
})
