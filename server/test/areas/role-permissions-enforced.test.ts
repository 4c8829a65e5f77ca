import { type FeatureKey, restrictedFeatures, rolePermissions } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { dataOf, say } from '../support/chat.ts'
import { featureRules } from '../support/feature-rules.ts'
import { permissionRules } from '../support/permission-rules.ts'
import {
  createRoleWorld,
  denied,
  outcomeOf,
  type RoleRule,
  type RoleWorld,
  text,
  toUser,
} from '../support/role-world.ts'
import { startService } from '../support/service.ts'
import { soon } from '../support/until.ts'
import { send } from '../support/world.ts'

type Setting = (world: RoleWorld) => Promise<unknown>

const set = async (world: RoleWorld, permissions: object, role = 'tested') => {
  const data = dataOf(await world.put(`/roles/${role}/permissions`, { permissions }))
  for (const key of Object.keys(permissions)) expect(data[key].success, key).toBe(true)
}

/** What the users of a role meet without a rule, with it, with it by a token, and without it again; and the app. */
async function checkRule(
  { attempt, before = 'allowed', after = denied, app }: RoleRule,
  apply: Setting,
  lift: Setting,
) {
  const world = await createRoleWorld()
  const { authToken } = dataOf(await world.post('/users/bob/auth_tokens', {}))
  expect(await attempt(world, { as: 'bob' }), 'before').toEqual(before)
  expect(await attempt(world, { token: authToken }), 'before, with a token').toEqual(before)
  await apply(world)
  expect(await attempt(world, { as: 'bob' }), 'after').toEqual(after)
  expect(await attempt(world, { token: authToken }), 'after, with a token').toEqual(after)
  if (app !== undefined) expect(await attempt(world, {}), 'the app itself').toEqual(app)
  await lift(world)
  expect(await attempt(world, { as: 'bob' }), 'lifted').toEqual(before)
  expect(await attempt(world, { token: authToken }), 'lifted, with a token').toEqual(before)
}

describe('Role permissions', () => {
  it.each(Object.keys(permissionRules))('%s holds from the next call on, and no longer when taken off', async (key) => {
    const { value, beside, ...rule } = permissionRules[key]!
    const lift: Setting = async (world) => dataOf(await world.delete(`/roles/tested/permissions/${key}`))
    // What stands beside it is there from the start.
    const attempt: RoleRule['attempt'] = async (world, as) => {
      if (beside !== undefined) await set(world, beside)
      return rule.attempt(world, as)
    }
    await checkRule({ ...rule, attempt }, (world) => set(world, { [key]: value }), lift)
  })

  it('are all enforced, but for those of calls', () => {
    const isOfCalls = (key: string) => key.startsWith('initiateCall') || key === 'joinCall'
    const enforced = [...rolePermissions.keys()].filter((key) => !isOfCalls(key))
    expect(Object.keys(permissionRules).sort()).toEqual(enforced.sort())
  })

  it('bind the users of their role only, and the default role too', async () => {
    const world = await createRoleWorld()
    const list = async (as: string) => outcomeOf(await world.get('/users', { as }))
    const write = async (as: string) => outcomeOf(await world.post('/messages', toUser('vera'), { as }))
    await set(world, { listUsers: 'deny', sendMessage: 'deny' }, 'default')
    expect([await list('alice'), await list('bob'), await list('vera')]).toEqual([denied, 'allowed', 'allowed'])
    expect([await write('alice'), await write('bob'), await write('vera')]).toEqual([denied, 'allowed', 'allowed'])
    expect(outcomeOf(await world.post('/messages', toUser('vera')))).toBe('allowed')
    dataOf(await world.put('/users/alice', { role: 'vip' }))
    expect([await list('alice'), await write('alice')]).toEqual(['allowed', 'allowed'])
    dataOf(await world.put('/users/vera', { role: 'default' }))
    expect([await list('vera'), await write('vera')]).toEqual([denied, denied])
  })

  it('are asked beside those of the scope: both must allow', async () => {
    const world = await createRoleWorld()
    const scope = (permissions: object) => world.put('/groups/team/scopes/participant/permissions', { permissions })
    const write = async () =>
      outcomeOf(await world.post('/messages', { receiver: 'team', receiverType: 'group', ...text }, { as: 'bob' }))
    const edit = async () => outcomeOf(await world.put(`/messages/${world.bobInGroup}`, text, { as: 'bob' }))
    for (const [key, act] of [
      ['sendMessage', write],
      ['editMessage', edit],
    ] as const) {
      await set(world, { [key]: 'allow' })
      dataOf(await scope({ [key]: 'deny' }))
      expect(await act(), key).toBe(denied)
      dataOf(await scope({ [key]: 'allow' }))
      expect(await act(), key).toBe('allowed')
      await set(world, { [key]: 'deny' })
      expect(await act(), key).toBe(denied)
      // Who may not send may not edit either.
      await set(world, { [key]: 'allow' })
    }
  })

  it('name the group or the user in a refusal', async () => {
    const world = await createRoleWorld()
    await set(world, { sendMessage: 'deny' })
    const why = async (receiverType: 'user' | 'group', receiver: string) =>
      (await world.post('/messages', { receiver, receiverType, ...text }, { as: 'bob' })).body.error.devMessage
    const role = 'The role of bob is not allowed to send this (type text) in the'
    expect(await why('group', 'team')).toBe(`${role} group team.`)
    expect(await why('user', 'alice')).toBe(`${role} conversation with alice.`)
  })

  it('judge each of several receivers by itself', async () => {
    const world = await createRoleWorld()
    await set(world, { 'sendMessage.mode': 'friends', 'sendMessage.allowedReceiverRoles': ['default'] })
    dataOf(await world.post('/users/bob/friends', { accepted: ['vera'] }))
    const multipleReceivers = { uids: ['alice', 'fred', 'vera', 'nobody'], guids: ['team'] }
    const { uids, guids } = dataOf(await world.post('/messages', { multipleReceivers, ...text }, { as: 'bob' }))
    expect(uids.alice.error.code).toBe('ERR_PERMISSION_DENIED')
    expect(uids.fred.success).toBe(true)
    expect(uids.vera.error.code).toBe('ERR_PERMISSION_DENIED')
    expect(uids.nobody.error.code).toBe('ERR_UID_NOT_FOUND')
    expect(guids.team.success).toBe(true)
  })

  it('tell a stranger nothing of a private group', async () => {
    const world = await createRoleWorld()
    await set(world, { sendMessage: 'deny', 'getGroupDetails.allowedGroupTypes': ['public'] })
    dataOf(await world.delete('/groups/secret/members/bob'))
    const toSecret = { receiver: 'secret', receiverType: 'group', ...text }
    expect(outcomeOf(await world.post('/messages', toSecret, { as: 'bob' }))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(outcomeOf(await world.get('/groups/secret', { as: 'bob' }))).toBe('404 ERR_GUID_NOT_FOUND')
  })

  it('count what they narrow: unread messages of others are not counted', async () => {
    const world = await createRoleWorld()
    const count = async () => {
      const rows = dataOf(await world.get('/messages?count=1&receiverType=user', { as: 'bob' }))
      return Object.fromEntries(rows.map((row: { entityId: string; count: number }) => [row.entityId, row.count]))
    }
    expect(await count()).toMatchObject({ alice: 2, fred: 1, vera: 1 })
    await set(world, { 'listMessages.mode': 'friends' })
    expect(await count()).toEqual({ alice: 1, app_system: 1, fred: 1 })
  })

  it('narrow threads and what they show as the last reply', async () => {
    const world = await createRoleWorld()
    const { id } = await say(world, 'bob', 'alice', 'parent')
    dataOf(await world.post(`/messages/${id}/thread`, { data: { text: 'by alice' } }, { as: 'alice' }))
    const threads = async () =>
      dataOf(await world.get('/users/alice/threads', { as: 'bob' })).map(
        ({ lastReply }: { lastReply?: { data: { text: string } } }) => lastReply?.data.text,
      )
    expect(await threads()).toEqual(['by alice'])
    await set(world, { 'listMessages.mode': 'friends' })
    expect(await threads()).toEqual([undefined])
    expect(dataOf(await world.get(`/messages/${id}/thread`, { as: 'bob' }))).toEqual([])
  })

  it('of a bot bind what it sends', async () => {
    const world = await createRoleWorld()
    dataOf(await world.post('/roles', { role: 'bot', name: 'Bot' }))
    dataOf(await world.post('/users', { uid: 'helper', name: 'Helper', role: 'bot' }))
    const speak = async () => outcomeOf(await world.post('/bots/helper/messages', toUser('alice')))
    expect(await speak()).toBe('allowed')
    await set(world, { sendMessage: 'deny' }, 'bot')
    expect(await speak()).toBe(denied)
  })

  it('hold in other processes too, a moment later', async () => {
    const world = await createRoleWorld()
    const { parley, url } = await startService()
    try {
      const headers = { appid: world.app.name, apikey: world.apiKey, onbehalfof: 'bob' }
      const elsewhere = async () => [
        outcomeOf(await send(url, 'GET', '/users', undefined, headers)),
        outcomeOf(await send(url, 'POST', '/messages', toUser('alice'), headers)),
      ]
      expect(await elsewhere()).toEqual(['allowed', 'allowed'])
      await set(world, { listUsers: 'deny', sendMessage: 'deny' })
      await soon(async () => expect(await elsewhere()).toEqual([denied, denied]))
      dataOf(await world.delete('/roles/tested/permissions/listUsers'))
      await soon(async () => expect(await elsewhere()).toEqual(['allowed', denied]))
    } finally {
      await parley.close()
    }
  })
})

describe('Role settings', () => {
  const settingRules: Record<string, RoleRule> = {
    listUsers: permissionRules['listUsers.mode']!,
    sendMessagesTo: permissionRules['sendMessage.mode']!,
  }
  it.each(Object.keys(settingRules))('%s friendsOnly holds from the next call on', async (name) => {
    const update = (settings: object) => async (world: RoleWorld) =>
      dataOf(await world.put('/roles/tested', { settings }))
    await checkRule(settingRules[name]!, update({ [name]: 'friendsOnly' }), update({ [name]: 'all' }))
    const unset: Setting = async (world) => dataOf(await world.put('/roles/tested', { unset: ['settings'] }))
    await checkRule(settingRules[name]!, update({ [name]: 'friendsOnly' }), unset)
  })

  it('hold when a role is made with them', async () => {
    const world = await createRoleWorld()
    const settings = { listUsers: 'friendsOnly', sendMessagesTo: 'friendsOnly' }
    dataOf(await world.post('/roles', { role: 'shy', name: 'Shy', settings }))
    dataOf(await world.put('/users/vera', { role: 'shy' }))
    expect(dataOf(await world.get('/users', { as: 'vera' }))).toEqual([])
    expect(outcomeOf(await world.post('/messages', toUser('bob'), { as: 'vera' }))).toBe(denied)
  })
})

describe('Restricted features', () => {
  it.each(Object.keys(featureRules) as FeatureKey[])('%s is refused from the next call on', async (key) => {
    const restrict: Setting = async (world) =>
      dataOf(await world.post('/roles/tested/restrictedfeatures', { featuresToRestrict: [key] }))
    const allow: Setting = async (world) =>
      dataOf(await world.delete('/roles/tested/restrictedfeatures', { featuresToAllow: [`u.${key}`] }))
    await checkRule(featureRules[key]!, restrict, allow)
  })

  it('are all enforced behind which an operation stands', () => {
    const enforced = [...restrictedFeatures].flatMap(([key, { operations, within }]) =>
      operations.length + within.length === 0 ? [] : [key],
    )
    // Logging out ends the token, so it has a test of its own.
    expect([...Object.keys(featureRules), 'logout'].sort()).toEqual(enforced.sort())
  })

  it('logout keeps a token alive until it is allowed again', async () => {
    const world = await createRoleWorld()
    const { authToken: token } = dataOf(await world.post('/users/bob/auth_tokens', {}))
    dataOf(await world.post('/roles/tested/restrictedfeatures', { featuresToRestrict: ['logout'] }))
    expect(outcomeOf(await world.delete('/me', undefined, { token }))).toBe(denied)
    expect(outcomeOf(await world.get('/me', { token }))).toBe('allowed')
    dataOf(await world.delete('/roles/tested/restrictedfeatures', { allowAll: true }))
    expect(outcomeOf(await world.delete('/me', undefined, { token }))).toBe('allowed')
    expect(outcomeOf(await world.get('/me', { token }))).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
  })
})
