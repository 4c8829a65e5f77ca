import { say, sayInGroup } from './chat.ts'
import {
  type Attempt,
  calls,
  custom,
  denied,
  each,
  media,
  outcomeOf,
  outcomes,
  type PermissionRule,
  reads,
  replies,
  sends,
  shown,
  text,
  toGroup,
  toUser,
} from './role-world.ts'

const inPrivate = ['from alice', 'from app', 'from bob', 'from fred', 'from vera']
const inTeam = ['bob in team', 'in team', 'reply']
const everything = [...inPrivate, ...inTeam].sort()
const history = shown('/messages?limit=100')

const histories = ['/messages', '/users/alice/messages', '/groups/team/messages']
const pdf = media('file', 'application/pdf')
const png = media('image', 'image/png')
/** Names its file without a MIME type. */
const fileByUrl = { type: 'file', data: { url: 'https://example.com/setup.exe' } }

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
    [`${family}.mimeTypes`]: {
      value: ['image/*'],
      attempt: each({ a: send(png), b: send(pdf), url: send(fileByUrl) }),
      before: outcomes('allowed', 'a', 'b', 'url'),
      after: { ...onlyFirst, url: denied },
      app: outcomes('allowed', 'a', 'b', 'url'),
    },
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

/** Permissions on messages, threads and reactions. */
export const messagePermissionRules: Readonly<Record<string, PermissionRule>> = {
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
}
