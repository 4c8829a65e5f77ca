import { describe, expect, it } from 'vitest'
import { createGroup, say, sayInGroup } from '../support/chat.ts'
import { type Pulled, pullEvents } from '../support/events.ts'
import { type Client, connect, type Frame } from '../support/socket.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** A message, or a receipt, in the order in which somebody heard of it. */
interface Heard {
  readonly what: 'sent' | 'read' | 'readByAll'
  readonly by: string
  readonly id: number
}

const names = Array.from({ length: 24 }, (_, i) => `writer${i}`)
const pairs = names.slice(0, 12).map((first, i) => [first, names[i + 12] as string] as const)

/** Each of these reads all that comes before their own message by sending it. Two messages of each, all at once. */
async function writeAtOnce(people: readonly string[], write: (from: string, text: string) => Promise<unknown>) {
  await Promise.all([1, 2].flatMap((n) => people.map((from) => write(from, `${n} of ${from}`))))
}

function ofEvent({ trigger, data }: Pulled): Heard[] {
  switch (trigger) {
    case 'message_sent':
      return [{ what: 'sent', by: data.message.sender, id: Number(data.message.id) }]
    case 'message_read_receipt':
      return [{ what: 'read', by: data.sender, id: Number(data.body.messageId) }]
    case 'message_read_by_all':
      return [{ what: 'readByAll', by: data.sender, id: Number(data.body.messageId) }]
    default:
      return []
  }
}

function ofFrame({ type, sender, body }: Frame): Heard[] {
  if (type === 'message') return body.category === 'action' ? [] : [{ what: 'sent', by: sender, id: Number(body.id) }]
  if (type !== 'receipts' || !['read', 'readByAll'].includes(body.action)) return []
  return [{ what: body.action, by: sender, id: Number(body.messageId) }]
}

/** What each of these has read at last, as receipts say: of others, all that came before their own last message. */
function expectReadBeforeWriting(heard: readonly Heard[], people: readonly string[]): void {
  const sent = heard.filter(({ what }) => what === 'sent')
  for (const uid of people) {
    const own = sent.filter(({ by }) => by === uid).at(-1)
    const before = sent.filter(({ by, id }) => by !== uid && id < (own?.id ?? 0)).at(-1)
    const read = heard.filter(({ what, by }) => what === 'read' && by === uid).at(-1)
    expect([uid, read?.id]).toEqual([uid, before?.id])
  }
}

/** Nobody hears that a message was read before they hear of the message. */
function expectInOrder(heard: readonly Heard[]): void {
  for (const [i, { what, id }] of heard.entries()) {
    if (what === 'sent') continue
    expect(heard.slice(0, i)).toContainEqual(expect.objectContaining({ what: 'sent', id }))
  }
}

/** What these heard until they were told the end; each of them of all messages. */
async function hear(clients: readonly Client[], messages: number): Promise<Heard[][]> {
  return Promise.all(
    clients.map(async (client) => {
      await client.takeText('the end')
      const heard = client.frames.flatMap(ofFrame)
      expect(heard.filter(({ what }) => what === 'sent')).toHaveLength(messages)
      expectInOrder(heard)
      return heard
    }),
  )
}

/** Who has read up to which message; both of the two hear of it. */
function receiptsIn(heard: readonly Heard[]): string[] {
  const receipts = heard.filter(({ what }) => what === 'read').map(({ by, id }) => `${by} ${id}`)
  return [...new Set(receipts)].sort()
}

describe('users who write to each other at the same moment', () => {
  it('have read what came before their own, and everybody hears of it', async () => {
    const world = await createWorld()
    await createUsers(world, 'watcher', ...names)
    const puller = await pullEvents(world)
    const clients = await Promise.all(names.map((uid) => connect(world, uid)))
    await Promise.all(
      pairs.map((pair) =>
        writeAtOnce(pair, (from, text) => say(world, from, pair.find((uid) => uid !== from) as string, text)),
      ),
    )
    const log = (await puller.since()).flatMap(ofEvent)
    for (const pair of pairs) {
      const theirs = log.filter(({ by }) => pair.includes(by))
      expectReadBeforeWriting(theirs, pair)
      expectInOrder(theirs)
    }

    await Promise.all(names.map((uid) => say(world, 'watcher', uid, 'the end')))
    const heard = await hear(clients, 4)
    expect(receiptsIn(heard.flat())).toEqual(receiptsIn(log))
  })

  it('in a group, too', async () => {
    const world = await createWorld()
    const people = names.slice(0, 6)
    await createUsers(world, 'watcher', ...people)
    await createGroup(world, 'team', 'watcher', { participants: people })
    const clients = await Promise.all(people.map((uid) => connect(world, uid)))
    const puller = await pullEvents(world)
    await writeAtOnce(people, (from, text) => sayInGroup(world, from, 'team', text))
    const log = (await puller.since()).flatMap(ofEvent)
    expectReadBeforeWriting(log, people)
    expectInOrder(log)

    await Promise.all(people.map((uid) => say(world, 'watcher', uid, 'the end')))
    const heard = await hear(clients, people.length * 2)
    expect(receiptsIn(heard.flat())).toEqual(receiptsIn(log))
  })

  it('in a group of nobody else, what all have read comes after the message', async () => {
    for (let round = 0; round < 8; round++) await writeInPairGroup()
  })
})

async function writeInPairGroup(): Promise<void> {
  const world = await createWorld()
  const people = ['alice', 'bob']
  await createUsers(world, 'watcher', ...people)
  await createGroup(world, 'duo', 'alice', { participants: ['bob'] })
  const clients = await Promise.all(people.map((uid) => connect(world, uid)))
  const puller = await pullEvents(world)
  await writeAtOnce(people, (from, text) => sayInGroup(world, from, 'duo', text))
  const log = (await puller.since()).flatMap(ofEvent)
  expectReadBeforeWriting(log, people)
  expectInOrder(log)

  await Promise.all(people.map((uid) => say(world, 'watcher', uid, 'the end')))
  await hear(clients, 4)
}
