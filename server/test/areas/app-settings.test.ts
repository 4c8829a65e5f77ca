import { appSettingNames } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { dataOf, refusal } from '../support/chat.ts'
import { startService } from '../support/service.ts'
import { createUsers, createWorld, send, type World } from '../support/world.ts'

const path = (world: World) => `/apps/${world.app.name}/settings`
const withAuthKey = (world: World, method: string, to: string, body: unknown) =>
  send(world.url, method, to, body, { appid: world.app.name, apikey: world.authKey })

describe('the settings of an app', () => {
  it('are all answered, with their defaults', async () => {
    const world = await createWorld()
    const settings = dataOf(await world.get(path(world)))
    expect(Object.keys(settings).sort()).toEqual([...appSettingNames].sort())
    expect(settings).toMatchObject({ authKeys: 'full', addMembers: 'everybody', maxRoles: 25, maxBots: 25 })
  })

  it('are changed one by one, and return to their defaults', async () => {
    const world = await createWorld()
    expect(dataOf(await world.call('PATCH', path(world), { maxBots: 3 }))).toMatchObject({ maxBots: 3, maxRoles: 25 })
    expect(dataOf(await world.call('PATCH', path(world), { maxRoles: 4 }))).toMatchObject({ maxBots: 3, maxRoles: 4 })
    expect(dataOf(await world.call('PATCH', path(world), { maxBots: null }))).toMatchObject({
      maxBots: 25,
      maxRoles: 4,
    })
    expect(dataOf(await world.get(path(world)))).toMatchObject({ maxBots: 25, maxRoles: 4 })
  })

  it('are those of one app, and nobody else’s', async () => {
    const [world, other] = [await createWorld(), await createWorld()]
    await world.call('PATCH', path(world), { maxBots: 1 })
    expect(dataOf(await other.get(path(other))).maxBots).toBe(25)
    expect(refusal(await other.get(path(world)))).toBe('404 ERR_APP_NOT_FOUND')
    expect(refusal(await other.call('PATCH', path(world), { maxBots: 1 }))).toBe('404 ERR_APP_NOT_FOUND')
  })

  it.each([
    ['body/maxBots', { maxBots: -1 }],
    ['body/maxBots', { maxBots: '3' }],
    ['body/authKeys', { authKeys: 'some' }],
    ['body/addMembers', { addMembers: 1 }],
  ])('refuse what is wrong: %s', async (where, body) => {
    const world = await createWorld()
    const answer = await world.call('PATCH', path(world), body)
    expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
    expect(JSON.stringify(answer.body.error.details)).toContain(where)
  })

  it('belong to fullAccess keys', async () => {
    const world = await createWorld()
    expect(refusal(await withAuthKey(world, 'GET', path(world), undefined))).toBe('403 AUTH_ERR_NO_ACCESS')
    expect(refusal(await withAuthKey(world, 'PATCH', path(world), { maxBots: 1 }))).toBe('403 AUTH_ERR_NO_ACCESS')
  })

  it('survive changes of different settings at the same time', async () => {
    const world = await createWorld()
    await Promise.all([
      world.call('PATCH', path(world), { maxBots: 1 }),
      world.call('PATCH', path(world), { maxRoles: 2 }),
      world.call('PATCH', path(world), { maxWebhooks: 3 }),
    ])
    expect(dataOf(await world.get(path(world)))).toMatchObject({ maxBots: 1, maxRoles: 2, maxWebhooks: 3 })
  })
})

describe('limits that are settings', () => {
  it('hold bots to the number set, also when many are created or changed at the same time', async () => {
    const world = await createWorld()
    dataOf(await world.post('/roles', { role: 'bot', name: 'Bot' }))
    await world.call('PATCH', path(world), { maxBots: 2 })
    await createUsers(world, 'alice')
    const made = await Promise.all(
      ['b1', 'b2', 'b3', 'b4'].map((uid) => world.post('/users', { uid, name: uid, role: 'bot' })),
    )
    expect(made.filter(({ status }) => status === 200)).toHaveLength(2)
    expect(refusal(made.find(({ status }) => status !== 200)!)).toBe('400 ERR_BAD_REQUEST')
    const changed = await world.put('/users/alice', { role: 'bot' })
    expect(refusal(changed)).toBe('400 ERR_BAD_REQUEST')
    expect(changed.body.error.devMessage).toContain('2 bots')
    // One that is a bot already stays one.
    const bot = made.find(({ status }) => status === 200)?.body.data.uid
    expect(dataOf(await world.put(`/users/${bot}`, { role: 'bot', name: 'Helper' })).name).toBe('Helper')
  })

  it('are lifted by 0', async () => {
    const world = await createWorld()
    dataOf(await world.post('/roles', { role: 'bot', name: 'Bot' }))
    await world.call('PATCH', path(world), { maxBots: 0, maxRoles: 0 })
    for (let i = 0; i < 27; i++) {
      dataOf(await world.post('/users', { uid: `bot${i}`, name: 'Bot', role: 'bot' }))
      dataOf(await world.post('/roles', { role: `role${i}`, name: 'Role' }))
    }
  })
})

describe('authOnly keys of an app that confines them', () => {
  async function confined(): Promise<World> {
    const world = await createWorld()
    await createUsers(world, 'alice')
    dataOf(await world.call('PATCH', path(world), { authKeys: 'createOnly' }))
    return world
  }

  it('create users, and tokens for those alone', async () => {
    const world = await confined()
    dataOf(await withAuthKey(world, 'POST', '/users', { uid: 'bob', name: 'Bob' }))
    expect(dataOf(await withAuthKey(world, 'POST', '/users/bob/auth_tokens', {})).uid).toBe('bob')
    const refused = await withAuthKey(world, 'POST', '/users/alice/auth_tokens', {})
    expect(refusal(refused)).toBe('403 AUTH_ERR_NO_ACCESS')
    expect(refused.body.error.devMessage).toMatch(/authKeys.*createOnly.*docs\/front-end\.md/)
  })

  it('create no tokens for users of another authOnly key', async () => {
    const world = await confined()
    const { apiKey } = dataOf(await world.post('/apikeys', { name: 'other front', scope: 'authOnly' }))
    dataOf(await withAuthKey(world, 'POST', '/users', { uid: 'bob', name: 'Bob' }))
    const other = await send(world.url, 'POST', '/users/bob/auth_tokens', {}, { appid: world.app.name, apikey: apiKey })
    expect(refusal(other)).toBe('403 AUTH_ERR_NO_ACCESS')
  })

  it('change nobody, not even whom they created', async () => {
    const world = await confined()
    dataOf(await withAuthKey(world, 'POST', '/users', { uid: 'bob', name: 'Bob' }))
    for (const uid of ['bob', 'alice']) {
      expect(refusal(await withAuthKey(world, 'PUT', `/users/${uid}`, { name: 'Mallory' }))).toBe(
        '403 AUTH_ERR_NO_ACCESS',
      )
    }
    expect(dataOf(await world.get('/users/bob')).name).toBe('Bob')
  })

  it('are the default where the service is reached from other machines', async () => {
    const service = await startService({ HOST: '0.0.0.0', APP_DEFAULTS: 'maxBots=7' })
    const world = await createWorld(service)
    expect(dataOf(await world.get(path(world)))).toMatchObject({ authKeys: 'createOnly', maxBots: 7 })
    await world.call('PATCH', path(world), { authKeys: 'full' })
    expect(dataOf(await world.get(path(world))).authKeys).toBe('full')
    await service.parley.close()
  })
})
