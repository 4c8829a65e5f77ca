import { describe, expect, it } from 'vitest'
import { dataOf, refusal } from '../support/chat.ts'
import { createUsers, createWorld, send, type World } from '../support/world.ts'

const manager = {
  role: 'Manager',
  name: 'Manager',
  description: 'may edit',
  metadata: { email: 'ops@example.com' },
  settings: { listUsers: 'all', sendMessagesTo: 'friendsOnly' },
}

const create = (world: World, body: object) => world.post('/roles', body)
const idsOf = (rows: Array<{ role: string }>) => rows.map(({ role }) => role)

describe('Making a role', () => {
  it('answers the role, its id in lower case, and it can be read back', async () => {
    const world = await createWorld()
    const made = dataOf(await create(world, manager))
    expect(made).toEqual({ ...manager, role: 'manager', createdAt: expect.any(Number) })
    expect((await world.get('/roles/MANAGER')).body).toEqual({ data: made })
    const bare = dataOf(await create(world, { role: 'bare', name: 'Bare', description: '', settings: {} }))
    expect(bare).toEqual({ role: 'bare', name: 'Bare', createdAt: expect.any(Number) })
  })

  it('refuses an id that is taken, and what is malformed', async () => {
    const world = await createWorld()
    dataOf(await create(world, manager))
    expect(refusal(await create(world, { role: 'MANAGER', name: 'Other' }))).toBe('409 ERR_ROLE_ALREADY_EXISTS')
    expect(refusal(await create(world, { role: 'default', name: 'Other' }))).toBe('409 ERR_ROLE_ALREADY_EXISTS')
    const wrong: Array<[path: string, body: object]> = [
      ['body/role', { name: 'x' }],
      ['body/role', { role: '', name: 'x' }],
      ['body/role', { role: 'a b', name: 'x' }],
      ['body/role', { role: 'r'.repeat(101), name: 'x' }],
      ['body/name', { role: 'r' }],
      ['body/name', { role: 'r', name: '' }],
      ['body/name', { role: 'r', name: 'n'.repeat(101) }],
      ['body/description', { role: 'r', name: 'x', description: 'd'.repeat(256) }],
      ['body/metadata', { role: 'r', name: 'x', metadata: [] }],
      ['body/settings', { role: 'r', name: 'x', settings: 'all' }],
      ['body/settings/listUsers', { role: 'r', name: 'x', settings: { listUsers: 'friends' } }],
      ['body/settings/sendMessagesTo', { role: 'r', name: 'x', settings: { sendMessagesTo: true } }],
    ]
    for (const [path, body] of wrong) {
      const answer = await create(world, body)
      expect(refusal(answer), JSON.stringify(body)).toBe('400 ERR_BAD_REQUEST')
      expect(answer.body.error.details[0].path, JSON.stringify(body)).toBe(path)
    }
  })

  it('stops at 25, the default role among them and that of AI agents beside them, also when all come at the same time', async () => {
    const world = await createWorld()
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => create(world, { role: `r${i}`, name: `Role ${i}` })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(24)
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
      expect(answer.body.error.devMessage).toContain('25')
    }
    expect((await world.get('/roles')).body.meta.pagination.total).toBe(26)
    expect(refusal(await create(world, { role: 'default', name: 'x' }))).toBe('409 ERR_ROLE_ALREADY_EXISTS')
  })
})

describe('The role of AI agents', () => {
  it('is there from the start, is given to users, tells their conversations apart, and cannot be deleted', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.post('/users', { uid: 'agent', name: 'Agent', role: '@Agentic' }))
    expect(dataOf(await world.get('/users/agent')).role).toBe('@agentic')
    expect(dataOf(await world.get('/roles/@agentic'))).toMatchObject({ role: '@agentic', name: 'AI agents' })
    for (const from of ['agent', 'bob']) {
      const message = { receiver: 'alice', receiverType: 'user', data: { text: 'x' } }
      dataOf(await world.post('/messages', message, { as: from }))
    }
    const peers = async (filter: string) =>
      dataOf(await world.get(`/conversations?${filter}=true`, { as: 'alice' })).map(
        ({ conversationWith }: { conversationWith: { uid: string } }) => conversationWith.uid,
      )
    expect(await peers('onlyAgentic')).toEqual(['agent'])
    expect(await peers('hideAgentic')).toEqual(['bob'])
    expect(dataOf(await world.put('/users/bob', { role: '@agentic' })).role).toBe('@agentic')
    const imported = await world.post('/data_import/users', {
      users: [{ uid: 'other', name: 'Other', role: '@agentic' }],
    })
    expect(dataOf(imported).other.success).toBe(true)
    expect(refusal(await world.delete('/roles/@agentic'))).toBe('403 ERR_ROLE_DELETE_DENIED')
    expect(refusal(await create(world, { role: '@agentic', name: 'x' }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.post('/users', { uid: 'x', name: 'X', role: '@other' }))).toBe('400 ERR_BAD_REQUEST')
  })
})

describe('Listing roles', () => {
  it('gives pages, newest first, with the default role that every app has', async () => {
    const world = await createWorld()
    for (const role of ['one', 'two', 'three']) dataOf(await create(world, { role, name: role }))
    const all = await world.get('/roles')
    expect(idsOf(dataOf(all))).toEqual(['three', 'two', 'one', 'default', '@agentic'])
    expect(dataOf(all)[3]).toEqual({ role: 'default', name: 'Default Role', createdAt: expect.any(Number) })
    expect(all.body.meta).toEqual({
      pagination: { total: 5, count: 5, per_page: 100, current_page: 1, total_pages: 1 },
    })
    const page = await world.get('/roles?perPage=3&page=2')
    expect(idsOf(dataOf(page))).toEqual(['default', '@agentic'])
    expect(page.body.meta.pagination).toMatchObject({ total: 5, count: 2, total_pages: 2 })
  })
})

describe('Changing a role', () => {
  it('changes what is given and unsets what is to be unset; only then there is an updatedAt', async () => {
    const world = await createWorld()
    const made = dataOf(await create(world, manager))
    expect(dataOf(await world.put('/roles/manager', {}))).toEqual(made)
    expect(dataOf(await world.put('/roles/manager'))).toEqual(made)

    const renamed = dataOf(await world.put('/roles/Manager', { name: 'Boss', settings: { listUsers: 'friendsOnly' } }))
    expect(renamed).toEqual({
      ...made,
      name: 'Boss',
      settings: { listUsers: 'friendsOnly', sendMessagesTo: 'friendsOnly' },
      updatedAt: expect.any(Number),
    })
    const unset = ['settings', 'description', 'metadata']
    const stripped = dataOf(await world.put('/roles/manager', { unset, description: 'given and unset' }))
    expect(stripped).toEqual({
      role: 'manager',
      name: 'Boss',
      createdAt: made.createdAt,
      updatedAt: expect.any(Number),
    })
    expect((await world.get('/roles/manager')).body).toEqual({ data: stripped })
  })

  it('ignores another id in the body, and refuses what is malformed', async () => {
    const world = await createWorld()
    expect(dataOf(await world.put('/roles/default', { role: 'other', name: 'Everybody' })).role).toBe('default')
    expect(refusal(await world.put('/roles/default', { unset: ['name'] }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.put('/roles/default', { name: '' }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.put('/roles/default', { settings: { listUsers: 'none' } }))).toBe('400 ERR_BAD_REQUEST')
  })
})

describe('Removing a role', () => {
  it('gives its users the default role, and the id is free again', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    dataOf(await create(world, manager))
    dataOf(await world.put('/users/alice', { role: 'manager' }))
    expect((await world.delete('/roles/MANAGER')).body).toEqual({
      data: { success: true, message: 'role manager removed' },
    })
    expect(refusal(await world.get('/roles/manager'))).toBe('404 ERR_ROLE_NOT_FOUND')
    expect(dataOf(await world.get('/users/alice'))).toMatchObject({ role: 'default', updatedAt: expect.any(Number) })
    expect(refusal(await world.put('/users/alice', { role: 'manager' }))).toBe('404 ERR_ROLE_NOT_FOUND')
    expect(dataOf(await create(world, { role: 'manager', name: 'Anew' }))).not.toHaveProperty('settings')
  })

  it('is denied for the default role, and does not stop the sends of its users', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    expect(refusal(await world.delete('/roles/Default'))).toBe('403 ERR_ROLE_DELETE_DENIED')
    dataOf(await create(world, { role: 'muted', name: 'Muted' }))
    dataOf(await world.put('/users/alice', { role: 'muted' }))
    dataOf(await world.put('/roles/muted/permissions', { permissions: { sendMessage: 'deny' } }))
    const say = () =>
      world.post('/messages', { receiver: 'bob', receiverType: 'user', data: { text: 'x' } }, { as: 'alice' })
    expect(refusal(await say())).toBe('403 ERR_PERMISSION_DENIED')
    dataOf(await world.delete('/roles/muted'))
    expect((await say()).status).toBe(200)
    dataOf(await create(world, { role: 'muted', name: 'Muted' }))
    dataOf(await world.put('/users/alice', { role: 'muted' }))
    expect((await say()).status).toBe(200)
  })

  it('leaves nobody with a role that is gone, whoever is given it at that moment', async () => {
    const world = await createWorld()
    const uids = Array.from({ length: 12 }, (_, i) => `u${i}`)
    await createUsers(world, ...uids)
    for (let round = 0; round < 5; round++) {
      dataOf(await create(world, { role: 'brief', name: 'Brief' }))
      const give = (uid: string) => world.put(`/users/${uid}`, { role: 'brief' })
      const early = uids.slice(0, 6).map(give)
      const removal = world.delete('/roles/brief')
      const late = [world.post('/users', { uid: `n${round}`, name: 'New', role: 'brief' }), ...uids.slice(6).map(give)]
      expect((await removal).status).toBe(200)
      for (const answer of await Promise.all([...early, ...late])) {
        expect(['200 undefined', '404 ERR_ROLE_NOT_FOUND']).toContain(refusal(answer))
      }
      const holders = await world.get('/users?role=brief')
      expect(dataOf(holders)).toEqual([])
    }
  })
})

describe('Roles', () => {
  it('are unknown by other ids, and in other apps', async () => {
    const world = await createWorld()
    const other = await createWorld()
    dataOf(await create(world, manager))
    for (const path of ['/roles/nobody', '/roles/a%20b', `/roles/${'r'.repeat(200)}`]) {
      expect(refusal(await world.get(path)), path).toBe('404 ERR_ROLE_NOT_FOUND')
      expect(refusal(await world.put(path, { name: 'x' })), path).toBe('404 ERR_ROLE_NOT_FOUND')
      expect(refusal(await world.delete(path)), path).toBe('404 ERR_ROLE_NOT_FOUND')
    }
    expect(refusal(await other.get('/roles/manager'))).toBe('404 ERR_ROLE_NOT_FOUND')
    expect(refusal(await other.delete('/roles/manager'))).toBe('404 ERR_ROLE_NOT_FOUND')
  })

  it('need a fullAccess key: neither a front end’s key nor a token opens them', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const { authToken } = dataOf(await world.post('/users/alice/auth_tokens', {}))
    const headers = { appid: world.app.name, apikey: world.authKey }
    for (const [method, path, body] of [
      ['POST', '/roles', { role: 'r', name: 'x' }],
      ['GET', '/roles', undefined],
      ['GET', '/roles/default', undefined],
      ['PUT', '/roles/default', { name: 'x' }],
      ['DELETE', '/roles/default', undefined],
      ['POST', '/roles/default/restrictedfeatures', { featuresToRestrict: ['listUsers'] }],
      ['GET', '/roles/default/restrictedfeatures', undefined],
      ['DELETE', '/roles/default/restrictedfeatures', { allowAll: true }],
      ['GET', '/roles/default/permissions', undefined],
      ['PUT', '/roles/default/permissions', { permissions: { sendMessage: 'deny' } }],
      ['DELETE', '/roles/default/permissions/sendMessage', undefined],
    ] as const) {
      expect(refusal(await send(world.url, method, path, body, headers)), path).toBe('403 AUTH_ERR_NO_ACCESS')
      expect(refusal(await world.call(method, path, body, { token: authToken })), path).toBe('403 AUTH_ERR_NO_ACCESS')
    }
  })
})
