import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { retain } from '../../src/areas/retention/job.ts'
import { step } from '../../src/areas/retention/step.ts'
import { findDrift } from '../../src/doctor/drift.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { until } from '../support/until.ts'
import { untilWaitedFor, untilWaitsBehind } from '../support/waiters.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

const day = 86_400
const now = () => Math.floor(Date.now() / 1000)
const run = (world: World, at = now()) => retain(world.context, at, { only: world.app.appId })
const set = async (world: World, settings: object) =>
  dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, settings))
const drift = (world: World) => findDrift(world.context.database, world.app.appId)

const createTeam = async () => {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
  await createGroup(world, 'other', 'alice', { participants: ['bob', 'carol'] })
  return world
}

/** Makes everything that was said so far older, as if it had been sent days ago. */
const age = async (world: World, days: number) => {
  const { database } = world.context
  const { appId } = world.app
  const by = days * day
  await database.run(
    sql`update messages set sent_at = sent_at - ${by}, updated_at = updated_at - ${by} where app_id = ${appId}`,
  )
  await database.run(sql`update threads set updated_at = updated_at - ${by} where app_id = ${appId}`)
  await database.run(sql`update conversations
    set last_sent_at = last_sent_at - ${by}, listed_sent_at = listed_sent_at - ${by},
      all_delivered_sent_at = greatest(0, all_delivered_sent_at - ${by}), all_read_sent_at = greatest(0, all_read_sent_at - ${by})
    where app_id = ${appId}`)
  await database.run(sql`update conversation_states
    set delivered_sent_at = greatest(0, delivered_sent_at - ${by}), read_sent_at = greatest(0, read_sent_at - ${by}),
      unread_sent_at = greatest(0, unread_sent_at - ${by}), counted_sent_at = greatest(0, counted_sent_at - ${by}),
      cleared_sent_at = greatest(0, cleared_sent_at - ${by})
    where app_id = ${appId}`)
  await database.run(sql`update receipt_steps set sent_at = sent_at - ${by} where app_id = ${appId}`)
}

const textsIn = async (world: World, path: string, as = 'bob') =>
  dataOf(await world.get(`${path}?category=message&limit=1000`, { as })).map(
    ({ data }: { data: { text?: string } }) => data?.text,
  )
const toTeam = { receiver: 'team', receiverType: 'group' }
const inTeam = (world: World) => textsIn(world, '/groups/team/messages')

describe('retention', () => {
  it('removes what is older than the app has set, with all that hangs on it', async () => {
    const world = await createTeam()
    const old = await sayInGroup(world, 'alice', 'team', 'an old word')
    dataOf(await world.post(`/messages/${old.id}/reactions/👍`, undefined, { as: 'bob' }))
    dataOf(await world.post(`/messages/${old.id}/save`, undefined, { as: 'bob' }))
    dataOf(await world.post(`/messages/${old.id}/pin`, undefined, { as: 'alice' }))
    await say(world, 'alice', 'bob', 'old to bob')
    await age(world, 31)
    const quoting = await sayInGroup(world, 'bob', 'team', 'a new word', { quotedMessageId: old.id })
    expect(await run(world)).toEqual({ removed: 0, stripped: 0 })
    await set(world, { messageRetentionDays: 30 })
    expect((await run(world)).removed).toBeGreaterThanOrEqual(2)

    expect(await inTeam(world)).toEqual(['a new word'])
    expect(await textsIn(world, '/users/alice/messages')).toEqual([])
    expect(refusal(await world.get(`/messages/${old.id}`, { as: 'bob' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(dataOf(await world.get(`/messages/${quoting.id}`, { as: 'bob' })).quotedMessage).toBeUndefined()
    expect(dataOf(await world.get('/groups/team/messages?saved=true', { as: 'bob' }))).toEqual([])
    expect(dataOf(await world.get('/groups/team/messages?pinned=true', { as: 'bob' }))).toEqual([])
    expect(
      dataOf(await world.get('/messages?searchKey=word', { as: 'bob' })).map(({ id }: { id: string }) => id),
    ).toEqual([quoting.id])
    const unread = dataOf(await world.get('/groups/team/messages?unread=true&count=true', { as: 'carol' }))
    expect(unread).toEqual([expect.objectContaining({ count: 1 })])
    expect(await drift(world)).toEqual([])
    expect(await run(world)).toEqual({ removed: 0, stripped: 0 })
  })

  it('takes along files, and the last message of a conversation', async () => {
    const world = await createTeam()
    const [, sent] = [
      await say(world, 'alice', 'bob', 'first'),
      dataOf(await sendForm(world, toBob, [picture], { as: 'alice' })),
    ]
    const { url } = sent.data.attachments[0]
    await age(world, 31)
    expect((await fetch(url)).status).toBe(200)
    await set(world, { messageRetentionDays: 30 })
    await run(world)
    expect((await fetch(url)).status).toBe(404)
    const deleted = dataOf(await world.get('/conversations', { as: 'bob' })).find(
      ({ conversationId }: { conversationId: string }) => conversationId === 'alice_user_bob',
    )
    expect(deleted?.lastMessage).toBeUndefined()
    expect(await textsIn(world, '/users/alice/messages')).toEqual([])
    await say(world, 'bob', 'alice', 'on we go')
    expect(await textsIn(world, '/users/alice/messages')).toEqual(['on we go'])
    expect(await drift(world)).toEqual([])
  })

  it('strips instead, where that is set: messages stay as deleted ones', async () => {
    const world = await createTeam()
    const old = await sayInGroup(world, 'alice', 'team', 'old')
    await sayInGroup(world, 'bob', 'team', 'a reply', { parentId: old.id })
    await age(world, 31)
    await sayInGroup(world, 'alice', 'team', 'new')
    await set(world, { messageRetentionDays: 30, messageRetention: 'strip' })
    expect(await run(world)).toEqual({ removed: 0, stripped: 2 })
    expect(await inTeam(world)).toEqual([undefined, undefined, 'new'])
    const stripped = dataOf(await world.get(`/messages/${old.id}`, { as: 'bob' }))
    expect(stripped).toMatchObject({ deletedBy: 'app_system' })
    expect(stripped.replyCount ?? 0).toBe(0)
    expect(await run(world)).toEqual({ removed: 0, stripped: 0 })
    expect(await drift(world)).toEqual([])
    // Whoever then deletes goes over all of it again.
    await set(world, { messageRetention: 'delete' })
    expect((await run(world)).removed).toBeGreaterThanOrEqual(2)
    expect(await inTeam(world)).toEqual(['new'])
    expect(await drift(world)).toEqual([])
  })

  it('keeps what has younger replies as a deleted message, until the last of them goes', async () => {
    const world = await createTeam()
    const parent = await sayInGroup(world, 'alice', 'team', 'the parent')
    await sayInGroup(world, 'bob', 'team', 'first reply', { parentId: parent.id })
    await age(world, 20)
    await sayInGroup(world, 'carol', 'team', 'second reply', { parentId: parent.id })
    await age(world, 20)
    await set(world, { messageRetentionDays: 30 })
    await run(world)
    expect(dataOf(await world.get(`/messages/${parent.id}`, { as: 'bob' }))).toMatchObject({
      deletedBy: 'app_system',
      replyCount: 1,
    })
    expect(await drift(world)).toEqual([])
    expect((await run(world, now() + 15 * day)).removed).toBe(2)
    expect(refusal(await world.get(`/messages/${parent.id}`, { as: 'bob' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await drift(world)).toEqual([])
  })

  it('is as a group has set, in place of the app', async () => {
    const world = await createTeam()
    await sayInGroup(world, 'alice', 'team', 'in team')
    await sayInGroup(world, 'alice', 'other', 'in other')
    await say(world, 'alice', 'bob', 'to bob')
    await age(world, 20)
    expect(dataOf(await world.get('/groups/team/retention'))).toEqual({ days: 0, mode: 'delete', isOwn: false })
    const own = { days: 10, mode: 'strip', isOwn: true }
    expect(dataOf(await world.put('/groups/team/retention', { days: 10, mode: 'strip' }))).toEqual(own)
    await run(world)
    expect(await inTeam(world)).toEqual([undefined])
    expect(await textsIn(world, '/groups/other/messages')).toEqual(['in other'])

    dataOf(await world.put('/groups/other/retention', { days: 0 }))
    await set(world, { messageRetentionDays: 15 })
    await run(world)
    expect(await textsIn(world, '/groups/other/messages')).toEqual(['in other'])
    expect(await textsIn(world, '/users/alice/messages')).toEqual([])
    expect(dataOf(await world.delete('/groups/other/retention'))).toEqual({ days: 15, mode: 'delete', isOwn: false })
    await run(world)
    expect(await textsIn(world, '/groups/other/messages')).toEqual([])
    expect(await drift(world)).toEqual([])
    dataOf(await world.delete('/groups/team'))
    expect(await drift(world)).toEqual([])
  })

  it('goes on with the next group where a step fails, and comes back to it', async () => {
    const world = await createTeam()
    await sayInGroup(world, 'alice', 'team', 'an old word')
    await sayInGroup(world, 'alice', 'other', 'an old word')
    for (const guid of ['team', 'other']) dataOf(await world.put(`/groups/${guid}/retention`, { days: 30 }))
    await age(world, 31)
    let isFirst = true
    const failing = world.context.tables.map((table) => {
      if (table.name !== 'messages') return table
      const ofMessages = table.ofMessages.map((erase) => (erased: Parameters<typeof erase>[0]) => {
        if (!isFirst) return erase(erased)
        isFirst = false
        throw new Error('this group cannot be cleaned')
      })
      return { ...table, ofMessages }
    })
    const { removed } = await retain({ ...world.context, tables: failing }, now(), { only: world.app.appId })
    expect(removed).toBeGreaterThan(0)
    const left = async () => [...(await inTeam(world)), ...(await textsIn(world, '/groups/other/messages'))]
    expect(await left()).toEqual(['an old word'])
    await run(world)
    expect(await left()).toEqual([])
  })

  it('begins anew where a clock that was ahead had gone through everything', async () => {
    const world = await createTeam()
    await sayInGroup(world, 'alice', 'team', 'an old word')
    await age(world, 31)
    await set(world, { messageRetentionDays: 30 })
    await world.context.database.run(sql`
      insert into retention_progress (app_id, place, rule, began_at, sent_at, id)
      values (${world.app.appId}, 0, '30 delete', ${now() + 365 * day}, ${now() + 365 * day}, 1)`)
    await run(world)
    expect(await inTeam(world)).toEqual([])
  })

  it('leaves what is under review, until that is over', async () => {
    const world = await createTeam()
    const flagged = await sayInGroup(world, 'alice', 'team', 'flagged')
    const disapproved = await sayInGroup(world, 'alice', 'team', 'disapproved')
    await sayInGroup(world, 'alice', 'team', 'plain')
    for (const { id } of [flagged, disapproved]) {
      dataOf(await world.post(`/messages/${id}/flagged`, { reasonId: 'spam' }, { as: 'bob' }))
    }
    dataOf(await world.call('PATCH', `/moderation/flagged-messages/${disapproved.id}`, { status: 'disapproved' }))
    await age(world, 31)
    await set(world, { messageRetentionDays: 30 })
    await run(world)
    expect(await inTeam(world)).toEqual(['flagged'])
    const held = () =>
      world.context.database.run(
        sql`select id from messages where app_id = ${world.app.appId} and id = ${disapproved.id} and not purged`,
      )
    expect(await held()).toHaveLength(1)
    expect(await drift(world)).toEqual([])

    dataOf(await world.call('PATCH', `/moderation/flagged-messages/${flagged.id}`, { status: 'approved' }))
    // It is looked at again within a week.
    expect((await run(world, now() + 8 * day)).removed).toBeGreaterThanOrEqual(1)
    expect(await inTeam(world)).toEqual([])
    expect(await held()).toHaveLength(1)
    expect(await drift(world)).toEqual([])
  })

  it('leaves what is on hold, until that is lifted', async () => {
    const world = await createTeam()
    await say(world, 'alice', 'bob', 'of alice to bob')
    await say(world, 'bob', 'alice', 'of bob to alice')
    await say(world, 'bob', 'carol', 'of bob to carol')
    await sayInGroup(world, 'alice', 'team', 'of alice in team')
    await sayInGroup(world, 'bob', 'team', 'of bob in team')
    await sayInGroup(world, 'bob', 'other', 'in other')
    await age(world, 31)
    await set(world, { messageRetentionDays: 30 })
    const held = { uid: 'alice', note: 'a claim', heldAt: expect.any(Number) }
    expect(dataOf(await world.put('/retention/users/Alice/hold', { note: 'a claim' }))).toEqual(held)
    const ofOther = { conversationId: 'group_other', heldAt: expect.any(Number) }
    expect(dataOf(await world.put('/retention/conversations/group_other/hold', {}))).toEqual(ofOther)
    expect(dataOf(await world.put('/retention/conversations/group_other/hold', {}))).toEqual(ofOther)
    expect(dataOf(await world.get('/retention/holds'))).toEqual([ofOther, held])
    await run(world)
    expect((await textsIn(world, '/users/alice/messages')).sort()).toEqual(['of alice to bob', 'of bob to alice'])
    expect(await textsIn(world, '/users/carol/messages')).toEqual([])
    expect(await inTeam(world)).toEqual(['of alice in team'])
    expect(await textsIn(world, '/groups/other/messages')).toEqual(['in other'])
    expect(await drift(world)).toEqual([])

    dataOf(await world.delete('/retention/users/alice/hold'))
    await run(world)
    expect(await textsIn(world, '/users/alice/messages')).toEqual([])
    expect(await inTeam(world)).toEqual([])
    expect(await textsIn(world, '/groups/other/messages')).toEqual(['in other'])
    dataOf(await world.delete('/retention/conversations/group_other/hold'))
    await run(world)
    expect(await textsIn(world, '/groups/other/messages')).toEqual([])
    expect(dataOf(await world.get('/retention/holds'))).toEqual([])
    expect(await drift(world)).toEqual([])
  })

  it('stops where something else is set, or the app is paused, while it goes on', async () => {
    const world = await createTeam()
    await sayInGroup(world, 'alice', 'team', 'old')
    await age(world, 31)
    const { appId } = world.app
    const pass = { appId, place: 0, mode: 'delete', days: 30 } as const
    const over = { removed: 0, stripped: 0, isOver: true }
    await set(world, { messageRetentionDays: 40 })
    expect(await step(world.context, pass, now())).toEqual(over)
    await set(world, { messageRetentionDays: 0 })
    expect(await step(world.context, pass, now())).toEqual(over)
    await set(world, { messageRetentionDays: 30 })
    const pause = (at: number | null) =>
      world.context.database.run(sql`update apps set paused_at = ${at}::bigint where app_id = ${appId}`)
    await pause(now())
    expect(await step(world.context, pass, now())).toEqual(over)
    await pause(null)
    expect(await inTeam(world)).toEqual(['old'])
    expect((await step(world.context, pass, now()))?.removed).toBeGreaterThan(0)
    expect(await inTeam(world)).toEqual([])
  })

  it('refuses what is not there, and whoever is not the app', async () => {
    const world = await createTeam()
    for (const [method, path, body, told] of [
      ['PUT', '/groups/nothing/retention', { days: 1 }, '404 ERR_GUID_NOT_FOUND'],
      ['GET', '/groups/nothing/retention', undefined, '404 ERR_GUID_NOT_FOUND'],
      ['PUT', '/groups/team/retention', { days: -1 }, '400 ERR_BAD_REQUEST'],
      ['PUT', '/groups/team/retention', { days: 1, mode: 'hide' }, '400 ERR_BAD_REQUEST'],
      ['PUT', '/retention/users/nobody/hold', {}, '404 ERR_UID_NOT_FOUND'],
      ['DELETE', '/retention/users/alice/hold', undefined, '404 ERR_HOLD_NOT_FOUND'],
      ['PUT', '/retention/conversations/group_nothing/hold', {}, '404 ERR_CONVERSATION_NOT_FOUND'],
      ['DELETE', '/retention/conversations/group_team/hold', undefined, '404 ERR_HOLD_NOT_FOUND'],
    ] as const) {
      expect(refusal(await world.call(method, path, body)), `${method} ${path}`).toBe(told)
    }
    const { authToken: token } = dataOf(await world.post('/users/alice/auth_tokens', {}))
    expect(refusal(await world.put('/groups/team/retention', { days: 1 }, { token }))).toBe('403 AUTH_ERR_NO_ACCESS')
    expect(refusal(await world.get('/retention/holds', { token }))).toBe('403 AUTH_ERR_NO_ACCESS')
  })

  it('goes in steps while others send, and loses nothing of theirs', async () => {
    const world = await createTeam()
    const old = Array.from({ length: 450 }, (_, i) => ({
      ...{ muid: `m${i}`, sender: 'alice', receiver: i % 2 === 0 ? 'team' : 'bob', data: { text: `old ${i}` } },
      ...{
        receiverType: i % 2 === 0 ? 'group' : 'user',
        category: 'message',
        type: 'text',
        sentAt: now() - 40 * day + i,
      },
    }))
    dataOf(await world.post('/data_import/messages', { messages: old }))
    await set(world, { messageRetentionDays: 30 })
    const sending = Array.from({ length: 40 }, (_, i) => sayInGroup(world, 'bob', 'team', `new ${i}`))
    const runs = await Promise.all([run(world), run(world)])
    await Promise.all(sending)
    const rest = await run(world)
    expect(runs.reduce((sum, { removed }) => sum + removed, rest.removed)).toBe(450)
    expect(await inTeam(world)).toHaveLength(40)
    expect(await drift(world)).toEqual([])
  })

  it.each(['delete', 'strip'])('leaves nothing askew while people go on with what is old: %s', async (mode) => {
    const world = await createTeam()
    const old = Array.from({ length: 400 }, (_, i) => ({
      ...{ muid: `m${i}`, sender: i % 3 === 0 ? 'alice' : 'bob', receiver: 'team', receiverType: 'group' },
      ...{ category: 'message', type: 'text', data: { text: `old ${i}` }, sentAt: now() - 40 * day + i },
      ...(i % 10 > 5 && { parentMuid: `m${i - (i % 10)}` }),
    }))
    dataOf(await world.post('/data_import/messages', { messages: old }))
    const ids = dataOf(await world.get('/messages?limit=1000')).flatMap(
      ({ id, muid }: { id: string; muid?: string }) => (muid === undefined ? [] : id),
    )
    await set(world, { messageRetentionDays: 30, messageRetention: mode })
    const statuses: number[] = []
    const deeds = [
      (id: string) => world.post(`/messages/${id}/reactions/👍`, undefined, { as: 'carol' }),
      (id: string) => world.post(`/messages/${id}/thread`, { data: { text: 'late' }, ...toTeam }, { as: 'carol' }),
      (id: string) => world.put(`/messages/${id}`, { data: { text: 'edited' } }),
      (id: string) => world.delete(`/messages/${id}`, { permanent: true }),
      (id: string) => world.post(`/messages/${id}/save`, undefined, { as: 'carol' }),
      (id: string) => world.post(`/messages/${id}/pin`, undefined, { as: 'alice' }),
      (id: string) => world.post(`/messages/${id}/flagged`, { reasonId: 'spam' }, { as: 'carol' }),
    ]
    const others = ids
      .filter((_: string, i: number) => i % 4 === 0)
      .map(async (id: string, i: number) => {
        const deed = deeds[i % deeds.length]
        if (deed !== undefined) statuses.push((await deed(id)).status)
      })
    await Promise.all([run(world), ...others])
    await run(world)
    expect(statuses.filter((status) => status >= 500)).toEqual([])
    expect(statuses).toContain(200)
    expect(await drift(world)).toEqual([])
  })

  it('removes nothing any more once the app is told that it keeps everything', async () => {
    const world = await createTeam()
    const { appId } = world.app
    const { database } = world.context
    await sayInGroup(world, 'alice', 'team', 'old')
    await age(world, 31)
    await set(world, { messageRetentionDays: 30 })
    const waitingFor = async (pid: number, isStep: boolean) => {
      const [waiting] = await database.run<{ pid: number }>(sql`
        select a.pid
        from pg_stat_activity a
        where ${pid}::int = any(pg_blocking_pids(a.pid))
        and ${isStep}::boolean = exists (
          select from pg_locks l
          where l.pid = a.pid and l.locktype = 'advisory' and l.granted
          and (l.classid::bigint << 32) | l.objid::bigint = hashtextextended('retention ' || ${appId}::int, 0)
        )`)
      return waiting?.pid
    }
    let isAnswered = false
    const keep = async () => {
      await set(world, { messageRetentionDays: 0 })
      const left = await inTeam(world)
      isAnswered = true
      return left
    }
    // The step waits for somebody who writes to the group.
    const { running, keeping } = await database.transaction(async (tx) => {
      await tx.run(sql`select from conversations where app_id = ${appId} and kind = 2 for update`)
      const [own] = await tx.run<{ pid: number }>(sql`select pg_backend_pid() as pid`)
      const started = run(world)
      const stepping = await until(() => waitingFor(own?.pid as number, true))
      const kept = keep()
      await until(async () => isAnswered || (await waitingFor(stepping, false)) !== undefined)
      return { running: started, keeping: kept }
    })
    const kept = await keeping
    await running
    expect(await inTeam(world)).toEqual(kept)
  })

  it('of an erased user on hold is forgotten with them', async () => {
    const world = await createTeam()
    await say(world, 'alice', 'bob', 'hello')
    dataOf(await world.put('/retention/users/alice/hold', {}))
    dataOf(await world.put('/retention/conversations/alice_user_bob/hold', {}))
    dataOf(await world.delete('/users/alice', { permanent: true }))
    expect(dataOf(await world.get('/retention/holds'))).toEqual([])
    const log = JSON.stringify(dataOf(await world.get('/audit-log?action=retention_hold_set')))
    expect(log).not.toContain('alice')
    expect(await drift(world)).toEqual([])
  })

  /** Removes something for good, and does something else once that waits for rows which the removal comes to late. */
  const whileRemoving = async (world: World, late: 'groups' | 'friends', path: string, deed: () => Promise<Answer>) => {
    let removal: Promise<Answer> | undefined
    let done: Promise<Answer> | undefined
    await world.context.database.transaction(async (tx) => {
      await tx.run(sql`select from ${sql.table(late)} where app_id = ${world.app.appId} for update`)
      removal = world.delete(path, { permanent: true })
      await untilWaitedFor(tx)
      done = deed()
      await Promise.race([done, untilWaitsBehind(tx)])
    })
    expect((await removal)?.status).toBe(200)
    return (await done) as Answer
  }

  it('is not set for a group that is being deleted: the next group with its guid has that of the app', async () => {
    const world = await createTeam()
    const answer = await whileRemoving(world, 'groups', '/groups/team', () =>
      world.put('/groups/team/retention', { days: 1 }),
    )
    expect(refusal(answer)).toBe('404 ERR_GUID_NOT_FOUND')
    await createGroup(world, 'team', 'bob')
    expect(dataOf(await world.get('/groups/team/retention'))).toEqual({ days: 0, mode: 'delete', isOwn: false })
    expect(await drift(world)).toEqual([])
  })

  it.each([
    ['users/alice', '404 ERR_UID_NOT_FOUND'],
    ['conversations/alice_user_bob', '404 ERR_CONVERSATION_NOT_FOUND'],
  ])('leaves no hold of what goes for good meanwhile: %s', async (held, told) => {
    const world = await createTeam()
    await say(world, 'alice', 'bob', 'hello')
    dataOf(await world.post('/users/alice/friends', { accepted: ['bob'] }))
    const answer = await whileRemoving(world, 'friends', '/users/alice', () =>
      world.put(`/retention/${held}/hold`, { note: 'a claim' }),
    )
    expect(refusal(answer)).toBe(told)
    expect(dataOf(await world.get('/retention/holds'))).toEqual([])
    expect(await drift(world)).toEqual([])
  })
})
