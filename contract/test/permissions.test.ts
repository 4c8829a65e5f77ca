import { describe, expect, test } from 'vitest'
import {
  checkPermissionValue,
  defaultScopePermission,
  type GroupScope,
  rolePermissions,
  scopePermissions,
} from '../src/permissions.ts'

const everyRoleKey = `
  listUsers listUsers.mode listUsers.allowedRoles getUserDetails getUserDetails.mode getUserDetails.allowedRoles
  blockUser blockUser.allowedRoles listBlockedUser listBlockedUser.allowedRoles unblockedUser unblockedUser.allowedRoles
  editProfile listMessages listMessages.mode listMessages.allowedReceiverTypes listMessages.allowedSenderRoles
  listMessages.allowedMessageCategories listMessages.allowedMessageTypes getMessageDetails getMessageDetails.mode
  sendMessage sendMessage.mode sendMessage.allowedReceiverTypes sendMessage.allowedReceiverRoles
  sendMessage.allowedMessageCategories sendMessage.allowedMessageTypes sendMessage.allowedCustomTypes
  sendMessage.mimeTypeAccessControl sendMessage.mimeTypes sendMessage.allowedMimeTypes
  editMessage editMessage.denyForScopes deleteMessage deleteMessage.denyForScopes listThreadedMessages
  sendThreadedMessage sendThreadedMessage.allowedReceiverTypes sendThreadedMessage.allowedReceiverRoles
  sendThreadedMessage.allowedMessageCategories sendThreadedMessage.allowedMessageTypes
  sendThreadedMessage.allowedCustomTypes sendThreadedMessage.mimeTypeAccessControl sendThreadedMessage.mimeTypes
  editThreadedMessage deleteThreadedMessage listReactions addReaction
  initiateCall initiateCall.mode initiateCall.allowedReceiverTypes initiateCall.allowedReceiverRoles joinCall
  listConversations updateConversation deleteConversation listGroups listGroups.allowedGroupTypes
  getGroupDetails getGroupDetails.allowedGroupTypes createGroup createGroup.allowedGroupTypes
  joinGroup joinGroup.allowedGroupTypes`

const everyScopeKey = `
  editGroup deleteGroup leaveGroup listMembers listMembers.allowedScopes addMembers addMembers.allowedScopes
  kickMembers kickMembers.allowedScopes listBannedUsers ban ban.allowedScopes unban
  listMessages.allowedMessageCategories listMessages.allowedMessageTypes listMessages.historyBeforeJoin
  sendMessage sendMessage.allowedMessageCategories sendMessage.allowedMessageTypes sendMessage.allowedCustomTypes
  sendMessage.mimeTypeAccessControl sendMessage.mimeTypes sendMessage.allowedMimeTypes editMessage deleteMessage
  listThreadedMessages sendThreadedMessage sendThreadedMessage.allowedMessageCategories
  sendThreadedMessage.allowedMessageTypes sendThreadedMessage.allowedCustomTypes
  sendThreadedMessage.mimeTypeAccessControl sendThreadedMessage.mimeTypes editThreadedMessage deleteThreadedMessage
  listReactions listReactions.allowedScopes addReaction
  initiateCall initiateCall.allowedScopes initiateCall.allowedType joinCall`

const words = (text: string) => text.trim().split(/\s+/).toSorted()

describe('the tables of permissions', () => {
  test('hold exactly the keys of the contract', () => {
    expect([...rolePermissions.keys()].toSorted()).toEqual(words(everyRoleKey))
    expect([...scopePermissions.admin.keys()].toSorted()).toEqual(words(everyScopeKey))
  })

  test('describe a choice as the contract does', () => {
    expect(rolePermissions.get('createGroup')).toMatchObject({
      id: 'createGroup',
      type: 'role',
      dataType: 'string',
      availableValues: ['allow', 'deny'],
      defaultValue: 'allow',
    })
  })

  test('describe a list as the contract does', () => {
    expect(rolePermissions.get('sendMessage.allowedMessageTypes')).toMatchObject({
      type: 'role',
      dataType: 'stringArray',
      availableValues: ['text', 'image', 'audio', 'video', 'file'],
      defaultValue: [],
    })
    expect(scopePermissions.participant.get('initiateCall.allowedType')).toMatchObject({
      type: 'scope',
      dataType: 'stringArray',
      availableValues: ['audio', 'video'],
      defaultValue: [],
    })
  })

  test('tell lists of roles and of free values apart', () => {
    expect(rolePermissions.get('listUsers.allowedRoles')?.dataType).toBe('rolesStringArray')
    expect(rolePermissions.get('sendMessage.allowedCustomTypes')?.dataType).toBe('customStringArray')
    expect(rolePermissions.get('sendMessage.mimeTypes')?.dataType).toBe('customStringArray')
  })

  test('restrict no role by default', () => {
    const defaults = [...rolePermissions.values()].map((permission) => permission.defaultValue)
    expect(defaults.filter((value) => value === 'deny' || value === 'friends')).toEqual([])
  })

  test.each([
    ['editGroup', 'allow', 'deny', 'deny'],
    ['deleteGroup', 'deny', 'deny', 'deny'],
    ['leaveGroup', 'allow', 'allow', 'allow'],
    ['listMembers', 'allow', 'allow', 'allow'],
    ['addMembers', 'allow', 'deny', 'deny'],
    ['kickMembers', 'allow', 'allow', 'deny'],
    ['listBannedUsers', 'allow', 'allow', 'deny'],
    ['ban', 'allow', 'allow', 'deny'],
    ['unban', 'allow', 'allow', 'deny'],
    ['listMessages.historyBeforeJoin', 'allow', 'allow', 'allow'],
    ['sendMessage', 'allow', 'allow', 'allow'],
    ['sendMessage.mimeTypeAccessControl', 'allow', 'allow', 'allow'],
    ['sendThreadedMessage', 'allow', 'allow', 'allow'],
    ['addReaction', 'allow', 'allow', 'allow'],
    ['initiateCall', 'allow', 'allow', 'allow'],
  ] as const)('give %s its default for admins, moderators and participants', (key, admin, moderator, participant) => {
    const expected: [GroupScope, string][] = [
      ['admin', admin],
      ['moderator', moderator],
      ['participant', participant],
    ]
    for (const [scope, value] of expected) {
      expect(defaultScopePermission(key, scope)).toBe(value)
      expect(scopePermissions[scope].get(key)?.defaultValue).toBe(value)
    }
  })
})

describe('a value of a permission', () => {
  test.each([
    ['role', 'sendMessage', 'deny'],
    ['role', 'listUsers.mode', 'friends'],
    ['role', 'listUsers.allowedRoles', ['moderator', 'default']],
    ['role', 'createGroup.allowedGroupTypes', ['public']],
    ['role', 'createGroup.allowedGroupTypes', 'public'],
    ['role', 'createGroup.allowedGroupTypes', 'public, private'],
    ['role', 'createGroup.allowedGroupTypes', []],
    ['role', 'sendMessage.allowedMimeTypes', ['image/png', 'application/vnd.ms-excel']],
    ['role', 'sendMessage.mimeTypes', 'image/*'],
    ['role', 'sendMessage.allowedCustomTypes', ['extension_poll', 'with, comma']],
    ['role', 'editMessage.denyForScopes', 'participant'],
    ['role', 'initiateCall', 'friends'],
    ['scope', 'initiateCall', 'friends'],
    ['scope', 'initiateCall', 'deny'],
    ['scope', 'initiateCall.allowedType', 'audio'],
    ['scope', 'initiateCall.allowedScopes', 'participant'],
    ['scope', 'listReactions.allowedScopes', 'moderator'],
    ['scope', 'listMembers.allowedScopes', 'admin,moderator'],
    ['scope', 'listMessages.historyBeforeJoin', 'deny'],
  ] as const)('is fine: %s %s %j', (type, key, value) => {
    expect(checkPermissionValue(type, key, value)).toBeUndefined()
  })

  test.each([
    ['role', 'sendMessage', 'maybe', 'sendMessage takes one of allow, deny'],
    ['role', 'sendMessage', ['allow'], 'sendMessage takes one of allow, deny'],
    ['role', 'sendMessage', 'friends', 'sendMessage takes one of allow, deny'],
    ['role', 'sendMessage', true, 'sendMessage takes one of allow, deny'],
    ['role', 'sendMessage', null, 'sendMessage takes one of allow, deny'],
    ['role', 'sendMessage', 'allow,deny', 'sendMessage takes one of allow, deny'],
    ['role', 'listUsers.mode', 'allow', 'listUsers.mode takes one of all, friends'],
    ['role', 'joinGroup.allowedGroupTypes', ['private'], 'takes one or more of public, password, not "private"'],
    ['role', 'createGroup.allowedGroupTypes', 'public,secret', 'not "secret"'],
    ['role', 'createGroup.allowedGroupTypes', ['public,private'], 'not "public,private"'],
    ['role', 'createGroup.allowedGroupTypes', '', 'at least one value'],
    ['role', 'createGroup.allowedGroupTypes', ' , ', 'at least one value'],
    ['role', 'createGroup.allowedGroupTypes', null, 'takes a string or an array of strings'],
    ['role', 'createGroup.allowedGroupTypes', [1], 'takes a string or an array of strings'],
    ['role', 'createGroup.allowedGroupTypes', { public: true }, 'takes a string or an array of strings'],
    ['role', 'listUsers.allowedRoles', [''], 'texts of 1 to 255 characters'],
    ['role', 'listUsers.allowedRoles', ['a\0b'], 'texts of 1 to 255 characters'],
    ['role', 'listUsers.allowedRoles', ['a'.repeat(256)], 'texts of 1 to 255 characters'],
    ['role', 'listUsers.allowedRoles', Array(101).fill('a'), 'takes at most 100 values'],
    ['role', 'sendMessage.mimeTypes', ['png'], 'takes mime types, not "png"'],
    ['role', 'kickMembers', 'allow', 'kickMembers is not a permission of a role'],
    ['role', '__proto__', 'allow', 'is not a permission of a role'],
    ['role', 'constructor', 'allow', 'is not a permission of a role'],
    ['scope', 'listUsers', 'allow', 'listUsers is not a permission of a scope'],
    ['scope', 'listMessages', 'allow', 'listMessages is not a permission of a scope'],
    ['scope', 'sendmessage', 'allow', 'sendmessage is not a permission of a scope'],
    ['scope', 'initiateCall.allowedType', 'chat', 'takes one or more of audio, video, not "chat"'],
  ] as const)('is refused: %s %s %j', (type, key, value, reason) => {
    expect(checkPermissionValue(type, key, value)).toContain(reason)
  })
})
