import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { findDrift } from '../../src/doctor/drift.ts'
import { createGroup, dataOf, refusal, sayInGroup, texts } from '../support/chat.ts'
import { flag, makePending, moderatedWorld, review, takeRulesAway } from '../support/review.ts'
import type { World } from '../support/world.ts'

takeRulesAway()

const team = async () => {
  const world = await moderatedWorld('alice', 'bob', 'carol')
  await createGroup(world, 'team', 'bob', { participants: ['alice', 'carol'] })
  return world
}
const remove = async (world: World, uid: string) => dataOf(await world.delete(`/users/${uid}`, { permanent: true }))
const edit = (world: World, { id }: { id: string }, text: string) =>
  world.put(`/messages/${id}`, { data: { text } }, { as: 'alice' })
/** Blocks a message that others have seen. */
const block = async (world: World, { id }: { id: string }) => {
  dataOf(await flag(world, id, 'bob'))
  dataOf(await review(world, 'flagged', id, { status: 'disapproved', reviewedBy: 'rita' }))
}
/** The tables in which rows of the app contain a text anywhere. */
const tablesWith = async (world: World, text: string) => {
  const { database } = world.context
  const tables = await database.run<{ name: string }>(sql`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'app_id' order by 1`)
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await database.run(
      sql`select from ${sql.table(name)} t where app_id = ${world.app.appId} and strpos(t::text, ${text}) > 0 limit 1`,
    )
    if (rows.length > 0) found.push(name)
  }
  return found
}

describe('What moderation holds of a user in groups', () => {
  it('goes with them when they are removed for good: it was there for nobody else', async () => {
    const world = await team()
    const said = await sayInGroup(world, 'alice', 'team', 'hi')
    const held = await sayInGroup(world, 'alice', 'team', 'bad needle')
    const pending = await sayInGroup(world, 'alice', 'team', 'bad needle, too')
    await makePending(world, pending.id)
    const seen = await sayInGroup(world, 'alice', 'team', 'needle that was seen')
    await block(world, seen)
    dataOf(await edit(world, said, 'wait for the needle'))
    expect(refusal(await edit(world, said, 'a bad needle'))).toBe('403 ERR_MESSAGE_ACTION_NOT_ALLOWED')
    expect(await tablesWith(world, 'needle')).toContain('message_moderation')
    expect(await tablesWith(world, '""text"":""bad""')).toEqual(['message_moderation', 'moderation_decisions'])

    await remove(world, 'alice')
    expect(await tablesWith(world, 'needle')).toEqual([])
    expect(await tablesWith(world, '""text"":""bad""')).toEqual([])
    for (const { id } of [held, pending, seen]) {
      expect(refusal(await world.get(`/moderation/messages/${id}`))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    }
    expect(dataOf(await world.get('/moderation/blocked-messages'))).toEqual([])
    expect(dataOf(await world.get('/moderation/blocked-messages?reviewed=true'))).toEqual([])
    expect(dataOf(await world.get('/moderation/queue'))).toMatchObject({ blocked: { open: 0 }, pending: { open: 0 } })
    expect(texts(await world.get('/groups/team/messages?category=message', { as: 'bob' }))).toEqual(['hi'])
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it('leaves replies, whose parent becomes a deleted message', async () => {
    const world = await team()
    const parent = await sayInGroup(world, 'alice', 'team', 'needle')
    const reply = await sayInGroup(world, 'carol', 'team', 'an answer', { parentId: parent.id })
    const alone = await sayInGroup(world, 'alice', 'team', 'needle of theirs alone')
    const own = await sayInGroup(world, 'alice', 'team', 'an answer to oneself', { parentId: alone.id })
    await block(world, parent)
    await block(world, alone)
    await remove(world, 'alice')
    expect(await tablesWith(world, 'needle')).toEqual([])
    const rows = await world.context.database.run<{ id: number }>(sql`
      select id, deleted_at is not null as deleted, purged from messages
      where app_id = ${world.app.appId} and category in ('message', '') order by id`)
    expect(rows).toEqual([
      { id: Number(parent.id), deleted: true, purged: false },
      { id: Number(reply.id), deleted: false, purged: false },
      { id: Number(alone.id), deleted: true, purged: false },
      { id: Number(own.id), deleted: false, purged: false },
    ])
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it('names them as a reviewer no more', async () => {
    const world = await team()
    const held = await sayInGroup(world, 'alice', 'team', 'bad')
    dataOf(await review(world, 'blocked', held.id, { status: 'rejected', reviewedBy: 'Carol' }))
    const list = async () => dataOf(await world.get('/moderation/blocked-messages?reviewed=true'))
    expect(await list()).toMatchObject([{ decision: 'rejected', reviewedBy: 'Carol' }])
    await remove(world, 'carol')
    expect((await list())[0]).toMatchObject({ decision: 'rejected' })
    expect((await list())[0].reviewedBy).toBeUndefined()
  })

  it('names them as a reviewer no more without looking through all that was reviewed', async () => {
    const { app, context } = await team()
    const nothing = { stub: '~0', now: 0, pairs: [], others: [], groups: [], guids: [], counted: [] }
    const naming = ['message_moderation', 'moderation_claims', 'moderation_notes', 'moderation_reviews']
    const named = context.tables.filter(({ name }) => naming.includes(name))
    expect(named).toHaveLength(naming.length)
    await context.database.transaction(async (tx) => {
      // Tables are too small here for an index to be worth it.
      await tx.run(sql`set local enable_seqscan = off`)
      for (const { ofUser } of named) {
        const forget = ofUser.at(-1)?.({ appId: app.appId, uid: 'carol', ...nothing })
        const lines = await tx.run<{ 'QUERY PLAN': string }>(sql`explain ${forget}`)
        expect(lines.map((line) => line['QUERY PLAN']).join('\n')).toMatch(/Index Cond: .*lower\(/)
      }
    })
  })
})
