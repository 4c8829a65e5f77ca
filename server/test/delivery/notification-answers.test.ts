import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, say } from '../support/chat.ts'
import type { Endpoint } from '../support/endpoint.ts'
import { logsOf, setUpCustomPush } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { createReachable, endWindows, openWindowsOf, setUpCustom, whenPlanned } from '../support/unread.ts'
import { soon } from '../support/until.ts'
import { closeEndpoints, open } from '../support/webhooks.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

let own: OwnServices
let service: Service

beforeAll(async () => {
  own = await createOwnServices()
  service = await own.start()
})
afterAll(async () => {
  await own.close()
  await closeEndpoints()
})

/** A provider of the app that answers by a status, and repeats what it was sent. */
async function echoWorld(status: number): Promise<{ world: World; endpoint: Endpoint }> {
  const [world, endpoint] = [await createWorld(service), await open()]
  await createUsers(world, 'alice', 'bob')
  endpoint.behave(({ text }) => ({ status, body: text.slice(0, 500), headers: { 'retry-after': '600' } }))
  await setUpCustomPush(world, endpoint.url)
  return { world, endpoint }
}

/** What is kept of the answers about new messages, oldest first, once there are so many; null where nothing is. */
async function answersOf(world: World, count: number): Promise<Array<string | null>> {
  return soon(async () => {
    const logs = await logsOf(world, '?trigger=after_message')
    expect(logs).toHaveLength(count)
    for (const { answer } of logs) expect(answer.status).toBeGreaterThan(0)
    return logs.map(({ answer }: { answer: { text?: string } }) => answer.text ?? null)
  })
}

/** Everything that the log has. */
const rowsOf = async (world: World) =>
  JSON.stringify(await own.query('select * from notification_deliveries where app_id = $1', [world.app.appId]))

const as = { as: 'alice' }
const deeds: ReadonlyArray<[deed: string, deed: (world: World, id: string) => Promise<unknown>]> = [
  ['is deleted', (world, id) => world.delete(`/messages/${id}`, undefined, as)],
  ['is deleted for good', (world, id) => world.delete(`/messages/${id}`, { permanent: true }, as)],
  ['is edited', (world, id) => world.put(`/messages/${id}`, { data: { text: 'harmless' } }, as)],
]

describe('What a provider answered about a message', () => {
  it.each(deeds.flatMap(([name, deed]) => [400, 503].map((status) => [name, status, deed] as const)))(
    'goes when the message %s, after it was answered %d, and of others it stays',
    async (_, status, deed) => {
      const { world } = await echoWorld(status)
      const { id } = await say(world, 'alice', 'bob', 'secret')
      await answersOf(world, 1)
      const other = await say(world, 'alice', 'bob', 'harmless')
      // What failed leaves its provider alone for a while.
      if (status === 400) expect((await answersOf(world, 2))[1]).toContain('harmless')
      expect(await rowsOf(world)).toContain('secret')
      dataOf((await deed(world, id)) as never)
      expect(await rowsOf(world)).not.toContain('secret')
      const [left] = await logsOf(world, `?messageId=${other.id}`)
      if (status === 400) expect(left.answer.text).toContain('harmless')
    },
  )

  it.each(deeds)('is not kept when it comes after the message %s', async (_, deed) => {
    const { world, endpoint } = await echoWorld(400)
    endpoint.behave(({ text }) => ({ status: 400, body: text.slice(0, 500), delayMs: 1_500 }))
    const { id } = await say(world, 'alice', 'bob', 'secret')
    await soon(() => expect(endpoint.received).toHaveLength(1))
    dataOf((await deed(world, id)) as never)
    expect(await answersOf(world, 1)).toEqual([null])
    expect(await rowsOf(world)).not.toContain('secret')
  })

  it('is kept of what says nothing of it: that it was deleted', async () => {
    const { world, endpoint } = await echoWorld(200)
    const { id } = await say(world, 'alice', 'bob', 'secret')
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(1))
    endpoint.behave({ status: 400, body: 'no such action' })
    dataOf(await world.delete(`/messages/${id}`, undefined, as))
    const answer = { status: 400, text: 'no such action' }
    await soon(async () => expect(await logsOf(world, '?trigger=message_deleted')).toMatchObject([{ answer }]))
  })

  it('is not kept of e-mails, which list several', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createReachable(world, 'alice', 'bob')
    endpoint.behave(({ text }) => ({ status: 400, body: text.slice(0, 500) }))
    await setUpCustom(world, 'email', endpoint.url)
    for (const text of ['secret', 'harmless']) await say(world, 'alice', 'bob', text)
    await soon(async () => expect(await openWindowsOf(own, world)).toEqual(['email bob']))
    await whenPlanned(own, world)
    await endWindows(own, world)
    const told = { success: false, answer: { status: 400 }, error: 'the endpoint answered 400' }
    await soon(async () => expect(await logsOf(world)).toMatchObject([told]))
    expect(await rowsOf(world)).not.toContain('secret')
  })
})
