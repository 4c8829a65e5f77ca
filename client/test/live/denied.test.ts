import { describe, expect, it } from 'vitest'
import { dataOf, say } from '../../../server/test/support/chat.ts'
import { until } from '../../../server/test/support/until.ts'
import type { World } from '../../../server/test/support/world.ts'
import { whenLive } from './support/people.ts'
import { textsOf, useRoom } from './support/room.ts'

const { join, network, world: chatWorld, onEnd } = useRoom()

/** A role without this, which alice has. */
async function denied(world: World, permission: string): Promise<void> {
  dataOf(await world.post('/roles', { role: 'guest', name: 'Guest' }))
  dataOf(await world.put('/roles/guest/permissions', { permissions: { [permission]: 'deny' } }))
  dataOf(await world.put('/users/alice', { role: 'guest' }))
}

describe('a role that', () => {
  it('lists no users has a chat, and nobody is shown as being there', async () => {
    const world = await chatWorld('alice', 'bob')
    await denied(world, 'listUsers')
    await say(world, 'bob', 'alice', 'hello')
    const line = await network(world.url)
    const alice = await join(world, 'alice', { url: line.url })
    const chat = alice.openConversation({ uid: 'bob' })
    onEnd(alice.presence('bob').subscribe(() => {}))
    for (const text of ['live', 'missed']) {
      line.cut()
      await until(() => alice.connection.getSnapshot().status === 'waiting')
      await say(world, 'bob', 'alice', text)
      line.heal()
      await whenLive(alice)
    }
    await until(() => textsOf(chat).join() === 'hello,live,missed')
  })

  for (const permission of ['listConversations', 'listMessages'] as const) {
    it(`is denied ${permission} is connected, and the list says why it is empty`, async () => {
      const world = await chatWorld('alice', 'bob')
      await denied(world, permission)
      await say(world, 'bob', 'alice', 'hello')
      const alice = await join(world, 'alice')
      expect(alice.conversations.getSnapshot()).toMatchObject({
        conversations: [],
        error: { code: 'ERR_PERMISSION_DENIED' },
      })
    })
  }
})

it('a user who was deactivated while the client was away is there no more', async () => {
  const world = await chatWorld('alice', 'carol')
  const line = await network(world.url)
  const alice = await join(world, 'alice', { url: line.url })
  await join(world, 'carol')
  const presence = alice.presence('carol')
  onEnd(presence.subscribe(() => {}))
  await until(() => presence.getSnapshot()?.status === 'available')
  line.cut()
  await until(() => alice.connection.getSnapshot().status === 'waiting')
  dataOf(await world.delete('/users/carol', { permanent: false }))
  line.heal()
  await whenLive(alice)
  expect(presence.getSnapshot()?.status).toBe('offline')
})
