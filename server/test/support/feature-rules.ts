import type { FeatureKey } from '@parley/contract'
import { createGroup } from './chat.ts'
import {
  type Attempt,
  calls,
  denied,
  each,
  outcomeOf,
  type RoleRule,
  type RoleWorld,
  replies,
  sends,
  text,
  toGroup,
  toUser,
} from './role-world.ts'

/** Does something as the app before each attempt, so that it is possible. */
function after(prepare: (world: RoleWorld) => Promise<unknown>, attempt: Attempt): Attempt {
  return async (world, as) => {
    await prepare(world)
    return attempt(world, as)
  }
}

/** bob's own group, made anew before each attempt. */
const inOwnGroup = (attempt: Attempt): Attempt =>
  after(async (world) => {
    await world.delete('/groups/own')
    await createGroup(world, 'own', 'bob', { participants: ['fred'] })
  }, attempt)
const seated = (attempt: Attempt): Attempt =>
  after((world) => world.post('/groups/open/members', { participants: ['bob'] }), attempt)
const unseated = (attempt: Attempt): Attempt => after((world) => world.delete('/groups/open/members/bob'), attempt)

/** Adds vera or bans her in bob's own group by lists. */
const operates = (method: 'POST' | 'PUT', list: string): Attempt =>
  inOwnGroup(calls(method, '/groups/own/members', { [list]: ['vera'] }))
/** Makes a group with these first members. */
const makes = (members?: object): Attempt =>
  after(
    (world) => world.delete('/groups/made'),
    calls('POST', '/groups', { guid: 'made', name: 'Made', type: 'public', members }),
  )
const byLists = each({
  add: operates('POST', 'participants'),
  ban: operates('POST', 'usersToBan'),
  put: operates('PUT', 'participants'),
  putBan: operates('PUT', 'usersToBan'),
  make: makes({ participants: ['vera'] }),
  makeBan: makes({ usersToBan: ['vera'] }),
  makeEmpty: makes({ participants: [], usersToBan: [] }),
})
const allowedByLists = {
  ...{ add: 'allowed', ban: 'allowed', put: 'allowed', putBan: 'allowed' },
  ...{ make: 'allowed', makeBan: 'allowed', makeEmpty: 'allowed' },
}

const read = (path: string): RoleRule => ({ attempt: calls('GET', path), app: 'allowed' })
const readOwn = (path: string): RoleRule => ({ attempt: calls('GET', path) })
const sent = { user: sends(toUser('alice')), group: sends(toGroup('team')), reply: replies() }
const allSent = { user: 'allowed', group: 'allowed', reply: 'allowed' }
const ownMessage: Attempt = async (world, as) => {
  const { body } = await world.post('/messages', toUser('alice'), { as: 'bob' })
  return outcomeOf(await world.call('DELETE', `/messages/${body.data.id}`, {}, as))
}

const ownGroupMessage: Attempt = async (world, as) => {
  const { body } = await world.post('/messages', toGroup('team'), { as: 'bob' })
  return outcomeOf(await world.call('DELETE', `/messages/${body.data.id}`, {}, as))
}

/** Features behind which an operation stands. */
export const featureRules: Readonly<Partial<Record<FeatureKey, RoleRule>>> = {
  listUsers: read('/users'),
  getUser: read('/users/alice'),
  getMyDetails: readOwn('/me'),
  updateAuthToken: {
    attempt: each({ login: calls('PUT', '/me', { platform: 'WEB' }), profile: calls('PUT', '/me', { name: 'Bobby' }) }),
    before: { login: 'allowed', profile: 'allowed' },
    after: { login: denied, profile: 'allowed' },
  },
  listSettings: read('/settings'),
  blockUser: { attempt: calls('POST', '/blockedusers', { blockedUids: ['vera'] }) },
  unblockUser: { attempt: calls('DELETE', '/blockedusers', { blockedUids: ['vera'] }) },
  getBlockedUsers: readOwn('/blockedusers'),

  createGroup: { attempt: makes(), app: 'allowed' },
  listGroups: read('/groups'),
  getGroup: read('/groups/team'),
  updateGroup: { attempt: inOwnGroup(calls('PUT', '/groups/own', { name: 'New' })), app: 'allowed' },
  deleteGroup: { attempt: inOwnGroup(calls('DELETE', '/groups/own')), app: 'allowed' },
  patchOwner: { attempt: inOwnGroup(calls('PATCH', '/groups/own/owner', { owner: 'fred' })), app: 'allowed' },

  joinGroup: { attempt: unseated(calls('POST', '/groups/open/members', {})) },
  leaveGroup: { attempt: seated(calls('DELETE', '/groups/open/members')) },
  addMember: {
    attempt: byLists,
    before: allowedByLists,
    after: { ...allowedByLists, add: denied, put: denied, make: denied },
    app: allowedByLists,
  },
  massMemberOperate: {
    attempt: each({ lists: byLists, join: unseated(calls('POST', '/groups/open/members', {})) }),
    before: { lists: allowedByLists, join: 'allowed' },
    after: {
      lists: {
        ...allowedByLists,
        ...{ add: denied, ban: denied, put: denied, putBan: denied, make: denied, makeBan: denied },
      },
      join: 'allowed',
    },
  },
  listGroupMembers: read('/groups/team/members'),
  getMember: read('/groups/team/members'),
  changeScope: {
    attempt: inOwnGroup(calls('PUT', '/groups/own/members/fred', { scope: 'admin' })),
    app: 'allowed',
  },
  kickMember: { attempt: inOwnGroup(calls('DELETE', '/groups/own/members/fred')), app: 'allowed' },
  ban: {
    attempt: each({ one: inOwnGroup(calls('POST', '/groups/own/bannedusers/fred')), lists: byLists }),
    before: { one: 'allowed', lists: allowedByLists },
    after: { one: denied, lists: { ...allowedByLists, ban: denied, putBan: denied, makeBan: denied } },
    app: { one: 'allowed', lists: allowedByLists },
  },
  unban: {
    attempt: inOwnGroup(
      after((world) => world.post('/groups/own/bannedusers/fred'), calls('DELETE', '/groups/own/bannedusers/fred')),
    ),
    app: 'allowed',
  },
  listBannedUsers: { attempt: inOwnGroup(calls('GET', '/groups/own/bannedusers')), app: 'allowed' },

  createMessage: {
    attempt: each(sent),
    before: allSent,
    after: { user: denied, group: denied, reply: 'allowed' },
    app: allSent,
  },
  createMessageThread: {
    attempt: each({ ...sent, thread: calls('POST', (world) => `/messages/${world.inGroup}/thread`, text) }),
    before: { ...allSent, thread: 'allowed' },
    after: { ...allSent, reply: denied, thread: denied },
  },
  listMessages: read('/messages'),
  getUserMessages: read('/users/alice/messages'),
  getGroupMessages: read('/groups/team/messages'),
  listThreadedMessages: {
    attempt: each({
      thread: calls('GET', (world) => `/messages/${world.inGroup}/thread`),
      threads: calls('GET', '/threads'),
    }),
    before: { thread: 'allowed', threads: 'allowed' },
    after: { thread: denied, threads: denied },
    app: { thread: 'allowed', threads: 'allowed' },
  },
  deleteGroupMessages: {
    attempt: each({ group: ownGroupMessage, user: ownMessage }),
    before: { group: 'allowed', user: 'allowed' },
    after: { group: denied, user: 'allowed' },
    app: { group: 'allowed', user: 'allowed' },
  },
  getMessage: { attempt: calls('GET', (world) => `/messages/${world.fromAlice}`), app: 'allowed' },
  updateMessage: { attempt: calls('PUT', (world) => `/messages/${world.fromBob}`, text), app: 'allowed' },
  deleteMessage: { attempt: ownMessage, app: 'allowed' },

  listConversations: read('/conversations'),
  getConversation: {
    attempt: each({
      user: calls('GET', '/users/alice/conversation'),
      group: calls('GET', '/groups/team/conversation'),
      named: calls('GET', '/conversations/group_team'),
    }),
    before: { user: 'allowed', group: 'allowed', named: 'allowed' },
    after: { user: denied, group: denied, named: denied },
  },
  deleteConversationForUser: {
    attempt: each({
      user: calls('DELETE', '/users/alice/conversation'),
      group: calls('DELETE', '/groups/team/conversation'),
    }),
    before: { user: 'allowed', group: 'allowed' },
    after: { user: denied, group: denied },
  },
}
