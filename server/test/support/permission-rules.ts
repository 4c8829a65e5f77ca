import { createGroup, dataOf } from './chat.ts'
import { messagePermissionRules } from './message-permission-rules.ts'
import {
  type Attempt,
  calls,
  denied,
  each,
  listed,
  outcomeOf,
  outcomes,
  type PermissionRule,
  reads,
} from './role-world.ts'

/** But for bob: whoever asks with a token is not in the list, rules or not. */
const allUsers = ['alice', 'fred', 'vera']
const names: Attempt = async (world, as) => {
  const seen = await listed('/users', 'uid')(world, as)
  return Array.isArray(seen) ? seen.filter((uid) => uid !== 'bob') : seen
}
const blocks =
  (method: string): Attempt =>
  async (world, as) => {
    const prepared = method === 'DELETE' ? 'POST' : 'DELETE'
    await world.call(prepared, '/users/bob/blockedusers', { blockedUids: ['alice', 'vera'] })
    const answer = await world.call(method, '/blockedusers', { blockedUids: ['alice', 'vera'] }, as)
    if (answer.status !== 200) return outcomeOf(answer)
    const { alice, vera } = dataOf(answer)
    return [alice, vera].map(({ success, error }) => (success ? 'allowed' : error.code))
  }
const blockList: Attempt = async (world, as) => {
  await world.post('/users/bob/blockedusers', { blockedUids: ['alice', 'vera'] })
  return listed('/blockedusers', 'uid')(world, as)
}

const joins =
  (guid: string): Attempt =>
  async (world, as) => {
    await world.delete(`/groups/${guid}/members/bob`)
    return outcomeOf(await world.post(`/groups/${guid}/members`, { password: 'pw' }, as))
  }
const creates =
  (type: string): Attempt =>
  async (world, as) => {
    await world.delete('/groups/made')
    return outcomeOf(await world.post('/groups', { guid: 'made', name: 'Made', type, password: 'pw' }, as))
  }
/** Changes the type of bob's own public group, or sends it with the type that it has. */
const retypes =
  (type: string): Attempt =>
  async (world, as) => {
    await world.delete('/groups/own')
    await createGroup(world, 'own', 'bob')
    return outcomeOf(await world.put('/groups/own', { name: 'Own', type }, as))
  }
const talks = [
  '/conversations',
  '/conversations/alice_user_bob',
  '/users/alice/conversation',
  '/groups/team/conversation',
]
/** Every permission of a role that is enforced. */
export const permissionRules: Readonly<Record<string, PermissionRule>> = {
  listUsers: { value: 'deny', attempt: calls('GET', '/users'), app: 'allowed' },
  'listUsers.mode': { value: 'friends', attempt: names, before: allUsers, after: ['fred'], app: allUsers },
  'listUsers.allowedRoles': { value: ['VIP'], attempt: names, before: allUsers, after: ['vera'], app: allUsers },
  getUserDetails: { value: 'deny', attempt: calls('GET', '/users/alice'), app: 'allowed' },
  'getUserDetails.mode': {
    value: 'friends',
    attempt: reads('/users/alice', '/users/fred', '/users/bob'),
    before: outcomes('allowed', '/users/alice', '/users/fred', '/users/bob'),
    after: { '/users/alice': denied, '/users/fred': 'allowed', '/users/bob': 'allowed' },
    app: outcomes('allowed', '/users/alice', '/users/fred', '/users/bob'),
  },
  'getUserDetails.allowedRoles': {
    value: 'vip,other',
    attempt: reads('/users/alice', '/users/vera', '/users/bob'),
    before: outcomes('allowed', '/users/alice', '/users/vera', '/users/bob'),
    after: { '/users/alice': denied, '/users/vera': 'allowed', '/users/bob': 'allowed' },
    app: outcomes('allowed', '/users/alice', '/users/vera', '/users/bob'),
  },
  editProfile: {
    value: 'deny',
    attempt: each({
      profile: calls('PUT', '/me', { name: 'Bobby' }),
      login: calls('PUT', '/me', { platform: 'WEB', deviceId: 'd' }),
    }),
    before: outcomes('allowed', 'profile', 'login'),
    after: { profile: denied, login: 'allowed' },
  },
  blockUser: { value: 'deny', attempt: blocks('POST'), before: ['allowed', 'allowed'] },
  'blockUser.allowedRoles': {
    value: ['vip'],
    attempt: blocks('POST'),
    before: ['allowed', 'allowed'],
    after: ['ERR_PERMISSION_DENIED', 'allowed'],
  },
  listBlockedUser: { value: 'deny', attempt: blockList, before: ['vera', 'alice'] },
  'listBlockedUser.allowedRoles': { value: ['vip'], attempt: blockList, before: ['vera', 'alice'], after: ['vera'] },
  unblockedUser: { value: 'deny', attempt: blocks('DELETE'), before: ['allowed', 'allowed'] },
  'unblockedUser.allowedRoles': {
    value: ['vip'],
    attempt: blocks('DELETE'),
    before: ['allowed', 'allowed'],
    after: ['ERR_PERMISSION_DENIED', 'allowed'],
  },

  ...messagePermissionRules,

  listConversations: {
    value: 'deny',
    attempt: reads(...talks),
    before: outcomes('allowed', ...talks),
    after: outcomes(denied, ...talks),
  },
  updateConversation: {
    value: 'deny',
    attempt: each({
      user: calls('PUT', '/users/alice/conversation', { tags: ['a'] }),
      group: calls('PUT', '/groups/team/conversation', { tags: ['a'] }),
      pinUser: calls('POST', '/users/alice/conversation/pin'),
      pinGroup: calls('POST', '/groups/team/conversation/pin'),
      unpinUser: calls('DELETE', '/users/alice/conversation/pin'),
      unpinGroup: calls('DELETE', '/groups/team/conversation/pin'),
    }),
    before: outcomes('allowed', 'user', 'group', 'pinUser', 'pinGroup', 'unpinUser', 'unpinGroup'),
    after: outcomes(denied, 'user', 'group', 'pinUser', 'pinGroup', 'unpinUser', 'unpinGroup'),
  },
  deleteConversation: {
    value: 'deny',
    attempt: each({
      user: calls('DELETE', '/users/alice/conversation'),
      group: calls('DELETE', '/groups/team/conversation'),
    }),
    before: outcomes('allowed', 'user', 'group'),
    after: outcomes(denied, 'user', 'group'),
  },

  listGroups: { value: 'deny', attempt: calls('GET', '/groups'), app: 'allowed' },
  'listGroups.allowedGroupTypes': {
    value: ['password', 'private'],
    attempt: listed('/groups', 'guid'),
    before: ['locked', 'open', 'secret', 'team'],
    after: ['locked', 'secret'],
    app: ['locked', 'open', 'secret', 'team'],
  },
  getGroupDetails: { value: 'deny', attempt: calls('GET', '/groups/team'), app: 'allowed' },
  'getGroupDetails.allowedGroupTypes': {
    value: ['public'],
    attempt: reads('/groups/team', '/groups/locked', '/groups/secret'),
    before: outcomes('allowed', '/groups/team', '/groups/locked', '/groups/secret'),
    after: { '/groups/team': 'allowed', '/groups/locked': denied, '/groups/secret': denied },
    app: outcomes('allowed', '/groups/team', '/groups/locked', '/groups/secret'),
  },
  createGroup: { value: 'deny', attempt: creates('public'), app: 'allowed' },
  'createGroup.allowedGroupTypes': {
    value: ['public'],
    attempt: each({
      public: creates('public'),
      password: creates('password'),
      private: creates('private'),
      kept: retypes('public'),
      changed: retypes('private'),
    }),
    before: outcomes('allowed', 'public', 'password', 'private', 'kept', 'changed'),
    after: { public: 'allowed', password: denied, private: denied, kept: 'allowed', changed: denied },
    app: outcomes('allowed', 'public', 'password', 'private', 'kept', 'changed'),
  },
  joinGroup: { value: 'deny', attempt: joins('open') },
  'joinGroup.allowedGroupTypes': {
    value: ['password'],
    attempt: each({ open: joins('open'), locked: joins('locked') }),
    before: outcomes('allowed', 'open', 'locked'),
    after: { open: denied, locked: 'allowed' },
  },
}
