import { scopePermissions } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal } from '../support/chat.ts'
import { createUsers, createWorld, send, type World } from '../support/world.ts'

const path = (scope = 'admin', guid = 'team') => `/groups/${guid}/scopes/${scope}/permissions`
const set = (world: World, permissions: unknown, scope?: string) => world.put(path(scope), { permissions })

async function createTeam(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice')
  await createGroup(world, 'team', 'alice')
  return world
}

describe('Setting scope permissions', () => {
  it('answers an entry for each key, and everything that is then set', async () => {
    const world = await createTeam()
    const permissions = { sendMessage: 'deny', initiateCall: 'friends' }
    const answer = await world.put('/groups/TEAM/scopes/admin/permissions', { permissions })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      data: {
        sendMessage: { success: true, message: 'sendMessage mapped to scope admin of group team' },
        initiateCall: { success: true, message: 'initiateCall mapped to scope admin of group team' },
        permissions,
      },
    })
    const more = dataOf(await set(world, { sendMessage: 'allow', 'initiateCall.allowedType': 'audio' }))
    expect(Object.keys(more).sort()).toEqual(['initiateCall.allowedType', 'permissions', 'sendMessage'])
    expect(more.permissions).toEqual({
      sendMessage: 'allow',
      initiateCall: 'friends',
      'initiateCall.allowedType': 'audio',
    })
  })

  it('takes every key and value of the specification, in the form given', async () => {
    const world = await createTeam()
    const permissions = {
      sendMessage: 'allow',
      listMembers: 'allow',
      'listMembers.allowedScopes': 'participant',
      addReaction: 'deny',
      listReactions: 'deny',
      'listReactions.allowedScopes': 'moderator',
      sendThreadedMessage: 'allow',
      initiateCall: 'deny',
      'initiateCall.allowedScopes': 'participant',
      'initiateCall.allowedType': 'audio',
      editMessage: 'allow',
    }
    const data = dataOf(await set(world, permissions))
    expect(data.permissions).toEqual(permissions)
    for (const key of Object.keys(permissions)) expect(data[key].success, key).toBe(true)
    const lists = { 'listMembers.allowedScopes': ['admin', 'moderator'], 'kickMembers.allowedScopes': [] }
    expect(dataOf(await set(world, lists)).permissions).toEqual({ ...permissions, ...lists })
  })

  it('keeps the scopes of a group and the groups apart', async () => {
    const world = await createTeam()
    await createGroup(world, 'other', 'alice')
    dataOf(await set(world, { sendMessage: 'deny' }, 'moderator'))
    expect(dataOf(await set(world, { editGroup: 'deny' }, 'participant')).permissions).toEqual({ editGroup: 'deny' })
    const other = await world.put(path('moderator', 'other'), { permissions: { joinCall: 'deny' } })
    expect(dataOf(other).permissions).toEqual({ joinCall: 'deny' })
  })

  it('refuses unknown keys and values one by one and stores the others', async () => {
    const world = await createTeam()
    const data = dataOf(
      await set(world, {
        sendMessage: 'maybe',
        flyHigh: 'allow',
        listUsers: 'allow',
        permissions: 'allow',
        addReaction: { $ne: 'deny' },
        'listMembers.allowedScopes': ['owner'],
        editMessage: null,
        joinCall: 'deny',
      }),
    )
    const { permissions, ...entries } = data
    expect(permissions).toEqual({ joinCall: 'deny' })
    expect(entries.joinCall.success).toBe(true)
    for (const key of [
      'sendMessage',
      'flyHigh',
      'listUsers',
      'addReaction',
      'listMembers.allowedScopes',
      'editMessage',
    ]) {
      expect(entries[key], key).toEqual({ success: false, message: expect.stringContaining(key) })
    }
    const onlyWrong = dataOf(await set(world, { flyHigh: 'allow' }))
    expect(onlyWrong).toEqual({
      flyHigh: { success: false, message: expect.any(String) },
      permissions: { joinCall: 'deny' },
    })
  })

  it('needs an object that is not empty, a scope that exists and a known group', async () => {
    const world = await createTeam()
    for (const permissions of [undefined, null, {}, [], 'allow', 7]) {
      const answer = await set(world, permissions)
      expect(refusal(answer), JSON.stringify(permissions)).toBe('400 ERR_BAD_REQUEST')
      expect(answer.body.error.details[0].path).toBe('body/permissions')
    }
    expect(refusal(await world.put(path(), undefined))).toBe('400 ERR_BAD_REQUEST')
    const permissions = { sendMessage: 'deny' }
    for (const scope of ['owner', 'Admin', 'toString']) {
      expect(refusal(await set(world, permissions, scope)), scope).toBe('400 ERR_BAD_REQUEST')
    }
    expect(refusal(await world.put(path('admin', 'nowhere'), { permissions }))).toBe('404 ERR_GUID_NOT_FOUND')
    const poisoned = await world.put(path(), '{"permissions": {"__proto__": "deny"}}')
    expect(refusal(poisoned)).toBe('400 ERR_BAD_REQUEST')
  })

  it('needs a fullAccess key: neither a front end’s key nor a token opens it', async () => {
    const world = await createTeam()
    const { authToken } = dataOf(await world.post('/users/alice/auth_tokens', {}))
    const body = { permissions: { sendMessage: 'deny' } }
    const headers = { appid: world.app.name, apikey: world.authKey }
    expect(refusal(await send(world.url, 'PUT', path(), body, headers))).toBe('403 AUTH_ERR_NO_ACCESS')
    expect(refusal(await world.put(path(), body, { token: authToken }))).toBe('403 AUTH_ERR_NO_ACCESS')
    expect(refusal(await send(world.url, 'PUT', path(), body, { appid: world.app.name }))).toBe(
      '401 AUTH_ERR_EMPTY_APIKEY',
    )
  })

  it('merges requests that come at the same time', async () => {
    const world = await createTeam()
    const keys = [...scopePermissions.participant.values()]
      .filter(({ availableValues }) => availableValues.includes('deny'))
      .map(({ id }) => id)
    expect(keys.length).toBeGreaterThan(20)
    const answers = await Promise.all(keys.map((key) => set(world, { [key]: 'deny' }, 'participant')))
    for (const answer of answers) expect(answer.status).toBe(200)
    const last = dataOf(await set(world, { sendMessage: 'allow' }, 'participant'))
    const expected = Object.fromEntries(keys.map((key) => [key, key === 'sendMessage' ? 'allow' : 'deny']))
    expect(last.permissions).toEqual(expected)
  })
})

describe('Listing scope permissions', () => {
  it('describes every permission of the scope, with its default and what is set', async () => {
    const world = await createTeam()
    dataOf(await set(world, { addMembers: 'allow', 'listMembers.allowedScopes': ['admin'] }, 'moderator'))
    const answer = await world.get(path('moderator'))
    const definitions = [...scopePermissions.moderator.values()]
    expect(dataOf(answer).map(({ id }: { id: string }) => id)).toEqual(definitions.map(({ id }) => id))
    const count = definitions.length
    expect(answer.body.meta).toEqual({
      pagination: { total: count, count, per_page: 100, current_page: 1, total_pages: 1 },
    })
    const byId = new Map(dataOf(answer).map((row: { id: string }) => [row.id, row]))
    expect(byId.get('addMembers')).toEqual({
      id: 'addMembers',
      type: 'scope',
      title: expect.any(String),
      description: expect.any(String),
      dataType: 'string',
      availableValues: ['allow', 'deny'],
      defaultValue: 'deny',
      value: 'allow',
      createdAt: expect.any(Number),
      updatedAt: expect.any(Number),
    })
    expect(byId.get('listMembers.allowedScopes')).toMatchObject({
      dataType: 'stringArray',
      availableValues: ['admin', 'moderator', 'participant'],
      defaultValue: [],
      value: ['admin'],
    })
    expect(byId.get('sendMessage')).not.toHaveProperty('value')
    expect(dataOf(await world.get(`${path('moderator')}?perPage=2&page=2`))).toHaveLength(2)
    expect(refusal(await world.get(path('owner')))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.get(path('admin', 'nowhere')))).toBe('404 ERR_GUID_NOT_FOUND')
  })
})

describe('Unsetting a scope permission', () => {
  it('takes one off and answers what remains; what is not set is no error', async () => {
    const world = await createTeam()
    dataOf(await set(world, { sendMessage: 'deny', 'ban.allowedScopes': 'participant' }))
    const unset = (permission: string, scope = 'admin', guid = 'team') =>
      world.delete(`${path(scope, guid)}/${permission}`)
    const first = await unset('sendMessage')
    expect(first.body).toEqual({ data: { permissions: { 'ban.allowedScopes': 'participant' } } })
    expect(dataOf(await unset('sendMessage')).permissions).toEqual({ 'ban.allowedScopes': 'participant' })
    expect(dataOf(await unset('ban.allowedScopes')).permissions).toEqual({})
    expect(dataOf(await unset('joinCall', 'participant')).permissions).toEqual({})
    for (const key of ['flyHigh', 'toString', 'listUsers']) {
      expect(refusal(await unset(key)), key).toBe('400 ERR_BAD_REQUEST')
    }
    expect(refusal(await unset('sendMessage', 'owner'))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await unset('sendMessage', 'admin', 'nowhere'))).toBe('404 ERR_GUID_NOT_FOUND')
  })
})
