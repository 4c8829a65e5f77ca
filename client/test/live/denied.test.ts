import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, say } from '../../../server/test/support/chat.ts'
import { soon, until } from '../../../server/test/support/until.ts'
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

  it('reads no single message sees what becomes of those that it lists', async () => {
    const world = await chatWorld('alice', 'bob')
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    await denied(world, 'getMessageDetails')
    const first = await say(world, 'bob', 'alice', 'first')
    const second = await say(world, 'bob', 'alice', 'second')
    const reply = (text: string) => ({ receiver: 'alice', receiverType: 'user', data: { text } })
    dataOf(await world.post(`/messages/${second.id}/thread`, reply('early'), { as: 'bob' }))
    const line = await network(world.url)
    const alice = await join(world, 'alice', { url: line.url })
    const chat = alice.openConversation({ uid: 'bob' })
    const thread = alice.openThread({ uid: 'bob' }, second.id)
    await until(() => thread.parent.getSnapshot()?.replyCount === 1)
    line.cut()
    await until(() => alice.connection.getSnapshot().status === 'waiting')
    for (const { id } of [first, second]) {
      dataOf(await world.post(`/messages/${id}/reactions/x`, {}, { as: 'bob' }))
    }
    dataOf(await world.post(`/messages/${second.id}/thread`, reply('late'), { as: 'bob' }))
    line.heal()
    await whenLive(alice)
    await soon(() =>
      expect(chat.getSnapshot().messages).toMatchObject([
        { id: first.id, reactions: [{ reaction: 'x', count: 1 }] },
        { id: second.id, reactions: [{ reaction: 'x', count: 1 }], replyCount: 2 },
      ]),
    )
    dataOf(await world.delete(`/messages/${first.id}`, { permanent: true }, { as: 'bob' }))
    await until(() => textsOf(chat).join() === 'second')
    expect(thread.parent.getSnapshot()?.id).toBe(second.id)
  })
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
