import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { findDrift } from '../src/doctor/drift.ts'
import type { Fragment } from '../src/store/statement.ts'
import { createGroup, dataOf, say, sayInGroup } from './support/chat.ts'
import { connect, eventually, tokenOf } from './support/socket.ts'
import { createUsers, createWorld, type World } from './support/world.ts'

/** A small world in which everything that is derived has been derived. */
async function liveALittle(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
  const first = await sayInGroup(world, 'alice', 'team', 'one')
  await sayInGroup(world, 'bob', 'team', 'two')
  dataOf(await world.post('/groups/team/conversation/read', {}, { as: 'carol' }))
  const direct = await say(world, 'alice', 'bob', 'hi')
  await say(world, 'bob', 'alice', 'ho', { parentId: direct.id })
  dataOf(await world.post(`/messages/${direct.id}/reactions/x`, undefined, { as: 'bob' }))
  dataOf(await world.delete('/users/bob/conversation/read', {}, { as: 'alice' }))
  dataOf(await world.delete(`/messages/${first.id}`, {}, { as: 'alice' }))
  dataOf(await world.get('/me', { token: await tokenOf(world, 'alice') }))
  await world.context.usage.write()
  dataOf(await world.delete('/users', { uidsToDeactivate: ['carol'] }))
  return world
}

describe('the doctor', () => {
  it('finds nothing where all is well', async () => {
    const world = await liveALittle()
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it.each([
    ['active users', sql`update active_user_bits set bits = bits << 1 where app_id = `],
    [
      'conversations pinned by the app',
      sql`insert into app_pinned_conversations (app_id, kind, peer, place, pinned_at)
        select app_id, 1, 'team', 0, 0 from apps where app_id = `,
    ],
    ['member counts', sql`update groups set members_count = 9 where app_id = `],
    ['states of members', sql`update conversation_states set member = not member where uid = 'bob' and app_id = `],
    ['members without a state', sql`delete from conversation_states where uid = 'bob' and app_id = `],
    ['ends of conversations', sql`update conversations set last_id = 1 where kind = 2 and app_id = `],
    ['last messages', sql`update conversations set listed_sent_at = 1 where kind = 2 and app_id = `],
    ['remembered unread counts', sql`update conversation_states set counted_unread = 7 where app_id = `],
    ['marks', sql`update conversation_states set read_sent_at = 99999999999 where uid = 'bob' and app_id = `],
    [
      'receipts of groups',
      sql`update conversations set all_read_sent_at = 0, all_read_id = 0 where kind = 2 and app_id = `,
    ],
    ['threads', sql`update threads set reply_count = 9 where app_id = `],
    ['threads', sql`delete from threads where app_id = `],
    ['starters of threads', sql`update threads set starter = 'carol' where app_id = `],
    ['held messages', sql`update messages set traits = traits | 16384 where countable and app_id = `],
    ['held messages', sql`update threads set held = true where app_id = `],
    ['reaction counts', sql`update reaction_counts set count = 9 where app_id = `],
    ['presence', sql`update users set online = true where uid = 'alice' and app_id = `],
    ['states of one-to-one conversations', sql`delete from conversation_states where uid = 'alice' and app_id = `],
  ])('finds drift in: %s', async (check, damage) => {
    const world = await liveALittle()
    const { database } = world.context
    // Counts are remembered at the version of the conversation; this damage is one at the present version.
    await database.run(sql`
      update conversation_states s
      set counted_version = c.version, counted_sent_at = c.last_sent_at, counted_id = c.last_id, counted_unread = (
        select count(*) from messages m
        where m.app_id = s.app_id and m.conversation = s.conversation and m.countable and m.sender <> s.uid
        and (m.sent_at, m.id) > (s.unread_sent_at, s.unread_id)
      )
      from conversations c
      where c.app_id = s.app_id and c.key = s.conversation and s.app_id = ${world.app.appId} and c.last_id is not null`)
    await database.run(sql`${damage}${world.app.appId}` as Fragment)
    const drift = await findDrift(database, world.app.appId)
    const found = drift.find((drifted) => drifted.check === check)
    expect(found?.count).toBeGreaterThan(0)
    expect(found?.examples[0]?.subject).toContain(String(world.app.appId))
  })
  it('takes for online who has a socket in a process that lives, and nobody else', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { database } = world.context
    const { appId } = world.app
    await connect(world, 'alice')
    const statusOf = async (uid: string) => dataOf(await world.get(`/users/${uid}`)).status
    await eventually(
      () => statusOf('alice'),
      (status) => status === 'available',
    )
    expect(await findDrift(database, appId)).toEqual([])

    await database.run(sql`update users set online = not online where app_id = ${appId} and uid in ('alice', 'bob')`)
    // Of a process that is not known any more.
    await database.run(sql`
      insert into presence (app_id, uid, node, connection)
      values (${appId}, 'bob', 'gone', '{}')`)
    expect(await findDrift(database, appId)).toMatchObject([
      {
        check: 'presence',
        count: 2,
        examples: expect.arrayContaining([
          { subject: `${appId}/alice`, stored: 'false', expected: 'true' },
          { subject: `${appId}/bob`, stored: 'true', expected: 'false' },
        ]),
      },
    ])
  })
})
