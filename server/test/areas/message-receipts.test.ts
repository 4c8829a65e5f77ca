import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** A message of alice to a group of bob, carol, dave and erin: bob has got it, carol has read it, dave has written after it. */
async function createTeam(): Promise<{ world: World; id: string }> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol', 'dave', 'erin', 'late')
  await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol', 'dave', 'erin'] })
  const { id } = await sayInGroup(world, 'alice', 'team', 'hi')
  dataOf(await world.post('/groups/team/conversation/delivered', { messageId: id }, { as: 'bob' }))
  dataOf(await world.post('/groups/team/conversation/read', { messageId: id }, { as: 'carol' }))
  await sayInGroup(world, 'dave', 'team', 'ho')
  return { world, id }
}

const time = expect.any(Number)

describe('one message to a group, read by its sender', () => {
  it('tells which members have received and read it', async () => {
    const { world, id } = await createTeam()
    const { receipts } = dataOf(await world.get(`/messages/${id}`, { as: 'alice' }))
    expect(receipts.data).toEqual([
      { recipient: expect.objectContaining({ uid: 'bob', name: 'Bob' }), deliveredAt: time },
      { recipient: expect.objectContaining({ uid: 'carol' }), deliveredAt: time, readAt: time },
      { recipient: expect.objectContaining({ uid: 'dave' }), deliveredAt: time, readAt: time },
    ])
    expect(dataOf(await world.get(`/messages/${id}`)).receipts.data).toHaveLength(3)
  })

  it('leaves out who joined after it, who is gone, and what others are not told', async () => {
    const { world, id } = await createTeam()
    dataOf(await world.post('/groups/team/members', { participants: ['late'] }))
    const { id: next } = await sayInGroup(world, 'alice', 'team', 'next')
    dataOf(await world.post('/groups/team/conversation/read', { messageId: next }, { as: 'late' }))
    dataOf(await world.delete('/groups/team/members/dave', undefined, { as: 'alice' }))
    const uidsOf = async (message: string) =>
      dataOf(await world.get(`/messages/${message}`, { as: 'alice' })).receipts.data.map(
        ({ recipient }: { recipient: { uid: string } }) => recipient.uid,
      )
    expect(await uidsOf(id)).toEqual(['bob', 'carol'])
    expect(await uidsOf(next)).toEqual(['late'])
    expect(dataOf(await world.get(`/messages/${id}`, { as: 'bob' }))).not.toHaveProperty('receipts')
    const direct = await say(world, 'alice', 'bob', 'hi')
    expect(dataOf(await world.get(`/messages/${direct.id}`, { as: 'alice' }))).not.toHaveProperty('receipts')
  })
})
