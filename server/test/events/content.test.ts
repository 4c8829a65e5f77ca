import { describe, expect, it } from 'vitest'
import { statement } from '../../src/store/statement.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { firstCursor } from '../support/events.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const select = statement(`
  select e.trigger, e.data::text as data
  from events e
  where e.app_id = $1
  order by e.id`)

/** The triggers of the kept events, and those of them in which a text stands. */
async function look({ context, app }: World, text: string) {
  const rows = await context.database.query<{ trigger: string; data: string }>(select, [app.appId])
  return {
    triggers: rows.map(({ trigger }) => trigger),
    holding: rows.filter(({ data }) => data.includes(text)).map(({ trigger }) => trigger),
  }
}

const marker = 'xyzzy'

describe('the event log', () => {
  it('holds no text of a message, whatever becomes of it', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await firstCursor(world)
    const { id } = await say(world, 'alice', 'bob', `${marker} <@uid:bob>`, { tags: [marker] })
    const edit = { data: { text: `${marker} again`, metadata: { note: marker } } }
    dataOf(await world.put(`/messages/${id}`, edit, { as: 'alice' }))
    dataOf(await world.post('/users/alice/conversation/read', {}, { as: 'bob' }))
    dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    dataOf(await world.delete(`/messages/${id}`, { permanent: true }))
    const { triggers, holding } = await look(world, marker)
    expect(triggers).toEqual(expect.arrayContaining(['message_edited', 'message_read_receipt', 'message_deleted']))
    expect(holding).toEqual([])
    const pulled = await world.get('/events?after=0')
    expect(JSON.stringify(pulled.body)).not.toContain(marker)
  })

  it.each([
    [
      'its message is removed for good',
      (world: World, id: string) => world.delete(`/messages/${id}`, { permanent: true }),
    ],
    ['who gave it is deleted for good', (world: World) => world.delete('/users/bob', { permanent: true })],
    ['its group is deleted', (world: World) => world.delete('/groups/team')],
  ])('forgets a reaction when %s', async (_, remove) => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const { id } = await sayInGroup(world, 'alice', 'team', 'good?')
    await firstCursor(world)
    dataOf(await world.post(`/messages/${id}/reactions/${marker}`, {}, { as: 'bob' }))
    dataOf(await world.delete(`/messages/${id}/reactions/${marker}`, {}, { as: 'bob' }))
    expect((await look(world, marker)).holding).toEqual(['message_reaction_added', 'message_reaction_removed'])
    dataOf(await remove(world, id))
    expect((await look(world, marker)).holding).toEqual([])
  })

  it('holds no name or text of a user who is deleted for good, nor of his conversations', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await firstCursor(world)
    dataOf(await world.put('/users/bob', { name: marker, statusMessage: marker }))
    const { id } = await say(world, 'bob', 'alice', marker)
    dataOf(await world.post(`/messages/${id}/reactions/${marker}`, {}, { as: 'alice' }))
    dataOf(await world.delete('/groups/team/members/bob'))
    dataOf(await world.delete('/users/bob', { permanent: true }))
    const { triggers, holding } = await look(world, marker)
    expect(triggers).toEqual(expect.arrayContaining(['message_reaction_added', 'group_member_kicked']))
    expect(holding).toEqual([])
    expect(JSON.stringify((await world.get('/events?after=0')).body)).not.toContain(marker)
  })
})
