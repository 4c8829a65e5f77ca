import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findDrift } from '../../src/doctor/drift.ts'
import { statement } from '../../src/store/statement.ts'
import { dataOf, say, sayInGroup } from '../support/chat.ts'
import { codes, groupText, importAll, importWell, muids, text, usersNamed } from '../support/imports.ts'
import { createWorld, type World } from '../support/world.ts'

const t0 = 1_650_000_000

async function worldOf(...uids: string[]): Promise<World> {
  const world = await createWorld()
  await importWell(world, 'users', usersNamed(...uids))
  return world
}

async function history(world: World, viewer: string, other: string) {
  return dataOf(await world.get(`/users/${other}/messages?limit=1000`, { as: viewer }))
}

async function conversationOf(world: World, viewer: string, other: string) {
  return dataOf(await world.get(`/users/${other}/conversation`, { as: viewer }))
}

/** `deliveredAt` and `readAt` of each message, by muid, relative to t0. */
async function receipts(world: World, viewer: string, other: string) {
  const messages: Array<{ muid: string; deliveredAt?: number; readAt?: number }> = await history(world, viewer, other)
  const relative = (time: number | undefined) => (time === undefined ? undefined : time - t0)
  return Object.fromEntries(
    messages.map(({ muid, deliveredAt, readAt }) => [muid, [relative(deliveredAt), relative(readAt)]]),
  )
}

describe('receipts of imported messages', () => {
  it('are those that the messages bring, and reading implies delivered', async () => {
    const world = await worldOf('alice', 'bob')
    await importWell(world, 'messages', [
      text('a', 'alice', 'bob', t0 + 1, { deliveredAt: t0 + 10, readAt: t0 + 20 }),
      text('b', 'alice', 'bob', t0 + 2, { readAt: t0 + 30 }),
      text('c', 'alice', 'bob', t0 + 3, { deliveredAt: t0 + 40 }),
      text('d', 'alice', 'bob', t0 + 4),
      text('e', 'bob', 'alice', t0 + 5),
    ])
    expect(await receipts(world, 'alice', 'bob')).toEqual({
      a: [10, 20],
      b: [30, 30],
      c: [40, undefined],
      d: [undefined, undefined],
      e: [undefined, undefined],
    })
  })

  it('tell messages without times when a later mark reached them first', async () => {
    const world = await worldOf('alice', 'bob')
    await importWell(world, 'messages', [text('m0', 'alice', 'bob', t0)])
    await importWell(world, 'messages', [
      text('m1', 'alice', 'bob', t0 + 1, { readAt: t0 + 101 }),
      text('m2', 'alice', 'bob', t0 + 2, { readAt: t0 + 102 }),
      text('m3', 'alice', 'bob', t0 + 3),
      text('m4', 'alice', 'bob', t0 + 4, { readAt: t0 + 104 }),
      text('m5', 'alice', 'bob', t0 + 5, { readAt: t0 + 105 }),
      text('m6', 'alice', 'bob', t0 + 6),
      text('m7', 'alice', 'bob', t0 + 7),
      // Read before the two above it, so those were read by then.
      text('m8', 'alice', 'bob', t0 + 8, { readAt: t0 + 120 }),
      text('m9', 'alice', 'bob', t0 + 9, { readAt: t0 + 110 }),
      text('n', 'alice', 'bob', t0 + 10),
    ])
    const read = Object.fromEntries(
      Object.entries(await receipts(world, 'alice', 'bob')).map(([muid, [, readAt]]) => [muid, readAt]),
    )
    expect(read).toEqual({
      m0: 101,
      m1: 101,
      m2: 102,
      m3: 104,
      m4: 104,
      m5: 105,
      m6: 110,
      m7: 110,
      m8: 120,
      m9: 110,
      n: undefined,
    })
  })

  it('are the same whatever batches the messages came in, and in whatever order', async () => {
    const world = await worldOf('alice', 'bob')
    const time = fc.option(fc.constant(true), { nil: undefined })
    const sent = fc.record({
      fromAlice: fc.boolean(),
      sentAt: fc.integer({ min: 0, max: 15 }),
      delivered: time,
      read: time,
      batch: fc.integer({ min: 0, max: 3 }),
    })
    let round = 0
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { minLength: 2, maxLength: 25 }), async (drawn) => {
        // Each round has a pair of its own.
        round++
        const [a, b] = [`a${round}`, `b${round}`]
        await importWell(world, 'users', usersNamed(a, b))
        // By position: within a second, messages stand in the order of their batches.
        const ordered = drawn.toSorted((x, y) => x.sentAt - y.sentAt || x.batch - y.batch)
        const messages = ordered.map(({ fromAlice, sentAt, delivered, read, batch }, place) => ({
          batch,
          record: text(`r${round} ${place}`, fromAlice ? a : b, fromAlice ? b : a, t0 + sentAt, {
            // Times rise with the positions, as those of marks do.
            ...(delivered && { deliveredAt: t0 + 100 + 2 * place }),
            ...(read && { readAt: t0 + 101 + 2 * place }),
          }),
        }))
        for (const batch of [0, 1, 2, 3]) {
          const records = messages.filter((message) => message.batch === batch).map(({ record }) => record)
          if (records.length > 0) await importWell(world, 'messages', records)
        }
        const expected = messages.map(({ record }, place) => {
          const above = messages.slice(place).filter((other) => other.record.sender === record.sender)
          const times = above.map((other) => other.record as { deliveredAt?: number; readAt?: number })
          const readAt = times.find((other) => other.readAt !== undefined)?.readAt
          // Who has read a message has received it.
          const first = times.find((other) => other.deliveredAt !== undefined || other.readAt !== undefined)
          return [record.muid, first?.deliveredAt ?? first?.readAt, readAt]
        })
        const found = (await history(world, a, b)).map(
          ({ muid, deliveredAt, readAt }: { muid: string; deliveredAt?: number; readAt?: number }) => [
            muid,
            deliveredAt,
            readAt,
          ],
        )
        expect(found).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })

  it('move the marks of the receiver, never backwards', async () => {
    const world = await worldOf('alice', 'bob')
    const unread = async (uid: string, other: string) => (await conversationOf(world, uid, other)).unreadMessageCount
    await importWell(world, 'messages', [
      text('a', 'alice', 'bob', t0 + 1),
      text('b', 'alice', 'bob', t0 + 2, { readAt: t0 + 50 }),
      text('c', 'alice', 'bob', t0 + 3),
      text('d', 'alice', 'bob', t0 + 4, { deliveredAt: t0 + 50 }),
      text('e', 'bob', 'alice', t0 + 5),
    ])
    expect(await unread('bob', 'alice')).toBe('2')
    expect(await unread('alice', 'bob')).toBe('1')
    await importWell(world, 'messages', [text('z', 'alice', 'bob', t0, { readAt: t0 + 1 })])
    expect(await unread('bob', 'alice')).toBe('2')
    dataOf(await world.post('/users/alice/conversation/read', {}, { as: 'bob' }))
    expect(await unread('bob', 'alice')).toBe('0')
    await importWell(world, 'messages', [text('y', 'alice', 'bob', t0 + 2, { readAt: t0 + 60 })])
    expect(await unread('bob', 'alice')).toBe('0')
    await importWell(world, 'messages', [text('f', 'alice', 'bob', t0 + 6)])
    expect(await unread('bob', 'alice')).toBe('1')
  })

  it('go on with live messages', async () => {
    const world = await worldOf('alice', 'bob')
    await importWell(world, 'messages', [text('a', 'alice', 'bob', t0), text('b', 'bob', 'alice', t0 + 1)])
    expect((await conversationOf(world, 'alice', 'bob')).unreadMessageCount).toBe('1')
    // Sending reads.
    const sent = await say(world, 'alice', 'bob', 'live', { muid: 'live' })
    expect((await conversationOf(world, 'alice', 'bob')).unreadMessageCount).toBe('0')
    expect((await conversationOf(world, 'bob', 'alice')).unreadMessageCount).toBe('2')
    const found = await receipts(world, 'alice', 'bob')
    expect(found.b).toEqual([sent.sentAt - t0, sent.sentAt - t0])
    expect(found.live).toEqual([undefined, undefined])
  })

  it('of groups are kept as they came, and nothing is unread', async () => {
    const world = await worldOf('alice', 'bob')
    await importWell(world, 'groups', [
      { guid: 'team', name: 'Team', type: 'public', owner: 'alice', createdAt: t0 - 100 },
    ])
    await importWell(world, 'members', [{ memberId: 'team_member_bob', guid: 'team', uid: 'bob', joinedAt: t0 - 100 }])
    await importWell(world, 'messages', [
      groupText('a', 'alice', 'team', t0, { deliveredAt: t0 + 5, readAt: t0 + 6 }),
      groupText('b', 'alice', 'team', t0 + 1),
    ])
    const [a, b] = dataOf(await world.get('/groups/team/messages', { as: 'bob' }))
    expect([a.deliveredAt, a.readAt]).toEqual([t0 + 5, t0 + 6])
    expect(b).not.toHaveProperty('readAt')
    const [conversation] = dataOf(await world.get('/conversations', { as: 'bob' }))
    expect(conversation).toMatchObject({ unreadMessageCount: '0', updatedAt: t0 + 1, lastMessage: { muid: 'b' } })
    await sayInGroup(world, 'alice', 'team', 'live')
    expect(dataOf(await world.get('/conversations', { as: 'bob' }))[0].unreadMessageCount).toBe('1')
  })
})

describe('conversations of imported messages', () => {
  it('are as old as their oldest message, and listed by the newest, as if all had been sent here', async () => {
    const world = await worldOf('alice', 'bob', 'carol')
    await importWell(world, 'messages', [
      text('b', 'alice', 'bob', t0 + 10),
      text('a', 'alice', 'bob', t0 + 5),
      text('x', 'alice', 'bob', t0 + 20, { deletedAt: t0 + 21 }),
      text('c', 'carol', 'alice', t0 + 11),
    ])
    expect(await conversationOf(world, 'bob', 'alice')).toMatchObject({
      conversationId: 'alice_user_bob',
      createdAt: t0 + 5,
      updatedAt: t0 + 20,
      unreadMessageCount: '2',
    })
    // Like one that was deleted here, it leaves the last message out until the next.
    expect(await conversationOf(world, 'bob', 'alice')).not.toHaveProperty('lastMessage')
    const listed = dataOf(await world.get('/conversations', { as: 'alice' }))
    expect(listed.map(({ conversationId }: { conversationId: string }) => conversationId)).toEqual([
      'alice_user_bob',
      'alice_user_carol',
    ])
    await importWell(world, 'messages', [text('first', 'bob', 'alice', t0 - 50), text('last', 'bob', 'alice', t0 + 30)])
    expect(await conversationOf(world, 'bob', 'alice')).toMatchObject({ createdAt: t0 - 50, updatedAt: t0 + 30 })
  })

  it('count unread anew when something lands in the past', async () => {
    const world = await worldOf('alice', 'bob')
    const messages = Array.from({ length: 250 }, (_, i) => text(`m${i}`, 'alice', 'bob', t0 + i))
    await importWell(world, 'messages', messages)
    // Read twice: the first read may remember what it counted.
    expect((await conversationOf(world, 'bob', 'alice')).unreadMessageCount).toBe('250')
    expect((await conversationOf(world, 'bob', 'alice')).unreadMessageCount).toBe('250')
    await importWell(world, 'messages', [
      text('old', 'alice', 'bob', t0 - 10),
      text('between', 'alice', 'bob', t0 + 100),
      text('own', 'bob', 'alice', t0 + 100),
      text('call', 'alice', 'bob', t0 + 100, { category: 'call', type: 'audio' }),
      text('gone', 'alice', 'bob', t0 + 100, { deletedAt: t0 + 101 }),
    ])
    expect((await conversationOf(world, 'bob', 'alice')).unreadMessageCount).toBe('252')
  })

  it('keep live messages at their end', async () => {
    const world = await worldOf('alice', 'bob')
    await say(world, 'alice', 'bob', 'live', { muid: 'live' })
    await importWell(world, 'messages', [text('old', 'bob', 'alice', t0)])
    expect(await conversationOf(world, 'bob', 'alice')).toMatchObject({ createdAt: t0, lastMessage: { muid: 'live' } })
    await say(world, 'bob', 'alice', 'next', { muid: 'next' })
    expect(muids(await history(world, 'alice', 'bob'))).toEqual(['old', 'live', 'next'])
  })
})

describe('beyond the public contract, imported messages', () => {
  it('can be edited or deleted, and deleted content is not kept', async () => {
    const world = await worldOf('alice', 'bob')
    const { edited, deleted, never } = await importWell(world, 'messages', [
      text('edited', 'alice', 'bob', t0, { editedAt: t0 + 5 }),
      text('deleted', 'alice', 'bob', t0 + 1, {
        data: { text: 'a secret <@uid:bob>', metadata: { secret: 1 } },
        tags: ['secret'],
        deletedAt: t0 + 6,
      }),
      text('never', 'alice', 'bob', t0 + 2, { deletedAt: 0, editedAt: '0', readAt: 0, deliveredAt: '0' }),
    ])
    expect(edited).toMatchObject({ editedAt: t0 + 5, editedBy: 'alice', updatedAt: t0 + 5, data: { text: 'edited' } })
    expect(deleted).toMatchObject({ deletedAt: t0 + 6, deletedBy: 'alice', updatedAt: t0 + 6 })
    expect(never).toMatchObject({ data: { text: 'never' }, updatedAt: t0 + 2 })
    for (const name of ['deletedAt', 'editedAt', 'readAt', 'deliveredAt']) expect(never).not.toHaveProperty(name)
    expect(JSON.stringify(deleted)).not.toContain('secret')
    expect(JSON.stringify(await history(world, 'bob', 'alice'))).not.toContain('secret')
    const [row] = await world.context.database.query<{ text: string }>(
      statement('select m::text as text from messages m where app_id = $1 and id = $2'),
      [world.app.appId, deleted.id],
    )
    expect(row?.text).not.toContain('secret')
  })

  it('stand in threads, wherever the parent was stored', async () => {
    const world = await worldOf('alice', 'bob', 'carol')
    const live = await say(world, 'alice', 'bob', 'live', { muid: 'live' })
    await importWell(world, 'messages', [text('stored', 'alice', 'bob', t0)])
    const outcomes = await importAll(world, 'messages', [
      text('before its parent', 'bob', 'alice', t0 + 5, { parentMuid: 'parent' }),
      text('parent', 'alice', 'bob', t0 + 4),
      text('after its parent', 'bob', 'alice', t0 + 6, { parentMuid: 'parent' }),
      text('to stored', 'bob', 'alice', t0 + 7, { parentMuid: 'stored' }),
      text('to live', 'bob', 'alice', t0 + 8, { parentMuid: 'live' }),
      text('to nobody', 'bob', 'alice', t0 + 9, { parentMuid: 'unknown' }),
      text('elsewhere', 'carol', 'alice', t0 + 9, { parentMuid: 'parent' }),
      text('elsewhere, stored', 'carol', 'alice', t0 + 9, { parentMuid: 'stored' }),
      text('nested', 'alice', 'bob', t0 + 9, { parentMuid: 'after its parent' }),
      text('to itself', 'alice', 'bob', t0 + 9, { parentMuid: 'to itself' }),
    ])
    expect(codes(outcomes)).toEqual({
      'before its parent': 'stored',
      parent: 'stored',
      'after its parent': 'stored',
      'to stored': 'stored',
      'to live': 'stored',
      'to nobody': 'ERR_WRONG_MESSAGE_THREAD',
      elsewhere: 'ERR_WRONG_MESSAGE_THREAD',
      'elsewhere, stored': 'ERR_WRONG_MESSAGE_THREAD',
      nested: 'ERR_MESSAGE_THREAD_NESTING',
      'to itself': 'ERR_BAD_REQUEST',
    })
    expect(outcomes['before its parent'].data.parentId).toBe(outcomes.parent.data.id)
    expect(outcomes['to live'].data.parentId).toBe(live.id)
    const thread = dataOf(await world.get(`/messages/${outcomes.parent.data.id}/thread`, { as: 'alice' }))
    expect(muids(thread)).toEqual(['before its parent', 'after its parent'])
    const again = await importAll(world, 'messages', [
      text('nested later', 'alice', 'bob', t0 + 9, { parentMuid: 'to stored' }),
      text('third', 'alice', 'bob', t0 + 4, { parentMuid: 'parent' }),
    ])
    expect(codes(again)).toEqual({ 'nested later': 'ERR_MESSAGE_THREAD_NESTING', third: 'stored' })
    const [row] = await world.context.database.query<{ count: number; last: number }>(
      statement(`
        select reply_count as count, last_reply_id as last
        from threads
        where app_id = $1
        and parent_id = $2`),
      [world.app.appId, outcomes.parent.data.id],
    )
    expect(row).toEqual({ count: 3, last: Number(outcomes['after its parent'].data.id) })
  })

  it('bring reactions', async () => {
    const world = await worldOf('alice', 'bob', 'carol')
    const many = Object.fromEntries(Array.from({ length: 26 }, (_, i) => [`r${i}`, ['alice']]))
    const outcomes = await importAll(world, 'messages', [
      text('a', 'alice', 'bob', t0, { reactions: { '👍': ['bob', 'ALICE', 'bob'], ':wave:': ['bob'] } }),
      text('b', 'alice', 'bob', t0, { reactions: many }),
      text('c', 'alice', 'bob', t0, { reactions: { ['x'.repeat(46)]: ['alice'] } }),
      text('d', 'alice', 'bob', t0, { reactions: {} }),
    ])
    expect(codes(outcomes)).toEqual({ a: 'stored', b: 'ERR_BAD_REQUEST', c: 'ERR_BAD_REQUEST', d: 'stored' })
    const rows = await world.context.database.query(
      statement(`
        select reaction, uid, reacted_at as "reactedAt"
        from reactions
        where app_id = $1
        and message_id = $2
        order by id`),
      [world.app.appId, outcomes.a.data.id],
    )
    expect(rows).toEqual([
      { reaction: '👍', uid: 'bob', reactedAt: t0 },
      { reaction: '👍', uid: 'alice', reactedAt: t0 },
      { reaction: ':wave:', uid: 'bob', reactedAt: t0 },
    ])
  })
})

describe('all that is kept beside imported messages', () => {
  it('is right after imports in any order, among live messages, marks and deletions', async () => {
    const world = await worldOf('alice', 'bob', 'carol')
    await importWell(world, 'groups', [
      { guid: 'team', name: 'Team', type: 'public', owner: 'alice', createdAt: t0 - 100 },
    ])
    await importWell(world, 'users', [{ uid: 'gone', name: 'Gone', deactivatedAt: t0 }])
    await importWell(world, 'members', [
      { memberId: 'team_member_bob', guid: 'team', uid: 'bob', joinedAt: t0 },
      { memberId: 'team_member_gone', guid: 'team', uid: 'gone', joinedAt: t0 },
    ])
    const people = ['alice', 'bob', 'carol', 'gone'] as const
    const messages = Array.from({ length: 200 }, (_, i) => {
      const sender = people[i % 4] as string
      const extra = {
        ...(i % 3 === 0 && { readAt: t0 + 1000 + i }),
        ...(i % 7 === 0 && { deletedAt: t0 + 2000 + i }),
        ...(i % 10 === 2 && { parentMuid: `m${i - 1}` }),
        ...(i % 11 === 0 && { reactions: { x: ['alice', 'bob'] } }),
      }
      return i % 5 < 3
        ? groupText(`m${i}`, sender, 'team', t0 + ((i * 37) % 200), extra)
        : text(`m${i}`, sender, people[(i * 3 + 1) % 4] as string, t0 + ((i * 37) % 200), extra)
    })
    await Promise.all([
      ...[0, 1, 2, 3].map((part) =>
        importAll(
          world,
          'messages',
          messages.filter((_, i) => i % 4 === part),
        ),
      ),
      say(world, 'alice', 'bob', 'live'),
      sayInGroup(world, 'bob', 'team', 'live'),
    ])
    dataOf(await world.post('/users/alice/conversation/read', {}, { as: 'bob' }))
    const [stored] = dataOf(await world.get('/groups/team/messages?limit=1'))
    dataOf(await world.delete(`/messages/${stored.id}`))
    await importAll(world, 'messages', messages)
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })
})
