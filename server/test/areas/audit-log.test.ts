import { randomInt } from 'node:crypto'
import { auditActions } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { listEntries } from '../../src/areas/audit-log/list.ts'
import { createAudit } from '../../src/chat/audit/audit.ts'
import { linkEntries } from '../../src/chat/audit/chain.ts'
import { removeOldEntries } from '../../src/chat/audit/retention.ts'
import { verifyAuditLog } from '../../src/chat/audit/verify.ts'
import type { Queryable } from '../../src/store/database.ts'
import { createGroup, dataOf, refusal, say } from '../support/chat.ts'
import { sendGrid, sendGridAccount, twilio, twilioAccount } from '../support/notifications.ts'
import { tokenOf } from '../support/socket.ts'
import { type Answer, createUsers, createWorld, send, type World } from '../support/world.ts'

const fingerprint = ({ context }: World, key: string) => context.secrets.digest(key).toString('hex').slice(0, 8)
const log = async (world: World, query = '') => dataOf(await world.get(`/audit-log${query}`))
const withAuthKey = (world: World, method: string, path: string, body: unknown) =>
  send(world.url, method, path, body, { appid: world.app.name, apikey: world.authKey })
const mod = { name: 'Mod', role: 'mod' }
const hook = {
  id: 'Hook',
  name: 'Hook',
  webhookURL: 'https://127.0.0.1:9/hook?token=1',
  triggers: ['message_sent'],
}
const customPush = '/notifications/push/v1/providers/custom'
const push = {
  isEnabled: true,
  webhookURL: 'https://127.0.0.1:9/push?token=2',
  useBasicAuth: true,
  basicAuthUsername: 'me',
  basicAuthPassword: 'an0therS3cret',
}
const pushPlace = { channel: 'push', kind: 'custom' }

const list = { id: 'insults', name: 'Insults', category: 'word', searchTerms: 'darn' }
const rule = {
  id: 'no-insults',
  name: 'No insults',
  conditions: [{ operand: 'text', category: 'word', value: ['darn'] }],
}
const reason = { id: 'off-topic', name: 'Off topic' }
const labels = '/moderation/engines/labels'
const labelsEngine = { url: 'https://127.0.0.1:9/labels?token=3', apiKey: 'th1rdS3cret' }

const digest = expect.stringMatching(/^[0-9a-f]{16}$/)
const hookRecorded = {
  ...{ name: 'Hook', url: { address: 'https://127.0.0.1:9', digest }, version: 2, enabled: true },
  ...{ retryOnFailure: false, useBasicAuth: false, triggers: ['message_sent'] },
}
const ruleRecorded = expect.objectContaining({ name: 'No insults', mode: 'on', actions: ['blockMessage'] })
const listRecorded = { name: 'Insults', category: 'word', terms: { count: 1, digest } }

/** What each action is recorded by, last, and how: later features add a row each. */
const deeds: Record<string, [(world: World) => Promise<Answer>, { type: string; id: string }, object?]> = {
  app_settings_updated: [
    (world) => world.call('PATCH', `/apps/${world.app.name}/settings`, { maxBots: 3 }),
    { type: 'app', id: '<app>' },
    { before: { maxBots: expect.any(Number) }, after: { maxBots: 3 } },
  ],
  notification_settings_updated: [
    (world) => world.call('PATCH', '/notifications/v1/settings', { sound: { chat: 'bell' } }),
    { type: 'app', id: '<app>' },
    { before: { sound: null }, after: { sound: { chat: 'bell' } } },
  ],
  group_retention_updated: [
    (world) => world.put('/groups/team/retention', { days: 30 }),
    { type: 'group', id: 'team' },
    { before: {}, after: { days: 30, mode: 'delete' } },
  ],
  retention_hold_set: [(world) => world.put('/retention/users/alice/hold', {}), { type: 'user', id: 'alice' }],
  retention_hold_lifted: [
    async (world) => {
      dataOf(await world.put('/retention/users/alice/hold', {}))
      return world.delete('/retention/users/alice/hold')
    },
    { type: 'user', id: 'alice' },
  ],
  person_export_asked: [(world) => world.post('/me/export', {}, { as: 'alice' }), { type: 'user', id: 'alice' }],
  person_export_released: [
    async (world) => {
      dataOf(await world.post('/me/export', {}, { as: 'alice' }))
      return world.post('/users/alice/export', {})
    },
    { type: 'user', id: 'alice' },
  ],
  apikey_created: [
    (world) => world.post('/apikeys', { name: 'Second', scope: 'authOnly' }),
    { type: 'apikey', id: '<key>' },
    { before: {}, after: { name: 'Second', scope: 'authOnly' } },
  ],
  apikey_updated: [
    (world) => world.put(`/apikeys/${world.authKey}`, { name: 'Other' }),
    { type: 'apikey', id: '<key>' },
    { before: { name: expect.any(String) }, after: { name: 'Other' } },
  ],
  apikey_deleted: [
    (world) => world.delete(`/apikeys/${world.authKey}`),
    { type: 'apikey', id: '<key>' },
    { before: { name: expect.any(String), scope: 'authOnly' }, after: {} },
  ],
  token_created: [(world) => world.post('/users/alice/auth_tokens'), { type: 'user', id: 'alice' }],
  token_deleted: [
    async (world) => {
      for (let i = 0; i < 2; i++) dataOf(await world.post('/users/alice/auth_tokens'))
      return world.delete('/users/alice/auth_tokens')
    },
    { type: 'user', id: 'alice' },
    { count: 2 },
  ],
  user_created: [
    (world) => withAuthKey(world, 'POST', '/users', { uid: 'Dora', name: 'Dora' }),
    { type: 'user', id: 'dora' },
  ],
  user_updated: [(world) => withAuthKey(world, 'PUT', '/users/alice', { name: 'A' }), { type: 'user', id: 'alice' }],
  user_deleted: [
    async (world) => {
      dataOf(await world.post('/users/alice/auth_tokens'))
      return world.delete('/users/alice', { permanent: true })
    },
    { type: 'user', id: 'alice' },
    { auditEntries: 1 },
  ],
  user_banned: [
    (world) => world.post('/groups/team/bannedusers/bob', undefined, { as: 'alice' }),
    { type: 'user', id: 'bob' },
    { guid: 'team' },
  ],
  user_unbanned: [
    async (world) => {
      dataOf(await world.post('/groups/team/bannedusers/bob'))
      return world.delete('/groups/team/bannedusers/bob')
    },
    { type: 'user', id: 'bob' },
    { guid: 'team' },
  ],
  group_deleted: [(world) => world.delete('/groups/TEAM'), { type: 'group', id: 'team' }],
  role_created: [
    (world) => world.post('/roles', mod),
    { type: 'role', id: 'mod' },
    { before: {}, after: { name: 'Mod', permissions: {}, restricted: [] } },
  ],
  role_updated: [
    async (world) => {
      dataOf(await world.post('/roles', mod))
      return world.put('/roles/mod', { name: 'Moderator', unset: ['metadata'] })
    },
    { type: 'role', id: 'mod' },
    { before: { name: 'Mod' }, after: { name: 'Moderator' } },
  ],
  role_deleted: [
    async (world) => {
      dataOf(await world.post('/roles', mod))
      return world.delete('/roles/mod')
    },
    { type: 'role', id: 'mod' },
    { before: { name: 'Mod', permissions: {}, restricted: [] }, after: {} },
  ],
  role_permissions_updated: [
    (world) => world.put('/roles/default/permissions', { permissions: { createGroup: 'deny' } }),
    { type: 'role', id: 'default' },
    { before: { createGroup: null }, after: { createGroup: 'deny' } },
  ],
  role_features_updated: [
    (world) => world.post('/roles/default/restrictedfeatures', { featuresToRestrict: ['u.createGroup'] }),
    { type: 'role', id: 'default' },
    { before: { restricted: [] }, after: { restricted: ['createGroup'] } },
  ],
  scope_permissions_updated: [
    (world) => world.put('/groups/team/scopes/participant/permissions', { permissions: { sendMessage: 'deny' } }),
    { type: 'group', id: 'team' },
    { scope: 'participant', before: { sendMessage: null }, after: { sendMessage: 'deny' } },
  ],
  data_imported: [
    (world) => world.post('/data_import/users', { users: [{ uid: 'ivy', name: 'Ivy' }, { uid: '' }] }),
    { type: 'app', id: '<app>' },
    { kind: 'users', records: 1 },
  ],
  webhook_created: [
    (world) => world.post('/webhooks', hook),
    { type: 'webhook', id: 'Hook' },
    { before: {}, after: hookRecorded },
  ],
  webhook_updated: [
    async (world) => {
      dataOf(await world.post('/webhooks', hook))
      return world.put('/webhooks/Hook', { name: 'Other' })
    },
    { type: 'webhook', id: 'Hook' },
    { before: { name: 'Hook' }, after: { name: 'Other' } },
  ],
  webhook_deleted: [
    async (world) => {
      dataOf(await world.post('/webhooks', hook))
      return world.delete('/webhooks/Hook')
    },
    { type: 'webhook', id: 'Hook' },
    { before: hookRecorded, after: {} },
  ],
  provider_created: [
    (world) => world.post(customPush, push),
    { type: 'provider', id: 'custom' },
    { ...pushPlace, before: {}, after: expect.objectContaining({ enabled: true, secrets: digest }) },
  ],
  provider_updated: [
    async (world) => {
      dataOf(await world.post(customPush, push))
      return world.put(customPush, { webhookURL: 'https://127.0.0.1:9/other' })
    },
    { type: 'provider', id: 'custom' },
    { ...pushPlace, before: { webhookURL: digest }, after: { webhookURL: digest } },
  ],
  provider_deleted: [
    async (world) => {
      dataOf(await world.post(customPush, push))
      return world.delete(customPush)
    },
    { type: 'provider', id: 'custom' },
    { ...pushPlace, before: expect.objectContaining({ enabled: true, secrets: digest }), after: {} },
  ],
  moderation_engine_updated: [
    (world) => world.put(labels, labelsEngine),
    { type: 'engine', id: 'labels' },
    { keyChanged: true, before: { url: null }, after: { url: 'https://127.0.0.1:9/labels' } },
  ],
  moderation_engine_deleted: [
    async (world) => {
      dataOf(await world.put(labels, labelsEngine))
      return world.delete(labels)
    },
    { type: 'engine', id: 'labels' },
    {
      before: { url: 'https://127.0.0.1:9/labels', onError: 'approve-message', contextMessages: 0 },
      after: {},
    },
  ],
  moderation_rule_created: [
    (world) => world.post('/moderation/rules', rule),
    { type: 'rule', id: 'no-insults' },
    { before: {}, after: ruleRecorded },
  ],
  moderation_rule_updated: [
    async (world) => {
      dataOf(await world.post('/moderation/rules', rule))
      return world.put('/moderation/rules/no-insults', { enabled: false })
    },
    { type: 'rule', id: 'no-insults' },
    { revision: 2, before: { mode: 'on' }, after: { mode: 'off' } },
  ],
  moderation_rule_deleted: [
    async (world) => {
      dataOf(await world.post('/moderation/rules', rule))
      return world.delete('/moderation/rules/no-insults')
    },
    { type: 'rule', id: 'no-insults' },
    { before: ruleRecorded, after: {} },
  ],
  moderation_dry_run_started: [
    async (world) => {
      dataOf(await world.post('/moderation/rules', rule))
      return world.post('/moderation/rules/no-insults/dry-run', {})
    },
    { type: 'rule', id: 'no-insults' },
    { from: expect.any(Number), to: expect.any(Number), sample: 1 },
  ],
  moderation_list_created: [
    (world) => world.post('/moderation/keywords', list),
    { type: 'list', id: 'insults' },
    { before: {}, after: listRecorded },
  ],
  moderation_list_updated: [
    async (world) => {
      dataOf(await world.post('/moderation/keywords', list))
      return world.put('/moderation/keywords/insults', { category: 'word', searchTerms: 'heck' })
    },
    { type: 'list', id: 'insults' },
    { revision: 2, before: { terms: { count: 1, digest } }, after: { terms: { count: 1, digest } } },
  ],
  moderation_list_deleted: [
    async (world) => {
      dataOf(await world.post('/moderation/keywords', list))
      return world.delete('/moderation/keywords/insults')
    },
    { type: 'list', id: 'insults' },
    { before: listRecorded, after: {} },
  ],
  moderation_reason_created: [
    (world) => world.post('/moderation/reasons', reason),
    { type: 'reason', id: 'off-topic' },
    { before: {}, after: { name: 'Off topic' } },
  ],
  moderation_reason_updated: [
    async (world) => {
      dataOf(await world.post('/moderation/reasons', reason))
      return world.put('/moderation/reasons/off-topic', { name: 'Other' })
    },
    { type: 'reason', id: 'off-topic' },
    { before: { name: 'Off topic' }, after: { name: 'Other' } },
  ],
  moderation_reason_deleted: [
    async (world) => {
      dataOf(await world.post('/moderation/reasons', reason))
      const answer = await world.delete('/moderation/reasons/off-topic')
      return { ...answer, body: { data: answer.body } }
    },
    { type: 'reason', id: 'off-topic' },
    { before: { name: 'Off topic' }, after: {} },
  ],
  message_reviewed: [
    async (world) => {
      const { id } = await say(world, 'alice', 'bob', 'hello')
      await world.post(`/messages/${id}/flagged`, {}, { as: 'bob' })
      const answer = await world.call('PATCH', `/moderation/flagged-messages/${id}`, { status: 'approved' })
      return { ...answer, body: { data: answer.body } }
    },
    { type: 'message', id: '<message>' },
    { list: 'flagged', decision: 'approved' },
  ],
}

/** Recorded by the service itself: `moderation-actions.test.ts` and the test below. */
const byService = ['app_created', 'moderation_acted', 'person_export_made']

/** Looked at in `person-exports.test.ts`, where there is something to fetch. */
const ofExports = ['person_export_fetched']

/** Operations of operators only, whose own tests look at what they record: those of paused and deleted apps, and of health. */
const ofDeployment = [
  ...['app_paused', 'app_resumed', 'app_deleted', 'app_undeleted', 'app_removed'],
  ...['doctor_started', 'doctor_stopped'],
]

/** Looked at in `rotate.test.ts`: a command alone does that. */
const ofCommands = ['master_key_changed']

const createTeam = async () => {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  await createGroup(world, 'team', 'alice', { participants: ['bob'] })
  return world
}

describe('the audit log', () => {
  it.each(Object.entries(deeds))('has %s', async (action, [act, { type, id }, details]) => {
    const world = await createTeam()
    dataOf(await act(world))
    const [entry] = await log(world)
    const actsAs = action === 'user_banned' || action === 'person_export_asked' ? { uid: 'alice' } : {}
    const isByAuthKey = action === 'user_created' || action === 'user_updated'
    expect(entry).toEqual({
      id: expect.stringMatching(/^\d+$/),
      action,
      createdAt: expect.any(Number),
      actor: {
        caller: isByAuthKey ? 'authOnly' : 'fullAccess',
        key: fingerprint(world, isByAuthKey ? world.authKey : world.apiKey),
        address: '127.0.0.1',
        ...actsAs,
      },
      target: {
        type,
        id:
          id === '<app>'
            ? world.app.name
            : id === '<key>'
              ? expect.stringMatching(/^[0-9a-f]{8}$/)
              : id === '<message>'
                ? expect.stringMatching(/^\d+$/)
                : id,
      },
      ...(details && { details }),
    })
  })

  it.each([
    ['with members', (world: World) => world.post('/groups/team/members', { usersToBan: ['bob'] })],
    ['in place of members', (world: World) => world.put('/groups/team/members', { usersToBan: ['bob'] })],
    [
      'of a new group',
      (world: World) =>
        world.post('/groups', { guid: 'team2', name: 'Team', type: 'public', members: { usersToBan: ['bob'] } }),
    ],
  ])('has a ban %s', async (_, ban) => {
    const world = await createTeam()
    dataOf(await ban(world))
    const [entry] = (await log(world)).filter(({ action }: { action: string }) => action === 'user_banned')
    expect(entry).toMatchObject({
      target: { type: 'user', id: 'bob' },
      details: { guid: expect.stringMatching(/^team2?$/) },
    })
  })

  it('has the reset of notification settings, and who sends by which provider', async () => {
    const world = await createTeam()
    dataOf(await world.call('PATCH', '/notifications/v1/settings', { sound: { chat: 'bell' } }))
    dataOf(await world.delete('/notifications/v1/settings'))
    dataOf(await world.post(twilio, twilioAccount))
    dataOf(await world.put(twilio, { isEnabled: false }))
    dataOf(await world.delete(twilio))
    const entries = (await log(world)).map(({ action, details }: Record<string, unknown>) => [action, details])
    const sms = { channel: 'sms', kind: 'twilio' }
    expect(entries.slice(0, 4)).toEqual([
      ['provider_deleted', { ...sms, before: expect.anything(), after: {} }],
      ['provider_updated', { ...sms, before: { enabled: true }, after: { enabled: false } }],
      ['provider_created', { ...sms, before: {}, after: expect.anything() }],
      ['notification_settings_updated', { before: { sound: { chat: 'bell' } }, after: { sound: null } }],
    ])
  })

  it('has every action that is declared', () => {
    const ofReading = ['reading_opened', 'conversation_read', 'emulators_read']
    const ofOperators = auditActions.filter((action) => action.startsWith('operator_') || ofReading.includes(action))
    const all = [...Object.keys(deeds), ...byService, ...ofExports, ...ofDeployment, ...ofCommands, ...ofOperators]
    expect(all.sort()).toEqual([...auditActions].sort())
  })

  it('begins with the app and its keys, made by the service', async () => {
    const world = await createWorld()
    expect(
      (await log(world)).map(({ action, actor, target }: Record<string, unknown>) => [action, actor, target]),
    ).toEqual([
      ['apikey_created', { caller: 'service' }, { type: 'apikey', id: fingerprint(world, world.authKey) }],
      ['apikey_created', { caller: 'service' }, { type: 'apikey', id: fingerprint(world, world.apiKey) }],
      ['app_created', { caller: 'service' }, { type: 'app', id: world.app.name }],
    ])
  })

  it('has what users do, too', async () => {
    const world = await createTeam()
    const token = await tokenOf(world, 'alice')
    dataOf(await world.delete('/groups/team', undefined, { token }))
    expect((await log(world))[0].actor).toEqual({ caller: 'token', uid: 'alice', address: '127.0.0.1' })
  })

  it('has tokens that are made with a user, and how many old ones a new one ends', async () => {
    const world = await createTeam()
    await withAuthKey(world, 'POST', '/users', { uid: 'dora', name: 'Dora', withAuthToken: true })
    const [token, user] = await log(world)
    expect([token.action, user.action, token.actor.caller]).toEqual(['token_created', 'user_created', 'authOnly'])
    for (let i = 0; i < 101; i++) dataOf(await world.post('/users/bob/auth_tokens'))
    const [last] = await log(world, '?target=bob')
    expect(last.details).toEqual({ dropped: 1 })
  })

  it('has nothing of what failed, changed nothing, or is the daily use', async () => {
    const world = await createTeam()
    const before = await log(world)
    await world.post('/roles', { ...mod, role: 'default' })
    await world.put('/roles/default', {})
    await world.delete('/apikeys/nothing')
    await world.delete('/groups/none')
    await world.delete('/groups/team', undefined, { as: 'bob' })
    await world.post('/groups/team/bannedusers/alice', undefined, { as: 'bob' })
    await world.delete('/users/alice/auth_tokens')
    await world.post('/webhooks', { ...hook, triggers: ['nonsense'] })
    await world.delete(customPush)
    await world.put(twilio, { isEnabled: true })
    await world.call('PATCH', '/notifications/v1/settings', { sound: {} })
    await world.delete('/notifications/v1/settings')
    await world.call('PATCH', '/notifications/v1/contact-details', { email: 'bob@example.com' }, { as: 'bob' })
    await world.put('/users/alice', { name: 'A' })
    await world.delete('/users/alice')
    await world.post('/users', { uid: 'carol', name: 'Carol' })
    expect(await log(world)).toEqual(before)
  })

  it('keeps no secret', async () => {
    const world = await createTeam()
    const secrets = [world.apiKey, world.authKey]
    secrets.push(dataOf(await world.post('/apikeys', { name: 'Second' })).apiKey)
    secrets.push(dataOf(await world.post('/users/alice/auth_tokens')).authToken)
    secrets.push(dataOf(await world.post('/webhooks', hook)).secret)
    dataOf(await world.put('/webhooks/Hook', { useBasicAuth: true, username: 'me', password: 'veryS3cret' }))
    dataOf(await world.post(customPush, push))
    secrets.push(dataOf(await world.post(`${customPush}/secret`)).secret)
    dataOf(await world.post(twilio, twilioAccount))
    dataOf(await world.post(sendGrid, sendGridAccount))
    secrets.push(twilioAccount.twilioAuthToken, sendGridAccount.sendGridApiKey)
    secrets.push(new URL(dataOf(await world.put(sendGrid, {})).repliesWebhook).searchParams.get('token') as string)
    const text = JSON.stringify(await log(world))
    for (const secret of [...secrets, 'veryS3cret', 'token=1', 'an0therS3cret', 'token=2'])
      expect(text).not.toContain(secret)
  })

  it('is found by action, actor, target and time', async () => {
    const world = await createTeam()
    dataOf(await world.post('/groups/team/bannedusers/bob', undefined, { as: 'alice' }))
    dataOf(await world.post('/webhooks', hook))
    dataOf(await withAuthKey(world, 'POST', '/users', { uid: 'dora', name: 'Dora' }))
    const actions = async (query: string) =>
      (await log(world, `?${query}`)).map(({ action }: { action: string }) => action)
    const { createdAt } = (await log(world))[0]
    expect(await actions('action=user_banned')).toEqual(['user_banned'])
    expect(await actions(`key=${fingerprint(world, world.authKey)}`)).toEqual(['user_created'])
    expect(await actions('uid=ALICE')).toEqual(['user_banned'])
    expect(await actions('operator=1')).toEqual([])
    expect(await actions('target=Bob&targetType=user')).toEqual(['user_banned'])
    expect(await actions('target=bob&targetType=group')).toEqual([])
    expect(await actions('target=Bob&action=user_banned')).toEqual(['user_banned'])
    expect(await actions('target=Hook')).toEqual(['webhook_created'])
    expect(await actions('target=hook')).toEqual([])
    expect(await actions(`to=${createdAt - 3600}`)).toEqual([])
    expect(await actions(`from=${createdAt + 1}`)).toEqual([])
    expect(await actions(`from=${createdAt}&action=user_created`)).toEqual(['user_created'])
  })

  it('is found by the ids of rules, lists and reasons as they are', async () => {
    const world = await createTeam()
    const [ofList, ofRule, ofReason] = [
      { ...list, id: 'Insults' },
      { ...rule, id: 'NoInsults' },
      { ...reason, id: 'OffTopic' },
    ]
    dataOf(await world.post('/moderation/keywords', ofList))
    dataOf(await world.post('/moderation/rules', ofRule))
    dataOf(await world.post('/moderation/reasons', ofReason))
    const found = async (target: string) =>
      (await log(world, `?target=${target}`)).map(({ target: { type } }: { target: { type: string } }) => type)
    expect(await Promise.all([ofList, ofRule, ofReason].map(({ id }) => found(id)))).toEqual([
      ['list'],
      ['rule'],
      ['reason'],
    ])
    expect(await found('noinsults')).toEqual([])
  })

  it('is read in pages, each entry once', async () => {
    const world = await createTeam()
    for (let i = 0; i < 7; i++) dataOf(await world.post('/users/alice/auth_tokens'))
    const all = (await log(world)).map(({ id }: { id: string }) => id)
    const found: string[] = []
    let before: string | undefined
    do {
      const { body } = await world.get(`/audit-log?limit=3${before === undefined ? '' : `&before=${before}`}`)
      found.push(...body.data.map(({ id }: { id: string }) => id))
      expect(body.meta.current).toEqual({ limit: 3, count: body.data.length })
      before = body.meta.next?.before
    } while (before !== undefined)
    expect(found).toEqual(all)
  })

  it.each(['action=nothing', 'key=ABC', 'before=x', 'limit=0', 'limit=1001', 'from=-1', 'targetType=x'])(
    'refuses what is wrong: %s',
    async (query) => {
      const world = await createWorld()
      expect(refusal(await world.get(`/audit-log?${query}`))).toBe('400 ERR_BAD_REQUEST')
    },
  )

  it('belongs to the fullAccess keys of its app', async () => {
    const [world, other] = [await createTeam(), await createWorld()]
    const token = await tokenOf(world, 'alice')
    expect(refusal(await withAuthKey(world, 'GET', '/audit-log', undefined))).toBe('403 AUTH_ERR_NO_ACCESS')
    expect(refusal(await world.get('/audit-log', { token }))).toBe('403 AUTH_ERR_NO_ACCESS')
    expect((await log(other)).length).toBe(3)
  })

  it('no longer names a user who was deleted for good, but in the entry that says so', async () => {
    const world = await createTeam()
    dataOf(await world.post('/groups/team/bannedusers/bob', undefined, { as: 'alice' }))
    dataOf(await world.post('/users/alice/auth_tokens'))
    dataOf(await world.delete('/users/alice', { permanent: true }))
    const [deleted, token, ban] = await log(world)
    expect(deleted).toMatchObject({ action: 'user_deleted', target: { id: 'alice' } })
    expect(token.target.id).toMatch(/^~[0-9a-f]{8}$/)
    expect(ban.actor).toMatchObject({ uid: token.target.id, address: token.target.id })
    expect(ban.target.id).toBe('bob')
    expect(await log(world, '?uid=alice')).toEqual([])
  })

  it('forgets what is older than it is kept, and still proves what is left', async () => {
    const { database, secrets } = (await createWorld()).context
    const appId = -randomInt(1, 2 ** 31)
    const record = async (days: number) => {
      const audit = createAudit(secrets, { caller: 'service' }, () => Date.now() - days * 86_400_000)
      await audit.record(database, appId, { action: 'app_created', type: 'app', target: `${days} days old` })
    }
    // What was written before and committed after goes with what follows it in the chain.
    for (const days of [400, 390, 100, 380, 1]) await record(days)
    const targets = async () => (await listEntries(database, appId, {})).data.map(({ target }) => target.id)
    const now = Math.floor(Date.now() / 1000)
    const cutOff = now - 365 * 86_400
    await linkEntries(database, secrets)
    // Entries that go while somebody looks are not missed.
    let asked = 0
    const beside: Queryable = {
      ...database,
      query: async (query, values) => {
        const rows = await database.query(query, values)
        if (++asked === 3) await removeOldEntries(database, secrets, cutOff, now)
        return rows as never
      },
    }
    expect(await verifyAuditLog(beside, secrets, appId)).toMatchObject({ entries: 3, unlinked: 0, flaws: [] })
    expect((await targets()).sort()).toEqual(['1 days old', '100 days old', '380 days old'])
    expect(await verifyAuditLog(database, secrets, appId)).toMatchObject({ entries: 3, unlinked: 0, flaws: [] })
    await record(0)
    await linkEntries(database, secrets)
    await removeOldEntries(database, secrets, now + 60, now + 60)
    expect(await targets()).toEqual([])
    expect(await verifyAuditLog(database, secrets, appId)).toMatchObject({ entries: 0, flaws: [] })
  })

  it('is forgotten also behind entries of a moment when the clock was ahead, and those with it', async () => {
    const { database, secrets } = (await createWorld()).context
    const appId = -randomInt(1, 2 ** 31)
    const now = Math.floor(Date.now() / 1000)
    const record = async (days: number, count = 1) => {
      const audit = createAudit(secrets, { caller: 'service' }, () => (now - days * 86_400) * 1000)
      const entry = { action: 'app_created', type: 'app', target: `${days} days old` } as const
      await Promise.all(Array.from({ length: count }, () => audit.record(database, appId, entry)))
    }
    // More than are looked at at once.
    await record(-5000, 1_200)
    for (const days of [390, -4000, 380, -3000, 100, 370]) await record(days)
    await linkEntries(database, secrets)
    await removeOldEntries(database, secrets, now - 365 * 86_400, now)
    const { data } = await listEntries(database, appId, {})
    const left = ['-3000 days old', '100 days old', '370 days old']
    expect(data.map(({ target }) => target.id).sort()).toEqual(left)
    expect(await verifyAuditLog(database, secrets, appId)).toMatchObject({ entries: 3, unlinked: 0, flaws: [] })
  })
})
