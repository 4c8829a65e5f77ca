import { expect, it } from 'vitest'
import { asOfNow, currentAudience } from '../../src/sockets/audiences.ts'
import { AppSockets } from '../../src/sockets/registry.ts'
import { createGroup, dataOf } from '../support/chat.ts'
import { noting, type SeenQuery } from '../support/plans.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** An app with so many connected users, and what its groups' audiences are read with. */
function openSockets({ app, context }: World, connected: readonly string[]) {
  const sockets = new AppSockets(app)
  for (const uid of connected) sockets.users.set(uid, { uid, connections: [], isPresent: false })
  const seen: SeenQuery[] = []
  const database = { ...context.database, ...noting(context.database, seen) }
  const readAs = async (guid: string, revision?: number) =>
    [...(await currentAudience(database, sockets, guid, revision)).members].sort()
  /** The longest list of uids that was sent to the database since it was asked last. */
  const longest = () =>
    Math.max(0, ...seen.splice(0).map(({ values }) => (values[2] as string[] | undefined)?.length ?? 0))
  return { readAs, longest }
}

const strangers = Array.from({ length: 500 }, (_, i) => `stranger-${i}`)

it('of a small group, not everybody who is connected is looked up, whatever happens in it', async () => {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol', 'dave')
  await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
  // Carol is a member and not connected; Dave is connected and no member.
  const { readAs, longest } = openSockets(world, ['alice', 'bob', 'dave', ...strangers])
  expect(await readAs('team')).toEqual(['alice', 'bob'])
  expect(longest()).toBeLessThan(4)
  expect(await readAs('team', asOfNow)).toEqual(['alice', 'bob'])
  expect(longest()).toBeLessThan(4)

  // Nobody told of it, as where that comes later than what is to be sent.
  dataOf(await world.post('/groups/team/members', { participants: ['dave'] }))
  dataOf(await world.delete('/groups/team/members/bob'))
  expect(await readAs('team', asOfNow)).toEqual(['alice', 'dave'])
  expect(longest()).toBeLessThan(4)
})

it('of a group that is larger than all who are connected, these are looked up', async () => {
  const world = await createWorld()
  const uids = Array.from({ length: 20 }, (_, i) => `user-${i}`)
  await createUsers(world, 'alice', 'bob', ...uids)
  await createGroup(world, 'crowd', 'alice', { participants: uids })
  const { readAs } = openSockets(world, ['alice', 'bob', 'user-3'])
  expect(await readAs('crowd')).toEqual(['alice', 'user-3'])
  dataOf(await world.delete('/groups/crowd/members/user-3'))
  expect(await readAs('crowd', asOfNow)).toEqual(['alice'])
  dataOf(await world.delete('/groups/crowd'))
  expect(await readAs('crowd', asOfNow)).toEqual([])
})
