import { permittedOperations, rolePermissions } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { routes } from '../../src/routes.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { createWorld, type World } from '../support/world.ts'

const path = (role = 'default') => `/roles/${role}/permissions`
const set = (world: World, permissions: unknown, role?: string) => world.put(path(role), { permissions })

/** Every key of the contract's table of role permissions, and those that only its samples have. */
const keys =
  `listUsers listUsers.mode listUsers.allowedRoles getUserDetails getUserDetails.mode getUserDetails.allowedRoles
  blockUser blockUser.allowedRoles listBlockedUser listBlockedUser.allowedRoles unblockedUser unblockedUser.allowedRoles
  editProfile listMessages listMessages.mode listMessages.allowedReceiverTypes listMessages.allowedSenderRoles
  listMessages.allowedMessageCategories listMessages.allowedMessageTypes getMessageDetails getMessageDetails.mode
  sendMessage sendMessage.mode sendMessage.allowedReceiverTypes sendMessage.allowedReceiverRoles
  sendMessage.allowedMessageCategories sendMessage.allowedMessageTypes sendMessage.allowedCustomTypes
  sendMessage.mimeTypeAccessControl sendMessage.mimeTypes sendMessage.allowedMimeTypes editMessage
  editMessage.denyForScopes deleteMessage deleteMessage.denyForScopes listThreadedMessages sendThreadedMessage
  sendThreadedMessage.allowedReceiverTypes sendThreadedMessage.allowedReceiverRoles
  sendThreadedMessage.allowedMessageCategories sendThreadedMessage.allowedMessageTypes
  sendThreadedMessage.allowedCustomTypes sendThreadedMessage.mimeTypeAccessControl sendThreadedMessage.mimeTypes
  editThreadedMessage deleteThreadedMessage listReactions addReaction initiateCall initiateCall.mode
  initiateCall.allowedReceiverTypes initiateCall.allowedReceiverRoles joinCall listConversations updateConversation
  deleteConversation listGroups listGroups.allowedGroupTypes getGroupDetails getGroupDetails.allowedGroupTypes
  createGroup createGroup.allowedGroupTypes joinGroup joinGroup.allowedGroupTypes`.split(/\s+/)

describe('Setting role permissions', () => {
  it('answers an entry for each key, and everything that is then set', async () => {
    const world = await createWorld()
    const permissions = {
      createGroup: 'allow',
      'listUsers.mode': 'friends',
      'createGroup.allowedGroupTypes': ['public'],
    }
    const answer = await world.put('/roles/DEFAULT/permissions', { permissions })
    expect(answer.body).toEqual({
      data: {
        createGroup: { success: true, message: 'createGroup mapped to role default' },
        'listUsers.mode': { success: true, message: 'listUsers.mode mapped to role default' },
        'createGroup.allowedGroupTypes': {
          success: true,
          message: 'createGroup.allowedGroupTypes mapped to role default',
        },
        permissions,
      },
    })
    const more = dataOf(await set(world, { createGroup: 'deny', 'sendMessage.allowedMimeTypes': 'image/png, image/*' }))
    expect(more.permissions).toEqual({
      ...permissions,
      createGroup: 'deny',
      'sendMessage.allowedMimeTypes': 'image/png, image/*',
    })
  })

  it('takes every key of the contract', async () => {
    const world = await createWorld()
    expect([...rolePermissions.keys()].sort()).toEqual([...keys].sort())
    const samples = keys.map((key) => {
      const { dataType, availableValues } = rolePermissions.get(key)!
      const value = availableValues.at(-1) ?? (key.includes('ime') ? 'image/png' : 'default')
      return [key, dataType === 'string' ? value : [value]]
    })
    const data = dataOf(await set(world, Object.fromEntries(samples)))
    for (const key of keys) expect(data[key].success, key).toBe(true)
    expect(data.permissions).toEqual(Object.fromEntries(samples))
  })

  it('refuses unknown keys and values one by one and stores the others', async () => {
    const world = await createWorld()
    const wrong = {
      sendMessage: 'maybe',
      flyHigh: 'allow',
      editGroup: 'deny',
      'listUsers.mode': 'friendsOnly',
      'createGroup.allowedGroupTypes': ['open'],
      addReaction: { $ne: 'deny' },
      'sendMessage.mimeTypes': ['png'],
      editMessage: null,
    }
    const { permissions, ...entries } = dataOf(await set(world, { ...wrong, joinCall: 'deny' }))
    expect(permissions).toEqual({ joinCall: 'deny' })
    expect(entries.joinCall.success).toBe(true)
    for (const key of Object.keys(wrong)) {
      expect(entries[key], key).toEqual({ success: false, message: expect.stringContaining(key) })
    }
    for (const sent of [undefined, null, {}, [], 'allow', 7]) {
      expect(refusal(await set(world, sent)), JSON.stringify(sent)).toBe('400 ERR_BAD_REQUEST')
    }
    expect(refusal(await set(world, { sendMessage: 'deny' }, 'nobody'))).toBe('404 ERR_ROLE_NOT_FOUND')
  })

  it('keeps roles apart, and merges requests that come at the same time', async () => {
    const world = await createWorld()
    dataOf(await world.post('/roles', { role: 'other', name: 'Other' }))
    dataOf(await set(world, { joinCall: 'deny' }, 'other'))
    const plain = keys.filter((key) => !key.includes('.'))
    await Promise.all(plain.map((key) => set(world, { [key]: 'deny' })))
    const { permissions } = dataOf(await set(world, { sendMessage: 'allow' }))
    expect(permissions).toEqual(Object.fromEntries(plain.map((key) => [key, key === 'sendMessage' ? 'allow' : 'deny'])))
    expect(dataOf(await set(world, { joinCall: 'deny' }, 'other')).permissions).toEqual({ joinCall: 'deny' })
  })
})

describe('Listing role permissions', () => {
  it('describes every permission, with its default and what is set', async () => {
    const world = await createWorld()
    dataOf(await set(world, { 'listUsers.allowedRoles': ['vip'] }))
    const answer = await world.get(path())
    const rows = dataOf(answer)
    expect(rows.map(({ id }: { id: string }) => id)).toEqual([...rolePermissions.keys()])
    expect(answer.body.meta.pagination).toMatchObject({ total: keys.length, count: keys.length, per_page: 100 })
    const find = (id: string) => rows.find((row: { id: string }) => row.id === id)
    expect(find('createGroup')).toEqual({
      id: 'createGroup',
      type: 'role',
      title: expect.any(String),
      description: expect.any(String),
      dataType: 'string',
      availableValues: ['allow', 'deny'],
      defaultValue: 'allow',
      createdAt: expect.any(Number),
      updatedAt: expect.any(Number),
    })
    expect(find('listUsers.allowedRoles')).toMatchObject({
      dataType: 'rolesStringArray',
      availableValues: [],
      defaultValue: [],
      value: ['vip'],
    })
    expect(dataOf(await world.get(`${path()}?perPage=2&page=2`))).toEqual(rows.slice(2, 4))
    expect(refusal(await world.get(path('nobody')))).toBe('404 ERR_ROLE_NOT_FOUND')
  })
})

describe('Unsetting a role permission', () => {
  it('takes one off and answers what remains; what is not set is no error, what does not exist is', async () => {
    const world = await createWorld()
    dataOf(await set(world, { 'listUsers.mode': 'friends', sendMessage: 'deny' }))
    const unset = (key: string, role?: string) => world.delete(`${path(role)}/${key}`)
    expect((await unset('listUsers.mode')).body).toEqual({ data: { permissions: { sendMessage: 'deny' } } })
    expect(dataOf(await unset('listUsers.mode')).permissions).toEqual({ sendMessage: 'deny' })
    expect(dataOf(await unset('sendMessage')).permissions).toEqual({})
    for (const key of ['flyHigh', 'toString', 'editGroup']) {
      expect(refusal(await unset(key)), key).toBe('400 ERR_BAD_REQUEST')
    }
    expect(refusal(await unset('sendMessage', 'nobody'))).toBe('404 ERR_ROLE_NOT_FOUND')
  })
})

describe('The table of governed operations', () => {
  it('names only operations that are served', () => {
    const served = new Set(routes.map(({ operation }) => operation.id))
    const named = Object.values(permittedOperations).flatMap(({ operations, within }) => [...operations, ...within])
    expect(named.filter((id) => !served.has(id))).toEqual([])
  })
})
