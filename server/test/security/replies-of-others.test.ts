import { expect, it } from 'vitest'
import { attackerAs } from '../support/attacker.ts'
import { createGroup, dataOf, refusal, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** A participant removes a message of theirs for good, and with it what others replied. */
it('A participant removes no replies of others by removing their own message for good', async () => {
  const world = await createWorld()
  await createUsers(world, 'owner', 'mallory', 'bob')
  await createGroup(world, 'team', 'owner', { participants: ['mallory', 'bob'] })
  const parent = await sayInGroup(world, 'mallory', 'team', 'parent')
  const reply = await sayInGroup(world, 'bob', 'team', 'I said so', { parentId: parent.id })
  const mallory = await attackerAs(world, 'mallory')
  expect(refusal(await mallory.delete(`/messages/${reply.id}`, { permanent: true }))).toBe(
    '403 ERR_MESSAGE_NOT_A_SENDER',
  )
  dataOf(await mallory.delete(`/messages/${parent.id}`, { permanent: true }))
  expect(dataOf(await world.get(`/messages/${reply.id}`)).data.text).toBe('I said so')
  const thread = dataOf(await world.get(`/messages/${parent.id}/thread`, { as: 'bob' }))
  expect(thread.map(({ id }: { id: string }) => id)).toEqual([reply.id])
})
