import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { sql } from 'kysely'
import { contact, sendGridAccount, twilioAccount } from '../support/notifications.ts'
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
  /** A device of alice, registered with that token. */
  readonly pushToken: string
  /** A provider of FCM, and one of APNs. */
  readonly provider: string
  /** To that webhook; it failed. */
  readonly deliveryId: string
  /** An entry of the log of notifications. */
  readonly logId: string
  /** A rule of moderation, which is off, a list, and a reason for flagging. */
  readonly rule: string
  readonly list: string
  readonly reason: string
  /** From dave to bob, who has flagged it. */
  readonly flaggedId: string
  /** Likewise, and a reviewer has blocked it. */
  readonly blockedId: string
  /** A note beside the flagged one. */
  readonly noteId: string
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

/** Things of the world that samples of chat leave alone. */
const nothing = { webhook: '', pushToken: '', provider: '', deliveryId: '', logId: '' }

/** Of somebody who was erased. */
export const erasedUid = 'gone'

/** Makes a world in which every sample of chat succeeds: what lies beside it, such as webhooks, is a third of the whole. */
export async function furnishChat(world: World): Promise<Ids> {
  const make = (path: string) => (body: object) => ok(world.post(path, body))
  const named = (uid: string, role?: string) => ({
    uid,
    name: uid.charAt(0).toUpperCase() + uid.slice(1),
    ...(role && { role }),
  })
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
    ok(world.post('/me/export', {}, { as: 'alice' })),
    ok(world.put('/retention/users/alice/hold', {})),
    ok(world.put('/retention/conversations/group_team/hold', {})),
    ok(world.put('/conversations/pinned', { pinnedConversations: [{ uid: 'carol' }] })),
  ])
  await ok(world.post('/users', { uid: erasedUid, name: 'Gone' }))
  await ok(world.delete(`/users/${erasedUid}`, { permanent: true }))
  await ok(world.post('/moderation/reasons', { id: 'off-topic', name: 'Off topic' }))
  await ok(world.post('/moderation/keywords', { id: 'insults', name: 'Insults', ...words }))
  await ok(world.post('/moderation/rules', { id: 'no-insults', mode: 'off', ...insults }))
  const flagged = await ok(world.post('/messages', text('bob', 'user'), { as: 'dave' }))
  const blocked = await ok(world.post('/messages', text('bob', 'user'), { as: 'dave' }))
  const note = await ok(world.post(`/moderation/messages/${flagged.id}/notes`, { text: 'seen', author: 'rita' }))
  for (const { id } of [flagged, blocked]) {
    await ok(world.post(`/messages/${id}/flagged`, { reasonId: 'spam', remark: 'again' }, { as: 'bob' }))
  }
  await ok(world.call('PATCH', `/moderation/flagged-messages/${blocked.id}`, { status: 'disapproved' }))
  await world.context.database.run(sql`
    with run as (
      insert into moderation_dry_runs (app_id, rule_id, run, definition, from_at, to_at, share, status, position_at, position_id,
        began_at, looked, hits, created_at, finished_at)
      select app_id, rule_id, gen_random_uuid(), json_build_object('rule', json_build_object('revision', 1, 'conditions',
        '[]'::json), 'lists', '[]'::json), 1, 2, 1, 'done', 2, 1, 1, 1, 1, 1, 2
      from moderation_rule_revisions
      where app_id = ${world.app.appId}
      and rule_id = 'no-insults'
      returning app_id, rule_id
    )
    insert into moderation_dry_run_examples (app_id, rule_id, message, sender, rank, condition, found_in, start, length)
    select app_id, rule_id, ${first.id}, 'bob', 0, 1, 'text', 0, 5
    from run`)
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
    rule: 'no-insults',
    list: 'insults',
    reason: 'off-topic',
    flaggedId: flagged.id,
    blockedId: blocked.id,
    noteId: note.id,
    ...nothing,
  }
}

/** Makes a world in which every sample succeeds. */
export async function furnish(world: World): Promise<Ids> {
  const ids = await furnishChat(world)
  await Promise.all([
    ok(world.post('/notifications/push/v1/providers/custom', customProvider)),
    ok(world.post('/notifications/sms/v1/providers/custom', { ...customProvider, useStoredPhNo: true })),
    ok(world.post('/notifications/email/v1/providers/custom', { ...customProvider, useStoredEmailID: true })),
    ok(world.post('/notifications/sms/v1/providers/twilio', twilioProvider)),
    ok(world.post('/notifications/email/v1/providers/sendgrid', sendGridProvider)),
    ok(world.put('/notifications/email/v1/providers/smtp', { isEnabled: false })),
    ok(contact(world, 'bob', { email: 'bob@example.com' })),
    ok(world.post('/notifications/push/v1/providers/fcm', { providerId: 'phones', ...fcmProvider })),
    ok(world.post('/notifications/push/v1/providers/apns', { providerId: 'phones', ...apnsProvider })),
    ok(world.put('/notifications/push/v1/providers/web_push', { isEnabled: true })),
    ok(world.post('/webhooks', { id: 'our-hook', name: 'Hook', webhookURL: nobodyListens, ...disabled })),
  ])
  const device = { platform: 'fcm_android', fcmToken: 'alice-device', authToken: ids.authToken }
  await ok(world.post('/notifications/push/v1/tokens', device))
  const delivery = await ok(world.post('/webhooks/our-hook/test'))
  const [log] = await world.context.database.run<{ id: number }>(sql`
    insert into notification_deliveries (app_id, uid, channel, provider_kind, provider_id, provider, trigger, event, kind,
      receiver, status, reason, gates, expires_at, created_at, ended_at)
    select p.app_id, 'bob', 'push', p.kind, p.id, p.key, 'after_message', 1, 1, 'bob', 'stopped', 'DND_PREFERENCE', '[]', 1,
      ${Date.now()}::bigint, ${Date.now()}::bigint
    from notification_providers p
    where p.app_id = ${world.app.appId}
    and p.channel = 'push'
    and p.kind = 'custom'
    returning id`)
  return {
    ...ids,
    pushToken: 'alice-device',
    provider: 'phones',
    webhook: 'our-hook',
    deliveryId: delivery.id,
    logId: String(log?.id),
  }
}

export const words = { category: 'word', searchTerms: 'darn, heck' }
export const insults = {
  name: 'Insults',
  conditions: [{ operand: 'text', category: 'word', value: ['darn'] }],
}

async function ok(request: Promise<Answer>) {
  const answer = await request
  if (answer.status !== 200) throw new Error(`the world could not be furnished: ${JSON.stringify(answer.body)}`)
  return answer.body.data
}

const text = (receiver: string, receiverType: 'user' | 'group') => ({
  receiver,
  receiverType,
  data: { text: 'Hello! Shall we meet at six?' },
})
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

const notified = (ids: Ids) => ({ query: { uid: ids.bob } })
const chosen = {
  groupPreferences: { groupMessages: 3 },
  mutePreferences: { dnd: 2, schedule: { sunday: { dnd: true } } },
  usePrivacyTemplate: true,
}
const pem = { type: 'pkcs8', format: 'pem' } as const
const keyOf = (key: KeyObject) => key.export(pem) as string
export const fcmProvider = {
  serviceAccountFilename: 'account.json',
  serviceAccountCreds: {
    ...{ project_id: 'project', client_email: 'push@example.com', private_key_id: 'k1' },
    private_key: keyOf(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey),
  },
  notificationInPayload: { android: { chat: true } },
}
const apnsProvider = {
  ...{ keyId: 'ABCDEFGHIJ', teamId: 'KLMNOPQRST', bundleId: 'com.example.app', p8KeyFilename: 'key.p8' },
  p8Key: keyOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
}
/** The keys are those of the example in RFC 8291. */
const subscription = {
  endpoint: 'http://127.0.0.1:9/push/browser',
  keys: {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  },
}
const provider = (ids: Ids) => ({ params: { providerId: ids.provider } })
const rule = (ids: Ids) => ({ params: { ruleId: ids.rule } })
const list = (ids: Ids) => ({ params: { keywordId: ids.list } })
const reason = (ids: Ids) => ({ params: { id: ids.reason } })
const ofLogin = (ids: Ids) => ({ body: { authToken: ids.authToken } })
const customProvider = {
  ...{ isEnabled: false, webhookURL: nobodyListens, useBasicAuth: true },
  ...{ basicAuthUsername: 'hook', basicAuthPassword: 'a-secret-word' },
}
const twilioProvider = { ...twilioAccount, isEnabled: false }
const sendGridProvider = { ...sendGridAccount, isEnabled: false }
const muted = (ids: Ids, extra: object = {}) => ({ conversations: [{ id: ids.team, type: 'group', ...extra }] })

/** One for every operation that is served, by operation id. */
export const samples: Readonly<Record<string, (ids: Ids) => Sample>> = {
  'create-apikey': () => ({ body: { name: 'Staging', scope: 'authOnly' } }),
  'list-apikeys': () => ({ query: { scope: 'fullAccess', searchKey: 't' } }),
  'get-apikey': (ids) => ({ params: { apiKey: ids.apiKey } }),
  'update-apikey': (ids) => ({ params: { apiKey: ids.apiKey }, body: { name: 'Other', scope: 'fullAccess' } }),
  'delete-apikey': (ids) => ({ params: { apiKey: ids.apiKey } }),

  'create-authtoken': (ids) => ({
    ...uid(ids),
    body: { platform: 'WEB', userAgent: 'Firefox', appInfo: { version: '2.1' } },
  }),
  'list-authtokens': uid,
  'flush-authtokens': uid,
  'get-authtoken': (ids) => ({ params: { uid: ids.alice, authToken: ids.authToken } }),
  'update-authtoken': (ids) => ({
    params: { uid: ids.alice, authToken: ids.authToken },
    body: { platform: 'IOS', userAgent: 'Our app', appInfo: { version: '2.1' } },
  }),
  'delete-authtoken': (ids) => ({ params: { uid: ids.alice, authToken: ids.authToken } }),

  'create-user': (ids) => ({
    body: {
      uid: `${ids.alice}-2`,
      name: 'Alice Two',
      avatar: 'https://img.example.com/a.png',
      link: 'https://example.com/a',
      role: 'default',
      statusMessage: 'On holiday',
      metadata: { city: 'Oslo', '@private': { plan: 'gold' } },
      tags: ['staff'],
      withAuthToken: true,
    },
  }),
  'count-online-members': () => ({ body: { groups: ['team', 'nothing'] } }),
  'list-users': () => ({ query: { withTags: '1', perPage: '3' } }),
  'get-user': (ids) => ({ params: { uid: ids.bob }, as: ids.alice }),
  'update-user': (ids) => ({
    ...uid(ids),
    body: {
      name: 'Alice B',
      avatar: 'https://img.example.com/b.png',
      metadata: { city: 'Bergen' },
      tags: ['staff'],
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
      description: 'All who work on it',
      metadata: { floor: 3 },
      tags: ['work'],
      members: { admins: [ids.carol], participants: [ids.bob], usersToBan: [ids.dave] },
    },
  }),
  'list-groups': (ids) => ({ as: ids.alice, query: { withTags: '1', searchKey: 't' } }),
  'get-group': aboutTeam,
  'update-group': (ids) => ({
    ...aboutTeam(ids),
    body: { name: 'Crew', metadata: { floor: 4 }, tags: ['work'], unset: ['icon'] },
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

  'list-scope-permissions': (ids) => ({ params: scope(ids), query: { perPage: '3' } }),
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
      muid: '5f0c1a52-sample',
      tags: ['plans'],
      quotedMessageId: ids.messageId,
    },
  }),
  'create-upload-addresses': (ids) => ({
    as: ids.alice,
    body: {
      files: { f1: { fileId: 'f1', name: 'cat.png', size: 10, mimeType: 'image/png' } },
      receiver: ids.bob,
      receiverType: 'user',
      parentMessageId: ids.messageId,
    },
  }),
  'list-all-messages': (ids) => ({ as: ids.alice, query: { affix: 'prepend', withTags: '1' } }),
  'user-list-user-messages': aboutBob,
  'user-list-group-messages': aboutTeam,
  'get-message-details': onMessage,
  'update-message': (ids) => ({
    params: { id: ids.messageId },
    as: ids.bob,
    body: { data: { text: 'Hello! Shall we meet at seven?' } },
  }),
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
  'update-user-conversation': (ids) => ({ ...aboutBob(ids), body: { tags: ['customers'] } }),
  'update-group-conversation': (ids) => ({ ...aboutTeam(ids), body: { tags: ['customers'] } }),
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
  'import-records': (ids) => ({
    body: { records: [{ kind: 'block', uid: ids.carol, blocked: ids.dave, blockedAt: 1_700_000_000 }] },
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
      deviceId: 'phone-1',
      appInfo: { version: '2.1' },
      metadata: { city: 'Oslo' },
      tags: ['staff'],
    },
  }),
  'get-me': (ids) => ({ as: ids.alice }),
  'list-my-events': (ids) => ({ as: ids.alice }),
  'log-out': (ids) => ({ token: ids.authToken }),
  'list-user-erasures': () => ({ params: { uid: 'gone' } }),
  'ask-for-export': (ids) => ({ as: ids.bob, body: {} }),
  'release-user-export': (ids) => ({ params: { uid: ids.alice }, body: {} }),
  'get-user-export': (ids) => ({ params: { uid: ids.alice }, query: { limit: '2' } }),
  'get-settings': () => ({}),
  'record-user-session': () => ({ body: { sessionId: '5f0c1a54' } }),

  'list-all-reactions': onMessage,
  'get-message-reactions': reaction,
  'add-message-reactions': (ids) => ({ params: { id: ids.messageId, reaction: '🎉' }, as: ids.bob }),
  'remove-message-reactions': reaction,

  'send-thread-message': (ids) => ({
    ...onMessage(ids),
    body: { ...text(ids.bob, 'user'), muid: '5f0c1a53-reply', tags: ['plans'] },
  }),
  'list-all-thread-messages': onMessage,
  'list-all-threads': (ids) => ({ as: ids.alice, query: { withUnreadReplyCount: '1', withMentionCount: '1' } }),
  'list-user-threads': aboutBob,
  'list-group-threads': aboutTeam,
  'subscribe-thread': onMessage,
  'unsubscribe-thread': onMessage,

  'create-role': (ids) => ({
    body: {
      role: `${ids.role}-2`,
      name: 'Reviewers',
      description: 'They look at flagged messages',
      metadata: { floor: 3 },
      settings: { sendMessagesTo: 'friendsOnly' },
    },
  }),
  'list-roles': () => ({ query: { perPage: '2' } }),
  'get-role': role,
  'update-role': (ids) => ({
    ...role(ids),
    body: { name: 'Editors', description: 'They write', settings: { listUsers: 'friendsOnly' }, unset: ['metadata'] },
  }),
  'delete-role': role,
  'list-role-permissions': (ids) => ({ ...role(ids), query: { perPage: '3' } }),
  'set-role-permissions': (ids) => ({
    ...role(ids),
    body: { permissions: { sendMessage: 'deny', nonsense: 'allow' } },
  }),
  'unset-role-permissions': (ids) => ({ params: { role: ids.role, permission: 'sendMessage' } }),
  'restrict-features': (ids) => ({ ...role(ids), body: { featuresToRestrict: ['listGroups', 'nonsense'] } }),
  'get-restrictedfeatures': role,
  'allow-features': (ids) => ({ ...role(ids), body: { featuresToAllow: ['u.createGroup'] } }),

  'usage-metrics': () => ({ query: { fromDate: '1700000000', toDate: '1702000000' } }),
  'message-receipt-metrics': () => ({}),
  'list-daily-stats': () => ({ query: { fromDate: '1700000000', toDate: '1700100000' } }),
  'list-audit-log': () => ({ query: { targetType: 'app', limit: '1' } }),
  'get-group-retention': (ids) => ({ params: { guid: ids.team } }),
  'set-group-retention': (ids) => ({ params: { guid: ids.team }, body: { days: 365, mode: 'strip' } }),
  'unset-group-retention': (ids) => ({ params: { guid: ids.team } }),
  'list-holds': () => ({}),
  'hold-user': (ids) => ({ params: { uid: ids.bob }, body: { note: 'a claim' } }),
  'lift-hold-of-user': (ids) => ({ params: { uid: ids.alice } }),
  'hold-conversation': (ids) => ({ params: { conversationId: ids.conversationId }, body: {} }),
  'lift-hold-of-conversation': (ids) => ({ params: { conversationId: `group_${ids.team}` } }),
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
  'list-features': () => ({}),
  'renew-webhook-secret': (ids) => ({ ...webhook(ids), body: { oldValidForSeconds: 60 } }),
  'test-webhook': webhook,
  'notifications-push-list-settings': () => ({}),
  'notifications-push-update-settings': () => ({
    body: {
      preferences: {
        group: { messagesSetting: 3, messagesOverride: false },
        mute: { schedulePreferenceSetting: { monday: { from: 900, to: 1700, dnd: false } } },
        push: { customJson: { a: [1] } },
      },
      sound: { chat: 'bell.wav' },
      templates: { usePrivacyTemplate: 1, textMessageTemplateDefault: { body: 'Says: {{message.data.text}}' } },
    },
  }),
  'notifications-push-reset-settings': () => ({}),
  'notifications-push-list-preferences': notified,
  'notifications-push-update-preferences': (ids) => ({ ...notified(ids), body: chosen }),
  'notifications-push-reset-preferences': notified,
  'get-own-notification-preferences': (ids) => ({ as: ids.bob }),
  'update-own-notification-preferences': (ids) => ({ as: ids.bob, body: chosen }),
  'reset-own-notification-preferences': (ids) => ({ as: ids.bob }),
  'notifications-push-list-muted': notified,
  'notifications-push-mute-conversations': (ids) => ({ ...notified(ids), body: muted(ids, { until: 4e12 }) }),
  'notifications-push-unmute-conversations': (ids) => ({ ...notified(ids), body: muted(ids) }),
  'list-own-muted-conversations': (ids) => ({ as: ids.bob }),
  'mute-own-conversations': (ids) => ({ as: ids.bob, body: muted(ids, { until: 4e12 }) }),
  'unmute-own-conversations': (ids) => ({ as: ids.bob, body: muted(ids) }),
  'notifications-get-timezone': notified,
  'create-reason': (ids) => ({ body: { id: `${ids.reason}2`, name: 'Rude' } }),
  'list-reasons': () => ({}),
  'get-reason-details': reason,
  'update-reason-details': (ids) => ({ ...reason(ids), body: { name: 'Beside the point' } }),
  'delete-reason': reason,
  'create-rule-keyword': (ids) => ({ body: { id: `${ids.list}2`, name: 'Names', ...words } }),
  'list-rule-keywords': () => ({ query: { limit: '1' } }),
  'get-rule-keyword': list,
  'update-rule-keyword': (ids) => ({ ...list(ids), body: { searchTerms: ['darn'] } }),
  'delete-rule-keyword': list,
  'list-keyword-revisions': list,
  'get-keyword-revision': (ids) => ({ params: { keywordId: ids.list, revisionId: `${ids.appId}_${ids.list}_1` } }),
  'create-rule': (ids) => ({ body: { id: `${ids.rule}2`, ...insults } }),
  'list-rules': () => ({}),
  'get-rule': rule,
  'update-rule': (ids) => ({ ...rule(ids), body: { enabled: true } }),
  'delete-rule': rule,
  'list-rule-revisions': rule,
  'test-rule': (ids) => ({ ...rule(ids), body: { texts: ['darn it'] } }),
  'start-dry-run': (ids) => ({ ...rule(ids), body: { from: 1, to: 2 } }),
  'get-dry-run': rule,
  'stop-dry-run': rule,
  'label-dry-run-example': (ids) => ({
    params: { ruleId: ids.rule, messageId: ids.messageId },
    body: { label: 'right' },
  }),
  'notifications-list-push-custom-provider': () => ({}),
  'notifications-save-push-custom-provider': () => ({ body: customProvider }),
  'notifications-update-push-custom-provider': () => ({ body: { isEnabled: false } }),
  'notifications-delete-push-custom-provider': () => ({}),
  'test-custom-push-provider': () => ({}),
  'renew-custom-push-secret': () => ({}),
  'notifications-get-contact-details': (ids) => ({ as: ids.bob }),
  'notifications-update-contact-details': (ids) => ({ as: ids.bob, body: { phno: '+15550101' } }),
  'notifications-delete-contact-details': (ids) => ({ as: ids.bob }),
  'list-unsubscriptions': (ids) => ({ as: ids.bob }),
  'delete-unsubscriptions': (ids) => ({ as: ids.bob, query: { channel: 'email' } }),
  'notifications-sms-list-twilio-details': () => ({}),
  'notifications-sms-save-twilio-details': () => ({ body: twilioProvider }),
  'notifications-sms-update-twilio-details': () => ({ body: { twilioSenderPhoneNumber: 'Team' } }),
  'notifications-sms-delete-twilio-details': () => ({}),
  'test-twilio-provider': () => ({ body: { phno: '+15550101' } }),
  'test-sendgrid-provider': () => ({ body: { email: 'bob@example.com' } }),
  'test-custom-sms-provider': () => ({ body: { phno: '+15550101' } }),
  'test-custom-email-provider': () => ({ body: {} }),
  'get-smtp-provider': () => ({}),
  'update-smtp-provider': () => ({ body: { isEnabled: true } }),
  'delete-smtp-provider': () => ({}),
  'test-smtp-provider': () => ({ body: { email: 'bob@example.com' } }),
  'notifications-email-list-sendgrid-details': () => ({}),
  'notifications-email-save-sendgrid-details': () => ({ body: sendGridProvider }),
  'notifications-email-update-sendgrid-details': () => ({ body: { senderName: 'Others' } }),
  'notifications-email-delete-sendgrid-details': () => ({}),
  'renew-replies-webhook': () => ({}),
  'notifications-list-sms-custom-provider': () => ({}),
  'notifications-save-sms-custom-provider': () => ({ body: customProvider }),
  'notifications-update-sms-custom-provider': () => ({ body: { useStoredPhNo: false } }),
  'notifications-delete-sms-custom-provider': () => ({}),
  'renew-custom-sms-secret': () => ({}),
  'notifications-list-email-custom-provider': () => ({}),
  'notifications-save-email-custom-provider': () => ({ body: { ...customProvider, useStoredEmailID: false } }),
  'notifications-update-email-custom-provider': () => ({ body: { useStoredEmailID: false } }),
  'notifications-delete-email-custom-provider': () => ({}),
  'renew-custom-email-secret': () => ({}),
  'notifications-push-list-fcm-providers': () => ({}),
  'notifications-push-add-fcm-provider': (ids) => ({ body: { providerId: `${ids.provider}-2`, ...fcmProvider } }),
  'notifications-push-update-fcm-provider': (ids) => ({
    body: { providerId: ids.provider, notificationInPayload: { web: { chat: true } } },
  }),
  'notifications-push-delete-fcm-provider': provider,
  'notifications-push-default-fcm-provider': provider,
  'test-fcm-provider': (ids) => ({ ...provider(ids), body: { pushToken: 'some-device' } }),
  'notifications-push-list-apns-providers': () => ({}),
  'notifications-push-add-apns-provider': (ids) => ({ body: { providerId: `${ids.provider}-2`, ...apnsProvider } }),
  'notifications-push-update-apns-provider': (ids) => ({ body: { providerId: ids.provider, productionMode: true } }),
  'notifications-push-delete-apns-provider': provider,
  'notifications-push-default-apns-provider': provider,
  'test-apns-provider': (ids) => ({ ...provider(ids), body: { pushToken: 'abcdef' } }),
  'get-vapid-key': () => ({}),
  'get-web-push-provider': () => ({}),
  'update-web-push-provider': () => ({ body: { isEnabled: false } }),
  'delete-web-push-provider': () => ({}),
  'test-web-push-provider': () => ({ body: { subscription } }),
  'notifications-push-register-token': (ids) => ({
    body: {
      ...{ platform: 'fcm_web', fcmToken: 'browser', authToken: ids.authToken, timezone: 'Europe/Oslo' },
      // Of no use to FCM, but what is in it is checked.
      subscription,
    },
  }),
  'notifications-push-list-tokens': (ids) => ({ query: { all: '1', authToken: ids.authToken } }),
  'notifications-push-unregister-tokens': ofLogin,
  'notifications-push-delete-token': (ids) => ({ params: { pushToken: ids.pushToken }, ...ofLogin(ids) }),
  'explain-notification': (ids) => ({ query: { uid: ids.alice, messageId: ids.messageId } }),
  'preview-notification': (ids) => ({
    body: { sender: ids.bob, receiver: ids.alice, receiverType: 'user', data: { text: 'hello' } },
  }),
  'notifications-logs': () => ({ query: { channel: 'push', limit: '5', from: '0' } }),
  'notifications-update-timezone': (ids) => ({ ...notified(ids), body: { timezone: 'Europe/Oslo' } }),

  'get-moderation-engines': () => ({}),
  'update-custom-api-engine': () => ({ body: { onError: 'drop-message', contextMessages: 3 } }),
  'update-llm-engine': () => ({
    body: { url: 'https://192.0.2.20/v1', model: 'small', apiKey: 'secret', contextMessages: 2 },
  }),
  'delete-llm-engine': () => ({}),
  'update-labels-engine': () => ({ body: { url: 'https://192.0.2.20/labels' } }),
  'delete-labels-engine': () => ({}),

  'flag-a-message': (ids) => ({ ...onMessage(ids), body: { id: 'spam', remark: 'again and again' } }),
  'list-flagged-messages': () => ({ query: { limit: '5' } }),
  'blockreview-flagged-message': (ids) => ({ params: { id: ids.flaggedId }, body: { status: 'approved' } }),
  'review-flagged-messages': (ids) => ({
    body: { ids: [ids.flaggedId], status: 'disapproved', reviewedBy: 'rita' },
  }),
  'list-reviewed-messages': () => ({ query: { limit: '5', decision: 'disapproved' } }),
  'list-moderation-blocked-messages': () => ({ query: { reviewed: 'true' } }),
  'review-blocked-message': (ids) => ({ params: { id: ids.blockedId }, body: { status: 'approved', reviewed: true } }),
  'review-blocked-messages': (ids) => ({ body: { ids: [ids.blockedId], status: 'approved', asNew: false } }),
  'claim-moderated-messages': () => ({ body: { list: 'flagged', reviewer: 'rita', seconds: 60 } }),
  'release-moderation-claims': () => ({ body: { reviewer: 'rita' } }),
  'get-moderation-queue': () => ({}),
  'get-moderation-stats': () => ({}),
  'add-moderation-note': (ids) => ({ params: { id: ids.flaggedId }, body: { text: 'twice now', author: 'rita' } }),
  'list-moderation-notes': (ids) => ({ params: { id: ids.flaggedId } }),
  'delete-moderation-note': (ids) => ({ params: { id: ids.flaggedId, noteId: ids.noteId } }),
  'chat-api-send-message-moderation': (ids) => ({
    body: { sender: 'walter', senderUserDetails: { uid: 'walter', name: 'Walter' }, ...text(ids.bob, 'user') },
  }),
  'chat-api-list-message-moderation': () => ({ query: { moderationStatus: 'disapproved' } }),
  'chat-api-get-message-moderation': (ids) => ({ params: { id: ids.blockedId } }),
  'chat-api-update-message-moderation': (ids) => ({
    params: { id: ids.messageId },
    body: { data: { text: 'changed' } },
  }),
  'chat-api-delete-message-moderation': (ids) => ({ params: { id: ids.messageId } }),

  'list-deliveries': (ids) => ({ ...webhook(ids), query: { status: 'failed', from: '0', limit: '1' } }),
  'redeliver-notification': (ids) => ({ params: { logId: ids.logId } }),
  'redeliver-notifications': () => ({ body: { status: 'failed', from: 1_700_000_000 } }),
  'get-delivery': (ids) => ({ params: { webhookId: ids.webhook, deliveryId: ids.deliveryId } }),
  'redeliver-delivery': (ids) => ({ params: { webhookId: ids.webhook, deliveryId: ids.deliveryId } }),
  'redeliver-deliveries': (ids) => ({ ...webhook(ids), body: { status: 'failed', from: 0 } }),
}
