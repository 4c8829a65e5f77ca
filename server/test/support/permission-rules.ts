import { dataOf, say, sayInGroup } from './chat.ts'
import {
  type Attempt,
  calls,
  custom,
  denied,
  each,
  listed,
  media,
  outcomeOf,
  type RoleRule,
  replies,
  sends,
  shown,
  text,
  toGroup,
  toUser,
} from './role-world.ts'

/** A permission with the value that denies or narrows, and what must be set beside it. */
export interface PermissionRule extends RoleRule {
  readonly value: string | readonly string[]
  readonly beside?: Readonly<Record<string, unknown>>
}

const allUsers = ['alice', 'bob', 'fred', 'vera']
const inPrivate = ['from alice', 'from app', 'from bob', 'from fred', 'from vera']
const inTeam = ['bob in team', 'in team', 'reply']
const everything = [...inPrivate, ...inTeam].sort()
const history = shown('/messages?limit=100')

const names: Attempt = listed('/users', 'uid')
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

/** Edits or deletes a message that bob sent a moment ago. */
const changes =
  (method: 'PUT' | 'DELETE', sent: 'talk' | 'group' | 'thread'): Attempt =>
  async (world, as) => {
    const message =
      sent === 'talk'
        ? await say(world, 'bob', 'alice', 'mine')
        : await sayInGroup(world, 'bob', 'team', 'mine', sent === 'thread' ? { parentId: world.inGroup } : {})
    return outcomeOf(await world.call(method, `/messages/${message.id}`, method === 'PUT' ? text : {}, as))
  }
const everywhere = (method: 'PUT' | 'DELETE') =>
  each({ talk: changes(method, 'talk'), group: changes(method, 'group'), thread: changes(method, 'thread') })
const changed = (talk: string, group: string, thread: string) => ({ talk, group, thread })

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
const reads = (...paths: string[]): Attempt => each(Object.fromEntries(paths.map((path) => [path, calls('GET', path)])))
const outcomes = (value: string, ...keys: string[]) => Object.fromEntries(keys.map((key) => [key, value]))

const talks = [
  '/conversations',
  '/conversations/alice_user_bob',
  '/users/alice/conversation',
  '/groups/team/conversation',
]
const histories = ['/messages', '/users/alice/messages', '/groups/team/messages']
const pdf = media('file', 'application/pdf')
const png = media('image', 'image/png')

/** Rows for the sub keys of sending that are the same for replies. */
function contentRules(family: string, send: (message: object) => Attempt): Record<string, PermissionRule> {
  const pair = (a: object, b: object) => each({ a: send(a), b: send(b) })
  const both = outcomes('allowed', 'a', 'b')
  const onlyFirst = { a: 'allowed', b: denied }
  return {
    [`${family}.allowedMessageCategories`]: {
      value: ['message'],
      attempt: pair(text, custom('poll')),
      before: both,
      after: onlyFirst,
      app: both,
    },
    [`${family}.allowedMessageTypes`]: {
      value: 'text',
      attempt: pair(text, png),
      before: both,
      after: onlyFirst,
      app: both,
    },
    [`${family}.allowedCustomTypes`]: {
      value: ['poll'],
      attempt: pair(custom('poll'), custom('location')),
      before: both,
      after: onlyFirst,
      app: both,
    },
    [`${family}.mimeTypes`]: { value: ['image/*'], attempt: pair(png, pdf), before: both, after: onlyFirst, app: both },
    [`${family}.mimeTypeAccessControl`]: {
      value: 'deny',
      beside: { [`${family}.mimeTypes`]: ['application/pdf'] },
      attempt: pair(png, pdf),
      before: { a: denied, b: 'allowed' },
      after: onlyFirst,
      app: both,
    },
  }
}

const toFourSides = each({
  alice: sends(toUser('alice')),
  fred: sends(toUser('fred')),
  bob: sends(toUser('bob')),
  team: sends(toGroup('team')),
})
const fourSides = { alice: 'allowed', fred: 'allowed', bob: 'allowed', team: 'allowed' }

/** A reply in a one-to-one talk, to a message of the other. */
const repliesTo =
  (peer: string): Attempt =>
  async (world, as) => {
    const { id } = await say(world, peer, 'bob', 'parent')
    // The app takes no part in the talks of others, so it cannot reply in them.
    if (as.as === undefined && as.token === undefined) return undefined
    return outcomeOf(await world.post(`/messages/${id}/thread`, text, as))
  }

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

  listMessages: {
    value: 'deny',
    attempt: reads(...histories),
    before: outcomes('allowed', ...histories),
    after: outcomes(denied, ...histories),
    app: outcomes('allowed', ...histories),
  },
  'listMessages.mode': {
    value: 'friends',
    attempt: each({ all: history, alice: shown('/users/alice/messages'), team: shown('/groups/team/messages') }),
    before: { all: everything, alice: ['from alice', 'from bob'], team: inTeam },
    after: {
      all: ['bob in team', 'from app', 'from bob', 'from fred', 'reply'],
      alice: ['from bob'],
      team: ['bob in team', 'reply'],
    },
    app: { all: everything, alice: ['from alice', 'from bob', 'in team'], team: inTeam },
  },
  'listMessages.allowedReceiverTypes': {
    value: 'group',
    attempt: each({ all: history, alice: shown('/users/alice/messages') }),
    before: { all: everything, alice: ['from alice', 'from bob'] },
    after: { all: inTeam, alice: [] },
    app: { all: everything, alice: ['from alice', 'from bob', 'in team'] },
  },
  'listMessages.allowedSenderRoles': {
    value: ['vip'],
    attempt: history,
    before: everything,
    after: ['bob in team', 'from app', 'from bob', 'from vera', 'reply'],
    app: everything,
  },
  'listMessages.allowedMessageCategories': {
    value: ['custom'],
    attempt: async (world, as) => {
      await world.post('/messages', { ...toUser('bob', custom('poll')), muid: 'poll' }, { as: 'vera' })
      return shown('/messages?limit=100')(world, as)
    },
    before: [...everything, 'poll'].sort(),
    after: ['poll'],
    app: [...everything, 'poll'].sort(),
  },
  'listMessages.allowedMessageTypes': {
    value: ['image'],
    attempt: async (world, as) => {
      await world.post('/messages', { ...toUser('bob', png), muid: 'png' }, { as: 'vera' })
      return shown('/users/vera/messages')(world, as)
    },
    before: ['from vera', 'image'],
    after: ['image'],
    app: ['from vera', 'image'],
  },
  getMessageDetails: {
    value: 'deny',
    attempt: calls('GET', (world) => `/messages/${world.fromAlice}`),
    app: 'allowed',
  },
  'getMessageDetails.mode': {
    value: 'friends',
    attempt: each({
      alice: calls('GET', (world) => `/messages/${world.fromAlice}`),
      own: calls('GET', (world) => `/messages/${world.fromBob}`),
      team: calls('GET', (world) => `/messages/${world.inGroup}`),
    }),
    before: outcomes('allowed', 'alice', 'own', 'team'),
    after: { alice: denied, own: 'allowed', team: denied },
    app: outcomes('allowed', 'alice', 'own', 'team'),
  },

  sendMessage: {
    value: 'deny',
    attempt: each({
      user: sends(toUser('alice')),
      group: sends(toGroup('team')),
      self: sends(toUser('bob')),
      reply: replies(),
    }),
    before: outcomes('allowed', 'user', 'group', 'self', 'reply'),
    after: { ...outcomes(denied, 'user', 'group', 'self'), reply: 'allowed' },
    app: outcomes('allowed', 'user', 'group', 'self', 'reply'),
  },
  'sendMessage.mode': {
    value: 'friends',
    attempt: each({ sends: toFourSides, alice: repliesTo('alice'), fred: repliesTo('fred') }),
    before: { sends: fourSides, alice: 'allowed', fred: 'allowed' },
    after: { sends: { ...fourSides, alice: denied }, alice: denied, fred: 'allowed' },
    app: { sends: fourSides },
  },
  'sendMessage.allowedReceiverTypes': {
    value: ['group'],
    attempt: toFourSides,
    before: fourSides,
    after: { alice: denied, fred: denied, bob: denied, team: 'allowed' },
    app: fourSides,
  },
  'sendMessage.allowedReceiverRoles': {
    value: ['vip', 'other'],
    attempt: each({ sends: toFourSides, vera: sends(toUser('vera')) }),
    before: { sends: fourSides, vera: 'allowed' },
    after: { sends: { ...fourSides, alice: denied, fred: denied }, vera: 'allowed' },
    app: { sends: fourSides, vera: 'allowed' },
  },
  ...contentRules('sendMessage', (message) => sends(toUser('alice', message))),
  'sendMessage.allowedMimeTypes': {
    value: 'image/png',
    attempt: each({ png: sends(toGroup('team', png)), pdf: sends(toGroup('team', pdf)) }),
    before: outcomes('allowed', 'png', 'pdf'),
    after: { png: 'allowed', pdf: denied },
    app: outcomes('allowed', 'png', 'pdf'),
  },
  editMessage: {
    value: 'deny',
    attempt: everywhere('PUT'),
    before: changed('allowed', 'allowed', 'allowed'),
    after: changed(denied, denied, 'allowed'),
    app: changed('allowed', 'allowed', 'allowed'),
  },
  'editMessage.denyForScopes': {
    value: ['participant'],
    attempt: everywhere('PUT'),
    before: changed('allowed', 'allowed', 'allowed'),
    after: changed('allowed', denied, 'allowed'),
    app: changed('allowed', 'allowed', 'allowed'),
  },
  deleteMessage: {
    value: 'deny',
    attempt: everywhere('DELETE'),
    before: changed('allowed', 'allowed', 'allowed'),
    after: changed(denied, denied, 'allowed'),
    app: changed('allowed', 'allowed', 'allowed'),
  },
  'deleteMessage.denyForScopes': {
    value: 'moderator,participant',
    attempt: everywhere('DELETE'),
    before: changed('allowed', 'allowed', 'allowed'),
    after: changed('allowed', denied, 'allowed'),
    app: changed('allowed', 'allowed', 'allowed'),
  },

  listThreadedMessages: {
    value: 'deny',
    attempt: each({
      thread: calls('GET', (world) => `/messages/${world.inGroup}/thread`),
      threads: calls('GET', '/threads'),
      team: calls('GET', '/groups/team/threads'),
    }),
    before: outcomes('allowed', 'thread', 'threads', 'team'),
    after: outcomes(denied, 'thread', 'threads', 'team'),
    app: outcomes('allowed', 'thread', 'threads', 'team'),
  },
  sendThreadedMessage: {
    value: 'deny',
    attempt: each({ reply: replies(), alice: repliesTo('alice'), send: sends(toGroup('team')) }),
    before: outcomes('allowed', 'reply', 'alice', 'send'),
    after: { reply: denied, alice: denied, send: 'allowed' },
    app: outcomes('allowed', 'reply', 'send'),
  },
  'sendThreadedMessage.allowedReceiverTypes': {
    value: ['user'],
    attempt: each({ team: replies(), alice: repliesTo('alice') }),
    before: outcomes('allowed', 'team', 'alice'),
    after: { team: denied, alice: 'allowed' },
    app: outcomes('allowed', 'team'),
  },
  'sendThreadedMessage.allowedReceiverRoles': {
    value: ['vip'],
    attempt: each({ team: replies(), alice: repliesTo('alice'), vera: repliesTo('vera') }),
    before: outcomes('allowed', 'team', 'alice', 'vera'),
    after: { team: 'allowed', alice: denied, vera: 'allowed' },
    app: outcomes('allowed', 'team'),
  },
  ...contentRules('sendThreadedMessage', (message) => replies(message)),
  editThreadedMessage: {
    value: 'deny',
    attempt: everywhere('PUT'),
    before: changed('allowed', 'allowed', 'allowed'),
    after: changed('allowed', 'allowed', denied),
    app: changed('allowed', 'allowed', 'allowed'),
  },
  deleteThreadedMessage: {
    value: 'deny',
    attempt: everywhere('DELETE'),
    before: changed('allowed', 'allowed', 'allowed'),
    after: changed('allowed', 'allowed', denied),
    app: changed('allowed', 'allowed', 'allowed'),
  },

  listReactions: {
    value: 'deny',
    attempt: each({
      all: calls('GET', (world) => `/messages/${world.inGroup}/reactions`),
      one: calls('GET', (world) => `/messages/${world.inGroup}/reactions/yes`),
    }),
    before: outcomes('allowed', 'all', 'one'),
    after: outcomes(denied, 'all', 'one'),
    app: outcomes('allowed', 'all', 'one'),
  },
  addReaction: {
    value: 'deny',
    attempt: each({
      add: calls('POST', (world) => `/messages/${world.fromAlice}/reactions/yes`),
      remove: calls('DELETE', (world) => `/messages/${world.fromAlice}/reactions/yes`),
    }),
    before: outcomes('allowed', 'add', 'remove'),
    after: outcomes(denied, 'add', 'remove'),
  },

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
    attempt: each({ public: creates('public'), password: creates('password'), protected: creates('protected') }),
    before: outcomes('allowed', 'public', 'password', 'protected'),
    after: { public: 'allowed', password: denied, protected: denied },
    app: outcomes('allowed', 'public', 'password', 'protected'),
  },
  joinGroup: { value: 'deny', attempt: joins('open') },
  'joinGroup.allowedGroupTypes': {
    value: ['password'],
    attempt: each({ open: joins('open'), locked: joins('locked') }),
    before: outcomes('allowed', 'open', 'locked'),
    after: { open: denied, locked: 'allowed' },
  },
}
