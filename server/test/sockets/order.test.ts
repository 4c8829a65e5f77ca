import { expect, it, vi } from 'vitest'
import { createPublishOrder } from '../../src/areas/messages/publish-order.ts'
import { createGroup, say, sayInGroup } from '../support/chat.ts'
import { type Client, connect, type Frame } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const atOnce = 64

type Say = (text: string, extra: object) => Promise<{ id: string }>

/** Some need more than others until they can be answered: names of who is mentioned, a message that is quoted. */
function sayAll(send: Say, quotedMessageId: string): Promise<Array<{ id: string }>> {
  return Promise.all(
    Array.from({ length: atOnce }, (_, i) =>
      send(i % 3 === 0 ? `${i} <@uid:bob> <@uid:alice>` : `${i}`, i % 5 === 0 ? { quotedMessageId } : {}),
    ),
  )
}

async function idsOf(client: Client): Promise<number[]> {
  const ids: number[] = []
  while (ids.length < atOnce) ids.push(Number((await client.takeType('message')).body.id))
  return ids
}

const sorted = (ids: readonly number[]) => [...ids].sort((a, b) => a - b)

async function chatWorld(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  await createGroup(world, 'team', 'alice', { participants: ['bob'] })
  return world
}

it.each(['one-to-one', 'in a group'])(
  'messages that are sent at once come in the order of their ids, %s',
  async (where) => {
    const world = await chatWorld()
    const send: Say =
      where === 'one-to-one'
        ? (text, extra) => say(world, 'alice', 'bob', text, extra)
        : (text, extra) => sayInGroup(world, 'alice', 'team', text, extra)
    const { id } = await send('quoted', {})
    const bob = await connect(world, 'bob')
    const [sent, heard] = await Promise.all([sayAll(send, id), idsOf(bob)])
    expect(heard).toEqual(sorted(heard))
    expect(heard).toEqual(sorted(sent.map((message) => Number(message.id))))
  },
)

it('a message that could not be shown to its sender is told all the same, and those behind it too', async () => {
  const world = await chatWorld()
  await say(world, 'alice', 'bob', 'zero')
  const bob = await connect(world, 'bob')
  const { entities } = world.context.messages
  const broken = vi.spyOn(entities, 'user').mockRejectedValueOnce(new Error('no entity'))
  const post = (text: string) =>
    world.post('/messages', { receiver: 'bob', receiverType: 'user', data: { text } }, { as: 'alice' })
  const answers = await Promise.all([post('one'), post('two'), post('three')])
  broken.mockRestore()
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 500])
  const heard = [await bob.takeType('message'), await bob.takeType('message'), await bob.takeType('message')]
  expect(heard.map(({ body }) => body.data.text).sort()).toEqual(['one', 'three', 'two'])
  const ids = heard.map(({ body }) => Number(body.id))
  expect(ids).toEqual(sorted(ids))
})

it('a line tells by id, goes on past a listener that throws, and ends; nobody waits where nobody listens', () => {
  const bus = { isHeard: true }
  const at = (id: number) => ({ sentAt: 1, id })
  const order = createPublishOrder(bus)
  const told: number[] = []
  const tells = [3, 1, 2, 5, 4].map((id) => ({ id, tell: order.enter('a', at(id)) }))
  const elsewhere = order.enter('b', at(9))
  elsewhere(() => told.push(9))
  const tell = (id: number, publish = () => void told.push(id)) => tells.find((place) => place.id === id)?.tell(publish)
  tell(4)
  tell(3)
  tell(2, () => {
    throw new Error('a listener that must not throw')
  })
  expect(told).toEqual([9])
  expect(() => tell(1)).toThrow('must not throw')
  expect(told).toEqual([9, 1, 3, 4])
  tell(5)
  expect(told).toEqual([9, 1, 3, 4, 5])

  bus.isHeard = false
  const [later, sooner] = [order.enter('a', at(11)), order.enter('a', at(10))]
  later(() => told.push(11))
  sooner(() => told.push(10))
  expect(told.slice(-2)).toEqual([11, 10])
})

it.each(['user', 'group'])(
  'receipts that a client sends at once are marked in their order: %s',
  async (receiverType) => {
    const world = await chatWorld()
    const [alice, bob] = [await connect(world, 'alice'), await connect(world, 'bob')]
    const receiver = receiverType === 'user' ? 'alice' : 'team'
    for (let round = 0; round < 20; round++) {
      const { id } = await (receiverType === 'user'
        ? say(world, 'alice', 'bob', `${round}`)
        : sayInGroup(world, 'alice', 'team', `${round}`))
      for (const action of ['delivered', 'read', 'delivered']) {
        bob.send({ receiver, receiverType, type: 'receipts', messageSender: 'alice', body: { action, messageId: id } })
      }
      for (const action of ['delivered', 'read']) {
        const isOfBob = ({ type, sender }: Frame) => type === 'receipts' && sender === 'bob'
        expect((await alice.take(isOfBob)).body).toMatchObject({ action, messageId: id })
      }
    }
  },
)
