import type { Answer, World } from '../support/world.ts'

/** What a sample call names: the things of one world, or made-up ones that are nowhere. */
export interface Ids {
  /** Owner and admin of the group. */
  readonly alice: string
  /** Participant of the group; has written to alice and she to him. */
  readonly bob: string
  /** User outside the group. */
  readonly carol: string
  /** Banned from the group. */
  readonly dave: string
  /** Deactivated. */
  readonly erin: string
  readonly team: string
  /** From bob to alice. */
  readonly messageId: string
  /** From bob to the group. */
  readonly groupMessageId: string
  readonly conversationId: string
  /** From bob to alice, with an element `ok`. */
  readonly interactiveId: string
  /** A bot. */
  readonly helper: string
  /** A role with a permission and a restricted feature, that nobody has. */
  readonly role: string
  /** An API key beside the one in use. */
  readonly apiKey: string
  /** A token of alice. */
  readonly authToken: string
  /** The app itself. */
  readonly appId: string
  /** A webhook that is disabled. */
  readonly webhook: string
  /** To that webhook; it failed. */
  readonly deliveryId: string
}

/** A valid call of an operation, as small as it gets. */
export interface Sample {
  readonly params?: Record<string, string>
  readonly query?: Record<string, string>
  readonly body?: Record<string, unknown>
  /** `onBehalfOf` */
  readonly as?: string
  /** An auth token, where an API key will not do. */
  readonly token?: string
}

/** Makes a world in which every sample succeeds. */
export async function furnish(world: World): Promise<Ids> {
  const make = (path: string) => (body: object) => ok(world.post(path, body))
  const named = (uid: string, role?: string) => ({ uid, name: uid, ...(role && { role }) })
  await Promise.all(['bot', 'editor'].map((role) => ({ role, name: role })).map(make('/roles')))
  await Promise.all(
    [...['alice', 'bob', 'carol', 'dave', 'erin'].map((uid) => named(uid)), named('helper', 'bot')].map(make('/users')),
  )
  const members = { participants: ['bob', 'dave'] }
  await make('/groups')({ guid: 'team', name: 'Team', type: 'public', owner: 'alice', members })
  const [first, interactive, inGroup, key, token] = await Promise.all([
    ok(world.post('/messages', text('alice', 'user'), { as: 'bob' })),
    ok(world.post('/messages', { ...text('alice', 'user'), ...form }, { as: 'bob' })),
    ok(world.post('/messages', text('team', 'group'), { as: 'bob' })),
    ok(world.post('/apikeys', { name: 'spare' })),
    ok(world.post('/users/alice/auth_tokens', {})),
    ok(world.post('/groups/team/bannedusers/dave')),
    ok(world.delete('/users', { uidsToDeactivate: ['erin'] })),
  ])
  await Promise.all([
    ok(world.post('/messages', text('bob', 'user'), { as: 'alice' })),
    ok(world.post(`/messages/${first.id}/thread`, text('bob', 'user'), { as: 'alice' })),
    ok(world.post(`/messages/${inGroup.id}/thread`, text('team', 'group'), { as: 'alice' })),
    ok(world.post(`/messages/${first.id}/reactions/${encodeURIComponent(thumb)}`, undefined, { as: 'alice' })),
    ok(world.put('/roles/editor/permissions', { permissions: { sendMessage: 'deny' } })),
    ok(world.post('/roles/editor/restrictedfeatures', { featuresToRestrict: ['u.createGroup'] })),
    ok(world.post('/users/alice/blockedusers', { blockedUids: ['carol'] })),
    ok(world.post('/users/alice/friends', { accepted: ['carol'] })),
    ok(world.put('/conversations/pinned', { pinnedConversations: [{ uid: 'carol' }] })),
    ok(world.post('/webhooks', { id: 'receiver', name: 'Hook', webhookURL: nobodyListens, ...disabled })),
  ])
  const delivery = await ok(world.post('/webhooks/receiver/test'))
  return {
    alice: 'alice',
    bob: 'bob',
    carol: 'carol',
    dave: 'dave',
    erin: 'erin',
    team: 'team',
    messageId: first.id,
    groupMessageId: inGroup.id,
    conversationId: 'alice_user_bob',
    interactiveId: interactive.id,
    helper: 'helper',
    role: 'editor',
    apiKey: key.apiKey,
    authToken: token.authToken,
    appId: world.app.name,
    webhook: 'receiver',
    deliveryId: delivery.id,
  }
}

async function ok(request: Promise<Answer>) {
  const answer = await request
  if (answer.status !== 200) throw new Error(`the world could not be furnished: ${JSON.stringify(answer.body)}`)
  return answer.body.data
}

const text = (receiver: string, receiverType: 'user' | 'group') => ({ receiver, receiverType, data: { text: 'hello' } })
const thumb = '👍'
const nobodyListens = 'http://127.0.0.1:9/hook'
const disabled = { enabled: false, triggers: ['message_sent', 'user_blocked'] }
const form = { category: 'interactive', type: 'form', data: { interactiveData: { formFields: [{ elementId: 'ok' }] } } }
const inTeam = (ids: Ids) => ({ guid: ids.team, uid: ids.bob })
const scope = (ids: Ids) => ({ guid: ids.team, scope: 'participant' })
const uid = (ids: Ids) => ({ params: { uid: ids.alice } })
const guid = (ids: Ids) => ({ params: { guid: ids.team } })
/** As alice, about bob. */
const aboutBob = (ids: Ids) => ({ params: { uid: ids.bob }, as: ids.alice })
const onMessage = (ids: Ids) => ({ params: { id: ids.messageId }, as: ids.alice })
const reaction = (ids: Ids) => ({ params: { id: ids.messageId, reaction: thumb }, as: ids.alice })
const role = (ids: Ids) => ({ params: { role: ids.role } })
const aboutTeam = (ids: Ids) => ({ params: { guid: ids.team }, as: ids.alice })

const app = (ids: Ids) => ({ params: { appId: ids.appId } })
const webhook = (ids: Ids) => ({ params: { webhookId: ids.webhook } })
const webhookInApp = (ids: Ids) => ({ params: { appId: ids.appId, webhookId: ids.webhook } })
const newWebhook = (ids: Ids) => ({ body: { id: `${ids.webhook}2`, name: 'Second', webhookURL: nobodyListens } })
const triggerIds = (...triggerIds: string[]) => ({ body: { triggerIds } })

/** One for every operation that is served, by operation id. */
export const samples: Readonly<Record<string, (ids: Ids) => Sample>> = {
  'create-apikey': () => ({ body: { name: 'New', scope: 'authOnly' } }),
  'list-apikeys': () => ({ query: { scope: 'fullAccess', searchKey: 't' } }),
  'get-apikey': (ids) => ({ params: { apiKey: ids.apiKey } }),
  'update-apikey': (ids) => ({ params: { apiKey: ids.apiKey }, body: { name: 'Other', scope: 'fullAccess' } }),
  'delete-apikey': (ids) => ({ params: { apiKey: ids.apiKey } }),

  'create-authtoken': (ids) => ({ ...uid(ids), body: { platform: 'WEB', userAgent: 'test', appInfo: { a: 1 } } }),
  'list-authtokens': uid,
  'flush-authtokens': uid,
  'get-authtoken': (ids) => ({ params: { uid: ids.alice, authToken: ids.authToken } }),
  'update-authtoken': (ids) => ({
    params: { uid: ids.alice, authToken: ids.authToken },
    body: { platform: 'IOS', userAgent: 'test', appInfo: { a: 1 } },
  }),
  'delete-authtoken': (ids) => ({ params: { uid: ids.alice, authToken: ids.authToken } }),

  'create-user': (ids) => ({
    body: {
      uid: `${ids.alice}-2`,
      name: 'Alice Two',
      avatar: 'https://img.example.com/a.png',
      link: 'https://example.com/a',
      role: 'default',
      statusMessage: 'here',
      metadata: { a: 1, '@private': { b: 2 } },
      tags: ['x'],
      withAuthToken: true,
    },
  }),
  'list-users': () => ({ query: { withTags: '1', perPage: '3' } }),
  'get-user': (ids) => ({ params: { uid: ids.bob }, as: ids.alice }),
  'update-user': (ids) => ({
    ...uid(ids),
    body: {
      name: 'Alice B',
      avatar: 'https://img.example.com/b.png',
      metadata: { a: 2 },
      tags: ['y'],
      unset: ['link'],
    },
  }),
  'delete-user': (ids) => ({ ...uid(ids), body: { permanent: true } }),
  'deactivate-users': (ids) => ({ body: { uidsToDeactivate: [ids.bob] } }),
  'reactivate-users': (ids) => ({ body: { uidsToActivate: [ids.erin, ids.bob] } }),

  'create-group': (ids) => ({
    as: ids.alice,
    body: {
      guid: `${ids.team}-2`,
      name: 'Team Two',
      type: 'password',
      password: 'secret',
      icon: 'https://img.example.com/t.png',
      description: 'about',
      metadata: { a: 1 },
      tags: ['x'],
      members: { admins: [ids.carol], participants: [ids.bob], usersToBan: [ids.dave] },
    },
  }),
  'list-groups': (ids) => ({ as: ids.alice, query: { withTags: '1', searchKey: 't' } }),
  'get-group': aboutTeam,
  'update-group': (ids) => ({
    ...aboutTeam(ids),
    body: { name: 'Crew', metadata: { a: 1 }, tags: ['x'], unset: ['icon'] },
  }),
  'delete-group': guid,
  'pass-on-group-ownership': (ids) => ({ ...guid(ids), body: { owner: ids.bob } }),
  'add-group-members': (ids) => ({ ...aboutTeam(ids), body: { participants: [ids.carol], usersToBan: [ids.bob] } }),
  'put-group-members': (ids) => ({ ...guid(ids), body: { participants: [ids.carol], admins: [] } }),
  'leave-group': (ids) => ({ ...guid(ids), as: ids.bob }),
  'list-group-members': aboutTeam,
  'change-group-member-scope': (ids) => ({ params: inTeam(ids), body: { scope: 'moderator' } }),
  'kick-group-member': (ids) => ({ params: inTeam(ids) }),
  'ban-group-user': (ids) => ({ params: { guid: ids.team, uid: ids.carol } }),
  'unban-group-user': (ids) => ({ params: { guid: ids.team, uid: ids.dave } }),
  'list-banned-group-users': aboutTeam,

  'list-scope-permissions': (ids) => ({ params: scope(ids) }),
  'set-scope-permissions': (ids) => ({
    params: scope(ids),
    body: { permissions: { sendMessage: 'deny', 'listMembers.allowedScopes': ['participant'], nonsense: 'allow' } },
  }),
  'unset-scope-permissions': (ids) => ({ params: { ...scope(ids), permission: 'sendMessage' } }),

  'send-message': (ids) => ({
    as: ids.alice,
    body: {
      ...text(ids.bob, 'user'),
      category: 'message',
      type: 'text',
      muid: 'sample',
      tags: ['x'],
      quotedMessageId: ids.messageId,
    },
  }),
  'list-all-messages': (ids) => ({ as: ids.alice, query: { affix: 'prepend', withTags: '1' } }),
  'user-list-user-messages': aboutBob,
  'user-list-group-messages': aboutTeam,
  'get-message-details': onMessage,
  'update-message': (ids) => ({ params: { id: ids.messageId }, as: ids.bob, body: { data: { text: 'better' } } }),
  'delete-message': (ids) => ({ params: { id: ids.groupMessageId }, as: ids.alice }),

  'pin-message': onMessage,
  'unpin-message': (ids) => ({ params: { id: ids.messageId } }),
  'save-message': onMessage,
  'unsave-message': onMessage,
  'mark-message-as-interacted': (ids) => ({
    params: { id: ids.interactiveId },
    as: ids.alice,
    body: { interactions: ['ok'] },
  }),
  'send-bot-message': (ids) => ({ params: { uid: ids.helper }, body: text(ids.bob, 'user') }),

  'list-all-conversations': (ids) => ({ as: ids.alice, query: { withTags: '1', withBlockedInfo: '1' } }),
  'get-conversation': (ids) => ({ params: { conversationId: ids.conversationId }, as: ids.alice }),
  'update-user-conversation': (ids) => ({ ...aboutBob(ids), body: { tags: ['x'] } }),
  'update-group-conversation': (ids) => ({ ...aboutTeam(ids), body: { tags: ['x'] } }),
  'reset-user-conversation': (ids) => ({
    ...aboutBob(ids),
    body: { deleteMessagesPermanently: true, preserveOrder: true },
  }),
  'reset-group-conversation': (ids) => ({ ...aboutTeam(ids), body: { preserveOrder: true } }),
  'delete-conversation': (ids) => ({ params: { conversationId: ids.conversationId }, as: ids.alice }),
  'list-global-pinned-conversations': () => ({}),
  'replace-global-pinned-conversations': (ids) => ({
    body: { pinnedConversations: [{ uid: ids.bob }, { guid: ids.team }] },
  }),
  'pin-user-conversation': aboutBob,
  'unpin-user-conversation': aboutBob,
  'pin-group-conversation': aboutTeam,
  'unpin-group-conversation': aboutTeam,
  'get-user-conversations': aboutBob,
  'get-group-conversations': aboutTeam,
  'mark-conversation-as-delivered': (ids) => ({ ...aboutBob(ids), body: { messageId: ids.messageId } }),
  'mark-conversation-as-read': (ids) => ({ ...aboutBob(ids), body: { messageId: ids.messageId } }),
  'mark-conversation-as-unread': (ids) => ({ ...aboutBob(ids), body: { messageId: ids.messageId } }),
  'mark-group-conversation-as-delivered': (ids) => ({ ...aboutTeam(ids), body: { messageId: ids.groupMessageId } }),
  'mark-group-conversation-as-read': (ids) => ({ ...aboutTeam(ids), body: { messageId: ids.groupMessageId } }),
  'mark-group-conversation-as-unread': (ids) => ({ ...aboutTeam(ids), body: { messageId: ids.groupMessageId } }),

  'block-users': (ids) => ({ ...uid(ids), body: { blockedUids: [ids.bob, ids.carol] } }),
  'unblock-users': (ids) => ({ ...uid(ids), body: { blockedUids: [ids.bob] } }),
  'list-blocked-users': (ids) => ({ ...uid(ids), query: { direction: 'both' } }),
  'block-users-as-me': (ids) => ({ as: ids.alice, body: { blockedUids: [ids.bob] } }),
  'unblock-users-as-me': (ids) => ({ as: ids.alice, body: { blockedUids: [ids.bob] } }),
  'list-users-blocked-by-me': (ids) => ({ as: ids.alice, query: { direction: 'both' } }),

  'add-friend': (ids) => ({ ...uid(ids), body: { accepted: [ids.bob], addToConversations: true } }),
  'list-all-friends': uid,
  'remove-friend': (ids) => ({ ...uid(ids), body: { friends: [ids.carol] } }),
  'list-my-friends': (ids) => ({ as: ids.alice }),

  'list-events': () => ({ query: { after: '0', limit: '10', triggers: 'message_sent' } }),

  'import-users': (ids) => ({
    body: { users: { [`${ids.alice}-3`]: { uid: `${ids.alice}-3`, name: 'Alice Three', createdAt: 1_700_000_000 } } },
  }),
  'import-groups': (ids) => ({
    body: { groups: { [`${ids.team}-3`]: { guid: `${ids.team}-3`, name: 'Third', type: 'public', owner: ids.bob } } },
  }),
  'import-members': (ids) => ({
    body: {
      members: [{ memberId: `${ids.team}_member_${ids.carol}`, guid: ids.team, uid: ids.carol, scope: 'participant' }],
    },
  }),
  'import-messages': (ids) => ({
    body: {
      messages: {
        first: {
          muid: 'first',
          sender: ids.bob,
          ...text(ids.alice, 'user'),
          category: 'message',
          type: 'text',
          sentAt: 1_700_000_000,
        },
      },
    },
  }),

  'update-me': (ids) => ({
    token: ids.authToken,
    body: {
      name: 'Alice C',
      platform: 'WEB',
      deviceId: 'd',
      appInfo: { version: '1' },
      metadata: { a: 3 },
      tags: ['z'],
    },
  }),
  'get-me': (ids) => ({ as: ids.alice }),
  'log-out': (ids) => ({ token: ids.authToken }),
  'get-settings': () => ({}),
  'record-user-session': () => ({ body: { anything: 1 } }),

  'list-all-reactions': onMessage,
  'get-message-reactions': reaction,
  'add-message-reactions': (ids) => ({ params: { id: ids.messageId, reaction: '🎉' }, as: ids.bob }),
  'remove-message-reactions': reaction,

  'send-thread-message': (ids) => ({
    ...onMessage(ids),
    body: { ...text(ids.bob, 'user'), muid: 'reply', tags: ['x'] },
  }),
  'list-all-thread-messages': onMessage,
  'list-all-threads': (ids) => ({ as: ids.alice, query: { withUnreadReplyCount: '1', withMentionCount: '1' } }),
  'list-user-threads': aboutBob,
  'list-group-threads': aboutTeam,
  'subscribe-thread': onMessage,
  'unsubscribe-thread': onMessage,

  'create-role': (ids) => ({
    body: { role: `${ids.role}-2`, name: 'Second', description: 'about', metadata: { a: 1 }, settings: { b: 2 } },
  }),
  'list-roles': () => ({ query: { perPage: '2' } }),
  'get-role': role,
  'update-role': (ids) => ({
    ...role(ids),
    body: { name: 'Other', description: 'about', settings: { b: 2 }, unset: ['metadata'] },
  }),
  'delete-role': role,
  'list-role-permissions': role,
  'set-role-permissions': (ids) => ({
    ...role(ids),
    body: { permissions: { sendMessage: 'deny', nonsense: 'allow' } },
  }),
  'unset-role-permissions': (ids) => ({ params: { role: ids.role, permission: 'sendMessage' } }),
  'restrict-features': (ids) => ({ ...role(ids), body: { featuresToRestrict: ['listGroups', 'nonsense'] } }),
  'get-restrictedfeatures': role,
  'allow-features': (ids) => ({ ...role(ids), body: { featuresToAllow: ['u.createGroup'] } }),

  'get-app-settings': app,
  'update-app-settings': (ids) => ({ ...app(ids), body: { maxRoles: 30 } }),
  'create-webhook': (ids) => ({ ...app(ids), ...newWebhook(ids) }),
  'list-webhooks': app,
  'get-webhook': webhookInApp,
  'update-webhook': (ids) => ({ ...webhookInApp(ids), body: { name: 'Other', retryOnFailure: true } }),
  'delete-webhook': webhookInApp,
  'add-triggers': (ids) => ({ ...webhookInApp(ids), ...triggerIds('message_edited', 'nonsense') }),
  'list-triggers': webhookInApp,
  'remove-triggers': (ids) => ({ ...webhookInApp(ids), ...triggerIds('message_sent') }),
  'create-webhook-here': (ids) => ({ ...newWebhook(ids) }),
  'list-webhooks-here': () => ({ query: { searchKey: 'hook', perPage: '2' } }),
  'get-webhook-here': webhook,
  'update-webhook-here': (ids) => ({ ...webhook(ids), body: { useBasicAuth: true, username: 'u', password: 'p' } }),
  'delete-webhook-here': webhook,
  'add-triggers-here': (ids) => ({ ...webhook(ids), ...triggerIds('message_edited', 'before_message') }),
  'list-triggers-here': webhook,
  'remove-triggers-here': (ids) => ({ ...webhook(ids), ...triggerIds('message_sent') }),
  'list-all-triggers': () => ({}),
  'renew-webhook-secret': (ids) => ({ ...webhook(ids), body: { oldValidForSeconds: 60 } }),
  'test-webhook': webhook,
  'list-deliveries': (ids) => ({ ...webhook(ids), query: { status: 'failed', from: '0', limit: '1' } }),
  'redeliver-delivery': (ids) => ({ params: { webhookId: ids.webhook, deliveryId: ids.deliveryId } }),
  'redeliver-deliveries': (ids) => ({ ...webhook(ids), body: { status: 'failed', from: 0 } }),
}
