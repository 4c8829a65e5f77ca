import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { patch } from '../support/notifications.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const remove = (world: World, uid: string) => world.delete(`/users/${uid}`, { permanent: true })

const appTables = async (world: World): Promise<string[]> => {
  const rows = await world.context.database.query<{ name: string }>({
    name: 'test tables',
    text: `select table_name as name from information_schema.columns
      where table_schema = 'public' and column_name = 'app_id' order by 1`,
  })
  return rows.map(({ name }) => name)
}

/** The tables in which rows of the app contain a text anywhere. */
const tablesWith = async (world: World, text: string): Promise<string[]> => {
  const found: string[] = []
  for (const table of await appTables(world)) {
    const rows = await world.context.database.run(
      sql`select from ${sql.table(table)} t where app_id = ${world.app.appId} and strpos(t::text, ${text}) > 0 limit 1`,
    )
    if (rows.length > 0) found.push(table)
  }
  return found
}

/** A user who has left something in every table, in talks with bob and in groups. */
const makeVictim = async (world: World) => {
  const victim = 'victim'
  await world.post('/users', {
    uid: victim,
    name: 'Zorblax',
    avatar: 'https://example.com/zorblax.png',
    metadata: { city: 'zorblaxton', '@private': { email: 'zorblax@example.com' } },
    tags: ['zorblax'],
    withAuthToken: true,
  })
  const talk = await say(world, victim, 'bob', 'from zorblax')
  await say(world, 'bob', victim, 'to zorblax', { parentId: talk.id })
  await say(world, victim, victim, 'note of zorblax')
  dataOf(await world.post('/messages', { receiver: victim, receiverType: 'user', data: { text: 'dear zorblax' } }))
  dataOf(await sendForm(world, toBob, [picture], { as: victim }))
  dataOf(await patch(world, `/notifications/v1/preferences?uid=${victim}`, { groupPreferences: { groupMessages: 1 } }))
  const muted = { conversations: [{ id: 'bob', type: 'oneOnOne' }] }
  dataOf(await world.put(`/notifications/v1/preferences/mute?uid=${victim}`, muted))
  await world.post('/users/bob/conversation/read', undefined, { as: victim })
  await world.post(`/users/${victim}/conversation/read`, undefined, { as: 'bob' })

  await createGroup(world, 'owned', victim, { admins: ['carol'], participants: ['bob'] })
  await createGroup(world, 'joined', 'bob', { participants: ['carol'] })
  await createGroup(world, 'left', 'bob', { moderators: ['carol'] })
  await createGroup(world, 'banned', 'bob', { participants: ['carol'] })
  for (const guid of ['joined', 'left', 'banned']) {
    dataOf(await world.post(`/groups/${guid}/members`, { admins: [victim] }, { as: 'bob' }))
    await sayInGroup(world, victim, guid, `said in ${guid}`)
  }
  const inGroup = await sayInGroup(world, victim, 'owned', 'said in owned')
  await sayInGroup(world, 'bob', 'owned', 'answer', { parentId: inGroup.id })
  dataOf(await world.put('/groups/left', { description: 'changed' }, { as: victim }))
  dataOf(await world.post('/groups/left/bannedusers/dave', undefined, { as: victim }))
  dataOf(await world.delete('/groups/left/members', undefined, { as: victim }))
  dataOf(await world.post(`/groups/banned/bannedusers/${victim}`, undefined, { as: 'bob' }))

  const { appId } = world.app
  const run = (fragment: ReturnType<typeof sql>) => world.context.database.run(fragment)
  const [conversation] = await world.context.database.run<{ key: number }>(
    sql`select conversation as key from groups where app_id = ${appId} and guid = 'owned'`,
  )
  const [pair] = await world.context.database.run<{ key: number }>(
    sql`select conversation as key from messages where app_id = ${appId} and id = ${talk.id}`,
  )
  for (const [message, key] of [
    [talk.id, pair?.key],
    [inGroup.id, conversation?.key],
  ]) {
    await run(sql`insert into reactions (app_id, message_id, reaction, uid, reacted_at)
      values (${appId}, ${message}, 'x', 'victim', 1), (${appId}, ${message}, 'x', 'bob', 1)`)
    await run(sql`insert into interactions values (${appId}, ${message}, 'victim', 'button', 1)`)
    await run(
      sql`insert into saved_messages values (${appId}, 'victim', ${message}, 1), (${appId}, 'bob', ${message}, 1)`,
    )
    await run(sql`insert into thread_subscriptions values
      (${appId}, 'victim', ${message}, 1), (${appId}, 'bob', ${message}, 1) on conflict do nothing`)
    await run(sql`insert into pinned_messages values (${appId}, ${key}, ${message}, 'victim', 1)`)
    await run(sql`insert into threads values (${appId}, ${message}, ${key}, 1, ${message}, 1) on conflict do nothing`)
    await run(sql`insert into moderation_flags (app_id, message, uid, remark, flagged_at) values
      (${appId}, ${message}, 'victim', 'says zorblax', 1), (${appId}, ${message}, 'carol', 'no', 1)`)
    await run(sql`insert into moderation_claims values (${appId}, ${message}, 'victim', 9999999999)`)
    await run(sql`insert into moderation_notes (app_id, message, text, author, created_at)
      values (${appId}, ${message}, 'look', 'victim', 1)`)
    await run(sql`insert into moderation_reviews (app_id, message, list, decision, reviewer, reviewed_at, settled)
      values (${appId}, ${message}, 'flagged', 'approved', 'victim', 1, true)`)
  }
  await run(sql`insert into message_moderation
      (app_id, message, conversation, sender, status, lane, created_at, updated_at)
      values (${appId}, ${talk.id}, ${pair?.key}, 'victim', 'approved', 'one', 1, 1)`)
  await run(sql`insert into moderation_decisions (app_id, message, reason, lane, decision, at, acted)
      values (${appId}, ${talk.id}, 'victim says zorblax', 'two', 'approved', 1, true)`)
  await run(sql`insert into moderation_queue (app_id, message, opened_at, by_rule)
      values (${appId}, ${talk.id}, 1, '[{"ruleId": "victim"}]')`)
  await run(sql`insert into ended_jwts values (${appId}, 'token', 'victim', 1)`)
  await run(sql`insert into presence values (${appId}, 'victim', 'node of a test', '{}')`)
  await run(sql`insert into app_pinned_conversations values (${appId}, 1, 'victim', 0, 1), (${appId}, 1, 'bob', 1, 1)`)
  await run(sql`insert into friends values
    (${appId}, 'victim', 'bob', 1), (${appId}, 'bob', 'victim', 1), (${appId}, 'bob', 'carol', 1), (${appId}, 'carol', 'bob', 1)`)
  await run(sql`insert into blocks (app_id, blocker, blocked, blocked_at) values
    (${appId}, 'victim', 'dave', 1), (${appId}, 'dave', 'victim', 1), (${appId}, 'dave', 'carol', 1)`)
  dataOf(await world.put('/retention/users/victim/hold', {}))
  for (const uid of [victim, 'bob']) {
    dataOf(await world.post('/me/export', {}, { as: uid }))
    dataOf(await world.post(`/users/${uid}/export`, {}))
    await until(async () => dataOf(await world.get(`/users/${uid}/export`)).export.status === 'ready')
  }
  return { talk, inGroup }
}

describe('deleting a user for good', () => {
  it('leaves nothing of them in any table but their messages in groups, that actions happened, and that they were removed', async () => {
    const world = await createWorld()
    await createUsers(world, 'bob', 'carol', 'dave')
    const { talk } = await makeVictim(world)
    const all = await appTables(world)
    // Events are kept only where somebody listens, and name users and messages; what is shown of them is read then.
    const nothingOfUsers = [
      ...['api_keys', 'apps', 'events', 'former_users', 'media_files', 'media_usage', 'media_uses'],
      ...[
        'erased_digests',
        'erasures',
        'group_retention',
        'retention_progress',
        'reaction_counts',
        'roles',
        'webhook_deliveries',
        'webhook_states',
        'webhook_triggers',
        'webhooks',
      ],
      ...['notification_plans', 'notification_providers', 'notification_senders', 'notification_settings'],
      // What an app has set.
      ...['moderation_engines', 'moderation_engine_lists', 'moderation_lists', 'moderation_list_revisions'],
      ...['moderation_reasons', 'moderation_rules', 'moderation_rule_revisions'],
      // Filled where an operator reads what people wrote, for an hour, and where one runs the doctor.
      ...['operator_readings', 'operator_reads', 'doctor_examples'],
      // Digests, which the service makes a moment later, or of what was revoked.
      ...['audit_chains', 'ledger', 'deleted_api_keys'],
      // Of the app alone: where its messages came from, and who plans for it.
      ...['app_imports', 'kept_message_ids', 'notification_planners', 'notification_flights'],
      // Filled where a rule is run dry, and looked at in the tests of that.
      ...[
        'moderation_dry_runs',
        'moderation_dry_run_days',
        'moderation_dry_run_examples',
        'moderation_dry_run_senders',
      ],
      // Filled where a provider is there, and removed with the user in the tests of notifications.
      ...['notification_contacts', 'notification_deliveries', 'push_tokens'],
      ...['notification_correspondences', 'notification_unsubscriptions'],
      // Users are numbers there, but for one table, which their tests look at.
      ...['active_user_bits', 'active_users', 'usage_apps', 'usage_users'],
      ...['usage_messages', 'usage_notifications', 'usage_peaks', 'usage_rule_days', 'usage_rules', 'usage_sockets'],
    ]
    // The search index is filled behind the sends: by now, or in a moment.
    const filled = async (text: string) => (await tablesWith(world, text)).filter((table) => table !== 'search_entries')
    expect(await filled('victim')).toEqual(
      all.filter((table) => !nothingOfUsers.includes(table) && table !== 'search_entries'),
    )
    expect(await filled('orblax')).toEqual([
      ...['messages', 'moderation_decisions', 'moderation_flags', 'person_export_records', 'users'],
    ])

    expect(dataOf(await remove(world, 'Victim'))).toEqual({ success: true, message: expect.stringContaining('victim') })
    // Whoever is given the uid later is somebody else, and banned where it was. The audit log tells of the removal.
    expect(await tablesWith(world, 'victim')).toEqual(['audit_log', 'former_users', 'group_bans', 'messages'])
    expect(await tablesWith(world, 'orblax')).toEqual([])
    const { appId } = world.app
    const left = await world.context.database.run<{ kind: number }>(
      sql`select distinct kind from messages m where app_id = ${appId} and strpos(m::text, 'victim') > 0`,
    )
    expect(left).toEqual([{ kind: 2 }])
    // What others have stays: reactions, saved messages and subscriptions in groups, friends and blocks among them.
    const counted = await world.context.database.run(sql`
      select (select count(*) from reactions where app_id = ${appId}) as reactions,
        (select count(*) from saved_messages where app_id = ${appId}) as saved,
        (select count(*) from pinned_messages where app_id = ${appId} and pinned_by = 'app_system') as pinned,
        (select count(*) from friends where app_id = ${appId}) as friends,
        (select count(*) from blocks where app_id = ${appId}) as blocks,
        (select count(*) from receipt_steps where app_id = ${appId} and conversation not in (
          select key from conversations where app_id = ${appId})) as steps,
        (select count(*) from messages where app_id = ${appId} and conversation not in (
          select key from conversations where app_id = ${appId})) as messages`)
    expect(counted).toEqual([{ reactions: 1, saved: 1, pinned: 1, friends: 2, blocks: 1, steps: 0, messages: 0 }])
    expect(refusal(await world.get(`/messages/${talk.id}`))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
  })

  it('makes him unknown', async () => {
    const world = await createWorld()
    await createUsers(world, 'bob')
    const { authToken } = dataOf(await world.post('/users', { uid: 'alice', name: 'Alice', withAuthToken: true }))
    await say(world, 'alice', 'bob', 'hello')
    await remove(world, 'alice')
    expect(refusal(await world.get('/users/alice'))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await remove(world, 'alice'))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.get('/users', { token: authToken }))).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    expect(refusal(await world.get('/users', { as: 'alice' }))).toBe('404 ERR_UID_NOT_FOUND')
    expect(dataOf(await world.get('/conversations', { as: 'bob' }))).toEqual([])
    const message = { receiver: 'alice', receiverType: 'user', data: { text: 'hi' } }
    expect(refusal(await world.post('/messages', message, { as: 'bob' }))).toBe('404 ERR_UID_NOT_FOUND')
  })

  it('frees the uid for somebody else, who starts from nothing', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    await say(world, 'alice', 'bob', 'old')
    await remove(world, 'alice')
    await createUsers(world, 'alice')
    expect(dataOf(await world.get('/conversations', { as: 'alice' }))).toEqual([])
    expect(refusal(await world.get('/groups/team/messages', { as: 'alice' }))).toBe('403 ERR_GROUP_NOT_JOINED')
    await say(world, 'bob', 'alice', 'new')
    expect(texts(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual(['new'])
  })

  it('keeps his messages in groups, from a deleted user', async () => {
    const world = await createWorld()
    await createUsers(world, 'bob', 'carol', 'dave')
    await makeVictim(world)
    await remove(world, 'victim')
    const messages = dataOf(await world.get('/groups/owned/messages?limit=100', { as: 'bob' }))
    const said = messages.find(({ data }: { data: { text?: string } }) => data.text === 'said in owned')
    expect(said).toMatchObject({ sender: 'victim' })
    expect(said.data.entities.sender.entity).toEqual({ uid: 'victim', name: 'Deleted user' })
    const actions = dataOf(await world.get('/groups/left/messages?limit=100', { as: 'bob' })).filter(
      ({ category }: { category: string }) => category === 'action',
    )
    expect(actions.map(({ data }: { data: { action: string } }) => data.action)).toEqual(['added', 'banned', 'left'])
    const [added, banned, left] = actions.map(({ data }: { data: { entities: object } }) => data.entities)
    const deleted = { entity: { uid: 'victim', name: 'Deleted user' }, entityType: 'user' }
    expect(added).toMatchObject({ by: { entity: { uid: 'bob', name: 'Bob' } }, on: deleted })
    expect(banned).toMatchObject({ by: deleted, on: { entity: { uid: 'dave', name: 'Dave' } } })
    expect(left).toMatchObject({ by: deleted, on: deleted })
  })

  it('passes his groups to the oldest active admin, else to the system user', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave', 'erin')
    await createGroup(world, 'old', 'alice', { admins: ['erin', 'dave', 'carol', 'bob'] })
    await createGroup(world, 'alone', 'alice', { moderators: ['bob', 'erin'] })
    await world.context.database.run(sql`
      update group_members set joined_at = case uid when 'erin' then 3 when 'bob' then 1 else 2 end
      where app_id = ${world.app.appId} and guid = 'old'`)
    await world.delete('/users', { uidsToDeactivate: ['bob'] })
    await remove(world, 'alice')
    expect(dataOf(await world.get('/groups/old'))).toMatchObject({ owner: 'carol', membersCount: 3 })
    expect(dataOf(await world.get('/groups/alone'))).toMatchObject({ owner: 'app_system', membersCount: 1 })
    await remove(world, 'carol')
    await remove(world, 'dave')
    await remove(world, 'erin')
    expect(dataOf(await world.get('/groups/old'))).toMatchObject({ owner: 'app_system', membersCount: 0 })
  })

  it('counts him out of his groups once, also when he was deactivated before', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'bob', { participants: ['alice', 'carol'] })
    await world.delete('/users/alice')
    await remove(world, 'alice')
    expect(dataOf(await world.get('/groups/team')).membersCount).toBe(2)
    await remove(world, 'carol')
    expect(dataOf(await world.get('/groups/team')).membersCount).toBe(1)
  })

  it('makes read by all what only he had not read, and keeps the unread counts of others', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const { id } = await sayInGroup(world, 'alice', 'team', 'one')
    await world.post('/groups/team/conversation/read', undefined, { as: 'bob' })
    await sayInGroup(world, 'alice', 'team', 'two')
    await remove(world, 'carol')
    const messages = dataOf(await world.get('/groups/team/messages', { as: 'alice' }))
    expect(messages.find((message: { id: string }) => message.id === id)).toHaveProperty('readAt')
    expect(messages.at(-1)).not.toHaveProperty('readAt')
    expect(dataOf(await world.get('/groups/team/conversation', { as: 'bob' })).unreadMessageCount).toBe('1')
  })

  it('succeeds once when it is asked for many times at the same time, while others talk to him', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    await say(world, 'bob', 'alice', 'first')
    await say(world, 'carol', 'alice', 'first')
    const send = (from: string) =>
      world.post('/messages', { receiver: 'alice', receiverType: 'user', data: { text: 'x' } }, { as: from })
    const read = (as: string) => world.post('/users/alice/conversation/read', undefined, { as })
    const [answers, others] = await Promise.all([
      Promise.all(Array.from({ length: 5 }, () => remove(world, 'alice'))),
      Promise.all([
        ...['bob', 'carol'].flatMap((uid) => Array.from({ length: 10 }, () => [send(uid), read(uid)]).flat()),
        ...Array.from({ length: 10 }, (_, i) => sayInGroup(world, 'bob', 'team', `m${i}`)),
        world.delete('/users', { uidsToDeactivate: ['carol'] }),
      ]),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404])
    for (const answer of others) if ('status' in answer) expect([200, 403, 404]).toContain(answer.status)
    const traces = (await tablesWith(world, 'alice')).filter((table) => table !== 'messages')
    expect(traces).toEqual(['audit_log', 'former_users'])
    const left = await world.context.database.run(sql`
      select from messages where app_id = ${world.app.appId} and kind = 1`)
    expect(left).toEqual([])
    expect(dataOf(await world.get('/groups/team'))).toMatchObject({ owner: 'app_system', membersCount: 1 })
  })

  it('leaves nothing of talks that begin at that moment', async () => {
    const world = await createWorld()
    const crowd = Array.from({ length: 30 }, (_, i) => `u${i}`)
    await createUsers(world, ...crowd)
    for (let round = 0; round < 10; round++) {
      await createUsers(world, 'alice')
      const body = { receiver: 'alice', receiverType: 'user', data: { text: 'x' } }
      const send = (as: string) => world.post('/messages', body, { as })
      const early = crowd.slice(0, 10).map(send)
      const deletion = Promise.race(early).then(() => remove(world, 'alice'))
      const late = crowd.slice(10).map((uid, i) => early[i % early.length]?.then(() => send(uid)))
      const sends = [...early, ...late].flatMap((sent) => sent ?? [])
      expect((await deletion).status).toBe(200)
      for (const { status } of await Promise.all(sends)) expect([200, 404]).toContain(status)
      expect(await tablesWith(world, 'alice')).toEqual(['audit_log', 'former_users'])
    }
  })
})
