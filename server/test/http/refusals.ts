import { type Area, type ErrorCode, limits, type Operation } from '@parley/contract'
import { statement } from '../../src/store/statement.ts'
import type { Answer, World } from '../support/world.ts'
import { type Ids, insults, type Sample, words } from './samples.ts'

/** The areas of chat: every answer of their operations is known, and every code that they declare is met. */
export const chatAreas: readonly Area[] = [
  'API Keys',
  'Auth Tokens',
  'Banned Users',
  'Blocked Users',
  'Conversations',
  'Data Import',
  'Friends',
  'Group Members',
  'Groups',
  'Messages',
  'Moderation',
  'RBAC',
  'Restrict Features',
  'Roles',
  'Users',
]

/** How these are refused is in the tests of their area (`test/areas/moderation-*.test.ts`): much of it is that of sending. */
export const refusedElsewhere: ReadonlySet<string> = new Set([
  'flag-a-message',
  'blockreview-flagged-message',
  'review-blocked-message',
  'delete-moderation-note',
  'chat-api-send-message-moderation',
  'chat-api-update-message-moderation',
])

/** Met where a webhook judges messages: `test/delivery/webhooks-before-message.test.ts`. */
export const codesMetElsewhere: ReadonlySet<ErrorCode> = new Set(['ERR_BLOCKED_BY_WEBHOOK'])

/** The things of `furnish`, and what refusals need beside. */
export interface Scene extends Ids {
  readonly world: World
  /** A reply of alice's in the thread of bob's message. */
  readonly replyId: string
  /** The action message of an edit between alice and bob. */
  readonly actionId: string
  /** From bob to alice. */
  readonly imageId: string
  readonly customId: string
  /** Imported, from bob to alice. */
  readonly oldMuid: string
  /** Of alice's alone: a public group, one with a password, a private one, and a public one that bans bob and the bot. */
  readonly far: string
  readonly locked: string
  readonly secret: string
  readonly shut: string
  /** From the bot to bob: a message, a reply to it, and the action message of an edit. */
  readonly beepId: string
  readonly beepReplyId: string
  readonly beepActionId: string
}

const tooMuch = 'x,'.repeat(limits.moderation.csvBytes / 2 + 1)

/** Adds what refusals need to a furnished world. */
export async function setScene(world: World, ids: Ids): Promise<Scene> {
  const ok = async (request: Promise<Answer>) => {
    const answer = await request
    if (answer.status !== 200) throw new Error(`the scene could not be set: ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }
  const send = (as: string, receiver: string, message: object) =>
    ok(world.post('/messages', { receiver, receiverType: 'user', ...message }, { as }))
  const text = { data: { text: 'x' } }
  const edit = async (as: string, id: string) => (await ok(world.put(`/messages/${id}`, text, { as }))).id
  const found = (guid: string, more: object = {}) =>
    ok(world.post('/groups', { guid, name: guid, type: 'public', owner: ids.alice, ...more }))
  await Promise.all([
    found('far'),
    // Imported: a password that is given to the API is slow to compute, and most refusals do without.
    ok(
      world.post('/data_import/groups', {
        groups: [{ guid: 'locked', name: 'locked', type: 'password', password: 'right', owner: ids.alice }],
      }),
    ),
    found('secret', { type: 'private' }),
    found('shut', { members: { usersToBan: [ids.bob, ids.helper] } }),
    ok(
      world.post('/data_import/messages', {
        messages: [{ muid: 'old', sender: ids.bob, receiver: ids.alice, receiverType: 'user', ...text, sentAt: 1 }],
      }),
    ),
  ])
  const [reply, image, custom, edited, beep] = await Promise.all([
    ok(world.post(`/messages/${ids.messageId}/thread`, text, { as: ids.alice })),
    send(ids.bob, ids.alice, { type: 'image', data: { url: 'https://example.com/a.png' } }),
    send(ids.bob, ids.alice, { category: 'custom', type: 'poll', data: { customData: { a: 1 } } }),
    send(ids.bob, ids.alice, text),
    send(ids.helper, ids.bob, text),
  ])
  const beepReply = await ok(world.post(`/messages/${beep.id}/thread`, text, { as: ids.helper }))
  return {
    ...ids,
    world,
    replyId: reply.id,
    actionId: await edit(ids.bob, edited.id),
    imageId: image.id,
    customId: custom.id,
    oldMuid: 'old',
    far: 'far',
    locked: 'locked',
    secret: 'secret',
    shut: 'shut',
    beepId: beep.id,
    beepReplyId: beepReply.id,
    beepActionId: await edit(ids.helper, beep.id),
  }
}

/** How to call an operation so that it is refused: what is other than in its sample; `as: undefined` for the app. */
export type Change = (scene: Scene) => {
  readonly params?: Record<string, string>
  readonly query?: Record<string, string>
  readonly body?: Record<string, unknown>
  readonly as?: string | undefined
}

/** One way to be refused. What prepares it changes the world, which then is one of its own. */
export interface Refusal {
  readonly change: Change
  readonly prepare?: (scene: Scene) => Promise<unknown>
}

export const missingId = '999999999999'
const nobody = 'nobody'
const nothing = 'nothing'

const onlyTheApp = (change: Change): Refusal => ({ change })
const as = (actor: (scene: Scene) => string, more: Change = () => ({})): Refusal => ({
  change: (scene) => ({ as: actor(scene), ...more(scene) }),
})
const alice = (more?: Change) => as((scene) => scene.alice, more)
const bob = (more?: Change) => as((scene) => scene.bob, more)
const carol = (more?: Change) => as((scene) => scene.carol, more)
const dave = (more?: Change) => as((scene) => scene.dave, more)
const params =
  (named: (scene: Scene) => Record<string, string>): Change =>
  (scene) => ({ params: named(scene) })
const body =
  (members: (scene: Scene) => Record<string, unknown>): Change =>
  (scene) => ({ body: members(scene) })
const after = (prepare: (scene: Scene) => Promise<unknown>, { change }: Refusal): Refusal => ({ prepare, change })

const denyParticipants =
  (...keys: string[]) =>
  (scene: Scene) =>
    scene.world.put('/groups/team/scopes/participant/permissions', {
      permissions: Object.fromEntries(keys.map((key) => [key, 'deny'])),
    })
const denyRole = (key: string) => (scene: Scene) =>
  scene.world.put('/roles/default/permissions', { permissions: { [key]: 'deny' } })
const block = (blocker: keyof Ids, blocked: keyof Ids) => (scene: Scene) =>
  scene.world.post(`/users/${scene[blocker]}/blockedusers`, { blockedUids: [scene[blocked]] })
/** bob becomes a moderator of the group, carol an admin. */
const appoint = async ({ world, bob: uid, carol: other }: Scene) => {
  await world.put(`/groups/team/members/${uid}`, { scope: 'moderator' })
  await world.post('/groups/team/members', { admins: [other] })
}
const query = (sql: string, values: (scene: Scene) => unknown[]) => {
  const named = statement(sql)
  return (scene: Scene) => scene.world.context.database.query(named, [scene.world.app.appId, ...values(scene)])
}
const fillGroups = (uid: (scene: Scene) => string) =>
  query(
    `insert into group_members (app_id, guid, uid, scope, joined_at)
    select $1, 'elsewhere-' || i, $2, 'participant', 0
    from generate_series(1, $3::int) i`,
    (scene) => [uid(scene), limits.groupsPerUser],
  )
const fillTeam = query('update groups set members_count = $2 where app_id = $1', () => [limits.membersPerGroup])
const fillPins = query(
  `insert into pinned_messages (app_id, conversation, message_id, pinned_by, pinned_at)
  select m.app_id, m.conversation, m.id + i, 'alice', 1
  from messages m, generate_series(1, $3::int) i
  where m.app_id = $1
  and m.id = $2`,
  ({ messageId }) => [Number(messageId), limits.pinnedMessagesPerConversation],
)
const fillSaves = query(
  `with copies as (
    insert into messages (
      app_id, id, conversation, sender, kind, receiver, category, type, data, countable, sent_at, updated_at
    )
    select m.app_id, nextval('message_ids'), m.conversation, m.sender, m.kind, m.receiver, m.category, m.type, m.data,
      m.countable, m.sent_at, m.sent_at
    from messages m, generate_series(1, $3::int)
    where m.app_id = $1
    and m.id = $4
    returning app_id, id
  )
  insert into saved_messages (app_id, uid, message_id, saved_at)
  select app_id, $2, id, 1
  from copies`,
  ({ alice: uid, messageId }) => [uid, limits.savedMessagesPerUser, Number(messageId)],
)
const pinFive = async ({ world, alice: uid }: Scene) => {
  for (const peer of ['p1', 'p2', 'p3', 'p4', 'p5']) {
    await world.post('/users', { uid: peer, name: peer })
    await world.post('/messages', { receiver: uid, receiverType: 'user', data: { text: 'x' } }, { as: peer })
    await world.post(`/users/${peer}/conversation/pin`, undefined, { as: uid })
  }
}
const pinForAll = ({ world, bob: uid, team }: Scene) =>
  world.put('/conversations/pinned', { pinnedConversations: [{ uid }, { guid: team }] })

const neverRun = { ERR_DRY_RUN_NOT_FOUND: { change: params(() => ({ ruleId: 'email_filter' })) } }

/** Refusals that many operations share, by code; the first that fits an operation is taken. */
export const shared: ReadonlyArray<readonly [ErrorCode, (operation: Operation) => boolean, Refusal]> = [
  [
    'ERR_UID_NOT_FOUND',
    ({ params: { properties } }) => 'uid' in properties,
    onlyTheApp(params(() => ({ uid: nobody }))),
  ],
  ['ERR_UID_NOT_FOUND', ({ onBehalfOf }) => onBehalfOf !== 'ignored', as(() => nobody)],
  ['ERR_GUID_NOT_FOUND', named('guid'), onlyTheApp(params(() => ({ guid: nothing })))],
  ['ERR_ROLE_NOT_FOUND', named('role'), onlyTheApp(params(() => ({ role: nothing })))],
  ['ERR_APIKEY_NOT_FOUND', named('apiKey'), onlyTheApp(params(() => ({ apiKey: 'ab'.repeat(20) })))],
  ['ERR_APIKEY_NO_SELF_ACTION', named('apiKey'), onlyTheApp(params(({ world }) => ({ apiKey: world.apiKey })))],
  [
    'ERR_AUTH_TOKEN_NOT_FOUND',
    named('authToken'),
    onlyTheApp(params(() => ({ authToken: `alice_1700000000${'a'.repeat(30)}` }))),
  ],
  ['ERR_AUTHTOKEN_NOT_ACCESSIBLE', named('authToken'), onlyTheApp(params((scene) => ({ uid: scene.bob })))],
  ['ERR_RULE_NOT_FOUND', named('ruleId'), onlyTheApp(params(() => ({ ruleId: nothing })))],
  ['ERR_KEYWORD_NOT_FOUND', named('keywordId'), onlyTheApp(params(() => ({ keywordId: nothing })))],
  ['ERR_REASON_NOT_FOUND', named('id'), onlyTheApp(params(() => ({ id: nothing })))],
  ['ERR_MESSAGE_ID_NOT_FOUND', named('id'), onlyTheApp(params(() => ({ id: missingId })))],
  [
    'ERR_MESSAGE_ID_NOT_FOUND',
    ({ query: { properties } }) => 'id' in properties,
    onlyTheApp(() => ({ query: { id: missingId } })),
  ],
  [
    'ERR_MESSAGE_ID_NOT_FOUND',
    ({ body: sent }) => 'messageId' in ((sent as { properties?: object } | undefined)?.properties ?? {}),
    onlyTheApp(body(() => ({ messageId: missingId }))),
  ],
  ['ERR_MESSAGE_ACTION_NOT_ALLOWED', named('id'), { change: params((scene) => ({ id: scene.actionId })) }],
  ['ERR_GROUP_NOT_JOINED', named('guid'), carol()],
  ['ERR_BANNED_GROUPMEMBER', named('guid'), dave()],
  ['ERR_CONVERSATION_NOT_FOUND', named('conversationId'), { change: params(() => ({ conversationId: 'x_user_y' })) }],
  ['ERR_CONVERSATION_NOT_ACCESSIBLE', named('guid'), carol()],
  ['ERR_CONVERSATION_NOT_ACCESSIBLE', named('uid'), carol()],
  ['ERR_SYSTEM_PINNED_CONVERSATION', () => true, after(pinForAll, alice())],
  ['ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED', () => true, after(pinFive, alice())],
]

function named(parameter: string): (operation: Operation) => boolean {
  return (operation) => parameter in operation.params.properties
}

/** What a message may be refused for, whichever way it is sent; `message` makes the rest of the body. */
function contentRefusals(message: Record<string, unknown>): Record<string, Refusal> {
  const wrong = (members: Record<string, unknown>): Refusal => ({
    change: () => ({ body: { ...message, ...members } }),
  })
  const image = (data: object) => wrong({ type: 'image', data })
  return {
    ERR_INVALID_RECEIVER_TYPE: wrong({ receiver: 'bob', receiverType: 'room' }),
    ERR_EMPTY_RECEIVER: wrong({ multipleReceivers: { uids: [] } }),
    ERR_UID_NOT_FOUND: wrong({ receiver: nobody, receiverType: 'user' }),
    ERR_GUID_NOT_FOUND: wrong({ receiver: nothing, receiverType: 'group' }),
    ERR_EMPTY_MESSAGE_CATEGORY: wrong({ category: '' }),
    ERR_INVALID_MESSAGE_CATEGORY: wrong({ category: 'nonsense' }),
    ERR_EMPTY_MESSAGE_TYPE: wrong({ type: '' }),
    ERR_INVALID_MESSAGE_TYPE: wrong({ type: 'nonsense' }),
    ERR_EMPTY_MESSAGE_TEXT: wrong({ data: {} }),
    ERR_INVALID_MESSAGE_TEXT: wrong({ data: { text: 5 } }),
    ERR_EMPTY_MESSAGE_FILE: image({}),
    ERR_INVALID_MEDIA_MESSAGE: image({ attachments: 'x' }),
    ERR_EMPTY_CUSTOM_DATA: wrong({ category: 'custom', type: 'x', data: {} }),
    ERR_INVALID_CUSTOM_DATA: wrong({ category: 'custom', type: 'x', data: { customData: 'x' } }),
    ERR_INVALID_METADATA: wrong({ data: { text: 'x', metadata: 'x' } }),
    ERR_INVALID_MESSAGE_DATA: wrong({ category: 'interactive', data: { interactiveData: 5 } }),
    ERR_MESSAGE_ID_NOT_FOUND: wrong({ quotedMessageId: missingId }),
  }
}

const hello = { data: { text: 'hello' } }
const toTeam = { receiver: 'team', receiverType: 'group', ...hello }
const to = (receiver: string, more: object = {}) => ({ receiver, receiverType: 'user', ...hello, ...more })
const toGroup = (receiver: string) => ({ receiver, receiverType: 'group', ...hello })
const say = (message: (scene: Scene) => Record<string, unknown>) => body(message)

/** Files that are announced before they are uploaded. */
const files = (count: number, size: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, { name: 'a.png', size, mimeType: 'image/png' }]))
const announce = (message: (scene: Scene) => Record<string, unknown>) =>
  body((scene) => ({ files: files(1, 1), ...message(scene) }))

/** What a record of an import may be refused for: the member of the body and its only record. */
const record = (kind: string, sent: Record<string, unknown>): Refusal => ({
  change: () => ({ body: { [kind]: [sent] } }),
})
const newUser = { uid: 'x', name: 'X' }
const newGroup = { guid: 'g', name: 'G', type: 'public' }
const member = { memberId: 'team_member_carol', guid: 'team', uid: 'carol' }
const past = { muid: 'm', sender: 'bob', ...to('alice'), sentAt: 1_600_000_000 }
const pastInTeam = { muid: 'm', sender: 'bob', ...toTeam, sentAt: 1_600_000_000 }

/** Refusals of single operations, by operation id and code; they go before the shared ones. */
export const own: Readonly<Record<string, Partial<Record<string, Refusal>>>> = {
  'create-user': {
    ERR_UID_ALREADY_EXISTS: { change: body((scene) => ({ uid: scene.alice, name: 'A' })) },
    ERR_ROLE_NOT_FOUND: { change: body(() => ({ ...newUser, role: nothing })) },
  },
  'update-user': {
    ERR_ROLE_NOT_FOUND: { change: body(() => ({ role: nothing })) },
    ERR_PERMISSION_DENIED: { change: () => ({ params: { uid: 'app_system' }, body: { name: 'Other' } }) },
  },
  'remove-friend': { ERR_NOT_A_FRIEND: { change: body(() => ({ friends: [nobody] })) } },
  'count-online-members': { ERR_PERMISSION_DENIED: after(denyRole('listUsers'), alice(body(() => ({})))) },
  'delete-user': { ERR_PERMISSION_DENIED: { change: params(() => ({ uid: 'app_system' })) } },
  'create-authtoken': { ERR_PERMISSION_DENIED: { change: params(() => ({ uid: 'app_system' })) } },
  'update-me': {
    ERR_PERMISSION_DENIED: after(denyRole('editProfile'), alice(body(() => ({ name: 'Other' })))),
  },
  'log-out': { AUTH_ERR_EMPTY_AUTH_TOKEN: alice() },
  'ask-for-export': { ERR_EXPORT_ALREADY_ASKED: alice(body(() => ({}))) },
  'list-user-erasures': { ERR_ERASURE_NOT_FOUND: { change: params((scene) => ({ uid: scene.bob })) } },
  'release-user-export': { ERR_EXPORT_NOT_FOUND: { change: params((scene) => ({ uid: scene.bob })) } },
  'get-user-export': { ERR_EXPORT_NOT_FOUND: { change: params((scene) => ({ uid: scene.bob })) } },
  'create-role': { ERR_ROLE_ALREADY_EXISTS: { change: body((scene) => ({ role: scene.role, name: 'R' })) } },
  'test-rule': {
    ERR_UID_NOT_FOUND: { change: body(() => ({ texts: ['x'], sender: nobody, receiver: nobody })) },
    ERR_GUID_NOT_FOUND: {
      change: body(({ alice }) => ({ texts: ['x'], sender: alice, receiver: nothing, receiverType: 'group' })),
    },
  },
  'get-dry-run': neverRun,
  'stop-dry-run': neverRun,
  'label-dry-run-example': {
    ERR_DRY_RUN_NOT_FOUND: { change: params(({ messageId }) => ({ ruleId: 'email_filter', messageId })) },
    ERR_MESSAGE_ID_NOT_FOUND: { change: params(({ rule: ruleId }) => ({ ruleId, messageId: missingId })) },
  },
  'create-rule': { ERR_RULE_ALREADY_EXISTS: { change: body(({ rule: id }) => ({ ...insults, id })) } },
  'create-rule-keyword': {
    ERR_KEYWORD_ALREADY_EXISTS: { change: body(({ list: id }) => ({ ...words, id, name: 'W' })) },
    ERR_FILE_SIZE_EXCEEDED: { change: body(() => ({ ...words, id: 'new', name: 'W', file: tooMuch })) },
  },
  'update-rule-keyword': { ERR_FILE_SIZE_EXCEEDED: { change: body(() => ({ file: tooMuch })) } },
  'create-reason': { ERR_REASON_ALREADY_EXISTS: { change: body(({ reason: id }) => ({ id, name: 'R' })) } },
  'delete-role': { ERR_ROLE_DELETE_DENIED: { change: params(() => ({ role: 'default' })) } },

  'create-group': {
    ERR_GUID_ALREADY_EXISTS: { change: body((scene) => ({ ...newGroup, guid: scene.team })) },
    ERR_EMPTY_GROUP_PASS: { change: body(() => ({ ...newGroup, type: 'password' })) },
    ERR_PLAN_QUOTA_RESTRICTION: after(
      fillGroups((scene) => scene.alice),
      alice(body(() => newGroup)),
    ),
  },
  'update-group': {
    ERR_PERMISSION_DENIED: bob(),
    ERR_EMPTY_GROUP_PASS: alice(body(() => ({ type: 'password' }))),
    ERR_PLAN_QUOTA_RESTRICTION: after(
      fillGroups((scene) => scene.carol),
      {
        change: (scene) => ({ as: undefined, body: { owner: scene.carol } }),
      },
    ),
  },
  'delete-group': { ERR_PERMISSION_DENIED: bob() },
  'pass-on-group-ownership': {
    ERR_UID_NOT_FOUND: { change: body(() => ({ owner: nobody })) },
    ERR_GROUP_NO_CLEARANCE: bob(),
    ERR_GROUP_NO_SELF_ACTION: alice(body((scene) => ({ owner: scene.alice }))),
    ERR_NOT_A_MEMBER: alice(body((scene) => ({ owner: scene.carol }))),
    ERR_BLOCKED_SENDER: after(block('bob', 'alice'), alice(body((scene) => ({ owner: scene.bob })))),
    ERR_PLAN_QUOTA_RESTRICTION: after(
      fillGroups((scene) => scene.carol),
      {
        change: (scene) => ({ as: undefined, body: { owner: scene.carol } }),
      },
    ),
  },
  'add-group-members': {
    ERR_PERMISSION_DENIED: bob(),
    ERR_ALREADY_JOINED: bob(body(() => ({}))),
    ERR_EMPTY_GROUP_PASS: carol((scene) => ({ params: { guid: scene.locked }, body: {} })),
    ERR_WRONG_GROUP_PASS: carol((scene) => ({ params: { guid: scene.locked }, body: { password: 'wrong' } })),
    ERR_NO_VACANCY: after(fillTeam, carol(body(() => ({})))),
    ERR_PLAN_QUOTA_RESTRICTION: after(
      fillGroups((scene) => scene.carol),
      carol(body(() => ({}))),
    ),
  },
  'put-group-members': { ERR_PERMISSION_DENIED: bob() },
  'leave-group': {
    ERR_GROUP_NO_SELF_ACTION: alice(),
    ERR_PERMISSION_DENIED: after(denyParticipants('leaveGroup'), bob()),
  },
  'list-group-members': { ERR_PERMISSION_DENIED: after(denyParticipants('listMembers'), bob()) },
  'change-group-member-scope': {
    ERR_NOT_A_MEMBER: { change: params((scene) => ({ uid: scene.carol })) },
    ERR_SAME_SCOPE: { change: body(() => ({ scope: 'participant' })) },
    ERR_GROUP_NO_MODERATOR_SCOPE: after(
      ({ world, carol: uid }) => world.post('/groups/team/members', { participants: [uid] }),
      bob(params((scene) => ({ uid: scene.carol }))),
    ),
    ERR_GROUP_NO_SCOPE_CLEARANCE: after(appoint, bob(params((scene) => ({ uid: scene.carol })))),
    ERR_GROUP_NO_SELF_ACTION: alice(params((scene) => ({ uid: scene.alice }))),
  },
  'kick-group-member': {
    ERR_NOT_A_MEMBER: { change: params((scene) => ({ uid: scene.carol })) },
    ERR_PERMISSION_DENIED: after(
      ({ world, carol: uid }) => world.post('/groups/team/members', { participants: [uid] }),
      bob(params((scene) => ({ uid: scene.carol }))),
    ),
    ERR_GROUP_NO_CLEARANCE: after(appoint, bob(params((scene) => ({ uid: scene.carol })))),
    ERR_GROUP_NO_SELF_ACTION: alice(params((scene) => ({ uid: scene.alice }))),
  },
  'ban-group-user': {
    ERR_ALREADY_BANNED: { change: params((scene) => ({ uid: scene.dave })) },
    ERR_PERMISSION_DENIED: bob(),
    ERR_GROUP_NO_CLEARANCE: after(appoint, bob(params((scene) => ({ uid: scene.carol })))),
    ERR_GROUP_NO_SELF_ACTION: alice(params((scene) => ({ uid: scene.alice }))),
  },
  'unban-group-user': {
    ERR_NOT_A_BANNED_USER: { change: params((scene) => ({ uid: scene.carol })) },
    ERR_PERMISSION_DENIED: bob(),
  },
  'list-banned-group-users': { ERR_PERMISSION_DENIED: bob() },

  'send-message': {
    ...contentRefusals(to('bob')),
    ERR_EMPTY_RECEIVER: { change: body(() => hello) },
    ERR_BLOCKED_RECEIVER: alice(say((scene) => to(scene.carol))),
    ERR_BLOCKED_SENDER: carol(say((scene) => to(scene.alice))),
    ERR_GROUP_NOT_JOINED: carol(say(() => toTeam)),
    ERR_BANNED_GROUPMEMBER: dave(say(() => toTeam)),
    ERR_PERMISSION_DENIED: after(denyParticipants('sendMessage'), bob(say(() => toTeam))),
    ERR_WRONG_MESSAGE_THREAD: alice(say((scene) => to(scene.bob, { parentId: scene.groupMessageId }))),
    ERR_WRONG_MESSAGE_THREAD_CATEGORY: alice(say((scene) => to(scene.bob, { parentId: scene.actionId }))),
    ERR_MESSAGE_THREAD_NESTING: alice(say((scene) => to(scene.bob, { parentId: scene.replyId }))),
  },
  'create-upload-addresses': {
    ERR_UID_NOT_FOUND: alice(announce(() => to(nobody))),
    ERR_GUID_NOT_FOUND: alice(announce(() => toGroup(nothing))),
    ERR_EMPTY_RECEIVER: alice(announce(() => ({ receiverType: 'user' }))),
    ERR_INVALID_RECEIVER_TYPE: alice(announce((scene) => ({ receiver: scene.bob, receiverType: 'room' }))),
    ERR_FILE_COUNT_EXCEEDED: alice(announce((scene) => to(scene.bob, { files: files(11, 1) }))),
    ERR_FILE_SIZE_EXCEEDED: alice(announce((scene) => to(scene.bob, { files: files(2, 60e6) }))),
    ERR_BLOCKED_RECEIVER: alice(announce((scene) => to(scene.carol))),
    ERR_BLOCKED_SENDER: carol(announce((scene) => to(scene.alice))),
    ERR_GROUP_NOT_JOINED: carol(announce(() => toTeam)),
    ERR_BANNED_GROUPMEMBER: dave(announce(() => toTeam)),
    ERR_PERMISSION_DENIED: after(denyParticipants('sendMessage'), bob(announce(() => toTeam))),
    ERR_MESSAGE_ID_NOT_FOUND: alice(announce((scene) => to(scene.bob, { parentMessageId: '999999999999' }))),
    ERR_WRONG_MESSAGE_THREAD: alice(announce((scene) => to(scene.bob, { parentMessageId: scene.groupMessageId }))),
    ERR_WRONG_MESSAGE_THREAD_CATEGORY: alice(announce((scene) => to(scene.bob, { parentMessageId: scene.actionId }))),
    ERR_MESSAGE_THREAD_NESTING: alice(announce((scene) => to(scene.bob, { parentMessageId: scene.replyId }))),
  },
  'send-bot-message': {
    ...contentRefusals(to('bob')),
    ERR_BOT_NOT_FOUND: { change: params((scene) => ({ uid: scene.bob })) },
    ERR_EMPTY_RECEIVER: { change: body(() => hello) },
    ERR_BLOCKED_RECEIVER: after(block('helper', 'bob'), { change: () => ({}) }),
    ERR_BLOCKED_SENDER: after(block('bob', 'helper'), { change: () => ({}) }),
    ERR_GROUP_NOT_JOINED: { change: body(() => toTeam) },
    ERR_BANNED_GROUPMEMBER: { change: body((scene) => toGroup(scene.shut)) },
    ERR_PERMISSION_DENIED: after(
      async (scene) => {
        await scene.world.post('/groups/team/members', { participants: [scene.helper] })
        await denyParticipants('sendMessage')(scene)
      },
      { change: body(() => toTeam) },
    ),
    ERR_WRONG_MESSAGE_THREAD: { change: say((scene) => to(scene.carol, { parentId: scene.beepId })) },
    ERR_WRONG_MESSAGE_THREAD_CATEGORY: { change: say((scene) => to(scene.bob, { parentId: scene.beepActionId })) },
    ERR_MESSAGE_THREAD_NESTING: { change: say((scene) => to(scene.bob, { parentId: scene.beepReplyId })) },
  },
  'send-thread-message': {
    ...contentRefusals(hello),
    ERR_BLOCKED_RECEIVER: after(block('alice', 'bob'), alice()),
    ERR_BLOCKED_SENDER: after(block('bob', 'alice'), alice()),
    ERR_GROUP_NOT_JOINED: bob(say((scene) => toGroup(scene.far))),
    ERR_BANNED_GROUPMEMBER: bob(say((scene) => toGroup(scene.shut))),
    ERR_PERMISSION_DENIED: after(
      denyParticipants('sendThreadedMessage'),
      bob((scene) => ({ params: { id: scene.groupMessageId }, body: hello })),
    ),
    ERR_WRONG_MESSAGE_THREAD: alice(say(() => toTeam)),
    ERR_WRONG_MESSAGE_THREAD_CATEGORY: alice(params((scene) => ({ id: scene.actionId }))),
    ERR_MESSAGE_THREAD_NESTING: alice(params((scene) => ({ id: scene.replyId }))),
  },
  'update-message': {
    ERR_BLOCKED_RECEIVER: after(block('bob', 'alice'), bob()),
    ERR_BLOCKED_SENDER: after(block('alice', 'bob'), bob()),
    ERR_MESSAGE_NOT_A_SENDER: alice(),
    ERR_PERMISSION_DENIED: after(
      denyParticipants('editMessage'),
      bob(params((scene) => ({ id: scene.groupMessageId }))),
    ),
    ERR_EMPTY_MESSAGE_TEXT: { change: body(() => ({ data: { text: '' } })) },
    ERR_INVALID_MESSAGE_TEXT: { change: body(() => ({ data: { text: 5 } })) },
    ERR_INVALID_METADATA: { change: body(() => ({ data: { metadata: 'x' } })) },
    ERR_EMPTY_MESSAGE_FILE: edits((scene) => scene.imageId, { attachments: [], url: '' }),
    ERR_INVALID_MEDIA_MESSAGE: edits((scene) => scene.imageId, { attachments: 'x' }),
    ERR_EMPTY_CUSTOM_DATA: edits((scene) => scene.customId, { customData: '' }),
    ERR_INVALID_CUSTOM_DATA: edits((scene) => scene.customId, { customData: 'x' }),
    ERR_INVALID_MESSAGE_DATA: edits((scene) => scene.interactiveId, { interactiveData: 5 }),
  },
  'delete-message': {
    ERR_MESSAGE_NOT_A_SENDER: alice(params((scene) => ({ id: scene.messageId }))),
    ERR_PERMISSION_DENIED: after(denyParticipants('deleteMessage'), bob()),
  },
  'user-list-group-messages': { ERR_PERMISSION_DENIED: after(denyRole('listMessages'), bob()) },
  'pin-message': {
    ...inTeam('sendMessage'),
    ERR_PINNED_MESSAGES_LIMIT_EXCEEDED: after(fillPins, alice()),
    ERR_BLOCKED_RECEIVER: after(block('bob', 'alice'), bob()),
    ERR_BLOCKED_SENDER: after(block('alice', 'bob'), bob()),
  },
  'unpin-message': inTeam('sendMessage'),
  'save-message': { ERR_SAVED_MESSAGES_LIMIT_EXCEEDED: after(fillSaves, alice()) },
  'list-all-reactions': inTeam('listReactions'),
  'get-message-reactions': inTeam('listReactions'),
  'add-message-reactions': {
    ...inTeam('addReaction'),
    ERR_BLOCKED_RECEIVER: after(block('bob', 'alice'), bob()),
    ERR_BLOCKED_SENDER: after(block('alice', 'bob'), bob()),
  },
  'remove-message-reactions': inTeam('addReaction'),
  'list-all-thread-messages': inTeam('listThreadedMessages'),
  'list-group-threads': { ERR_PERMISSION_DENIED: after(denyParticipants('listThreadedMessages'), bob()) },
  'subscribe-thread': {
    ...inTeam('listThreadedMessages'),
    ERR_MESSAGE_THREAD_NESTING: alice(params((scene) => ({ id: scene.replyId }))),
    ERR_WRONG_MESSAGE_THREAD_CATEGORY: alice(params((scene) => ({ id: scene.actionId }))),
  },

  'delete-conversation': { ERR_GROUP_NO_ADMIN_SCOPE: bob(params(() => ({ conversationId: 'group_team' }))) },
  'replace-global-pinned-conversations': {
    ERR_UID_NOT_FOUND: { change: body(() => ({ pinnedConversations: [{ uid: nobody }] })) },
    ERR_GUID_NOT_FOUND: { change: body(() => ({ pinnedConversations: [{ guid: nothing }] })) },
    ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED: {
      change: body(() => ({ pinnedConversations: ['a', 'b', 'c', 'd', 'e', 'f'].map((uid) => ({ uid })) })),
    },
  },

  'import-users': {
    ERR_IMPORT_INVALID_USER_FORMAT: { change: body(() => ({ users: 5 })) },
    ERR_ROLE_NOT_FOUND: record('users', { ...newUser, role: nothing }),
    ERR_UID_ALREADY_EXISTS: record('users', { uid: 'alice', name: 'A' }),
    ERR_IMPORT_UID_ERASED: record('users', { uid: 'gone', name: 'Gone' }),
  },
  'import-groups': {
    ERR_IMPORT_INVALID_GROUP_FORMAT: { change: body(() => ({ groups: 5 })) },
    ERR_ROLE_NOT_FOUND: record('groups', { ...newGroup, groupOwnerDetails: { ...newUser, role: nothing } }),
    ERR_UID_NOT_FOUND: record('groups', { ...newGroup, owner: nobody }),
    ERR_GUID_ALREADY_EXISTS: record('groups', { ...newGroup, guid: 'team' }),
    ERR_IMPORT_UID_ERASED: record('groups', { ...newGroup, owner: 'gone' }),
    ERR_PLAN_QUOTA_RESTRICTION: after(
      fillGroups((scene) => scene.alice),
      record('groups', { ...newGroup, owner: 'alice' }),
    ),
  },
  'import-members': {
    ERR_IMPORT_INVALID_MEMBER_FORMAT: { change: body(() => ({ members: 5 })) },
    ERR_IMPORT_INVALID_JOINEDAT: record('members', { ...member, joinedAt: 1 }),
    ERR_ROLE_NOT_FOUND: record('members', {
      memberId: 'team_member_x',
      guid: 'team',
      uid: 'x',
      userDetails: { ...newUser, role: nothing },
    }),
    ERR_UID_NOT_FOUND: record('members', { memberId: 'team_member_nobody', guid: 'team', uid: nobody }),
    ERR_GUID_NOT_FOUND: record('members', { memberId: 'nothing_member_bob', guid: nothing, uid: 'bob' }),
    ERR_IMPORT_UID_ERASED: record('members', { memberId: 'team_member_gone', guid: 'team', uid: 'gone' }),
    ERR_ALREADY_JOINED: record('members', { memberId: 'team_member_bob', guid: 'team', uid: 'bob' }),
    ERR_PLAN_QUOTA_RESTRICTION: after(
      fillGroups((scene) => scene.carol),
      record('members', member),
    ),
  },
  'import-records': {
    ERR_IMPORT_INVALID_RECORD_FORMAT: { change: body(() => ({ records: 5 })) },
    ERR_IMPORT_ALREADY_EXISTS: after(
      async ({ world }) => {
        await world.post('/data_import/records', { records: [{ kind: 'friend', uid: 'alice', friend: 'carol' }] })
      },
      record('records', { kind: 'friend', uid: 'alice', friend: 'carol' }),
    ),
    ERR_UID_NOT_FOUND: record('records', { kind: 'block', uid: 'alice', blocked: nobody }),
    ERR_CONVERSATION_NOT_FOUND: record('records', {
      ...{ kind: 'conversation', uid: 'carol', receiverType: 'group', receiver: nothing },
      tags: ['work'],
    }),
    ERR_MESSAGE_ID_NOT_FOUND: record('records', { kind: 'pin', messageId: 999_999_999 }),
    ERR_AUTHTOKEN_NOT_ACCESSIBLE: after(
      async ({ world }) => {
        const token = { kind: 'authToken', uid: 'alice', authToken: 'a-token-of-alice-elsewhere' }
        await world.post('/data_import/records', { records: [token] })
      },
      record('records', { kind: 'authToken', uid: 'bob', authToken: 'a-token-of-alice-elsewhere' }),
    ),
  },
  'import-messages': {
    ERR_IMPORT_INVALID_MESSAGE_FORMAT: { change: body(() => ({ messages: 5 })) },
    ERR_ROLE_NOT_FOUND: record('messages', { ...past, sender: 'x', senderUserDetails: { ...newUser, role: nothing } }),
    ERR_UID_NOT_FOUND: record('messages', { ...past, sender: nobody }),
    ERR_GUID_NOT_FOUND: record('messages', { ...pastInTeam, receiver: nothing }),
    ERR_IMPORT_UID_ERASED: record('messages', { ...past, sender: 'gone' }),
    ERR_IMPORT_MUID_ERASED: after(
      async ({ world }) => {
        const text = { receiver: 'bob', receiverType: 'user', data: { text: 'x' }, muid: 'erased' }
        await world.post('/users', { uid: 'gone', name: 'Gone' })
        await world.post('/messages', text, { as: 'gone' })
        await world.delete('/users/gone', { permanent: true })
      },
      record('messages', { ...past, muid: 'erased' }),
    ),
    ERR_IMPORT_MUID_ALREADY_EXISTS: record('messages', { ...past, muid: 'old', sentAt: 1 }),
    ERR_WRONG_MESSAGE_THREAD: record('messages', { ...pastInTeam, parentMuid: 'old' }),
    ERR_MESSAGE_ID_NOT_FOUND: record('messages', {
      ...pastInTeam,
      category: 'action',
      type: 'message',
      data: { action: 'edited' },
      subjectMuid: nothing,
    }),
    ERR_MESSAGE_THREAD_NESTING: after(
      ({ world }) => world.post('/data_import/messages', { messages: [{ ...past, muid: 'r', parentMuid: 'old' }] }),
      record('messages', { ...past, parentMuid: 'r' }),
    ),
    ERR_PLAN_QUOTA_RESTRICTION: after(
      fillGroups((scene) => scene.alice),
      record('messages', { ...pastInTeam, receiver: 'g', receiverGroupDetails: { ...newGroup, owner: 'alice' } }),
    ),
  },
}

/** Edits one of bob's messages. */
function edits(id: (scene: Scene) => string, data: object): Refusal {
  return bob((scene) => ({ params: { id: id(scene) }, body: { data } }))
}

/** A permission that participants lack, used on a message in the group. */
function inTeam(key: string): Record<string, Refusal> {
  return {
    ERR_PERMISSION_DENIED: after(denyParticipants(key), bob(params((scene) => ({ id: scene.groupMessageId })))),
  }
}

/** What the app itself asks for other than a user does. */
export const asApp: Readonly<Record<string, Change>> = {
  // It takes no part in the conversation of the message that the sample quotes.
  'send-message': body((scene) => to(scene.bob)),
  'create-upload-addresses': announce((scene) => to(scene.bob)),
}

/** The sample of an operation, changed so that it is refused. */
export function refused(sample: Sample, change: ReturnType<Change>): Sample {
  const { as: actor, token, ...rest } = sample
  const acting = 'as' in change ? change.as : actor
  return {
    ...rest,
    ...(change.params && { params: { ...sample.params, ...change.params } }),
    ...(change.query && { query: { ...sample.query, ...change.query } }),
    ...(change.body && { body: change.body }),
    ...(acting !== undefined && { as: acting }),
  }
}
