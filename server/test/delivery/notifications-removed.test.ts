import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findDrift } from '../../src/doctor/drift.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import type { Endpoint } from '../support/endpoint.ts'
import { logsOf, setUpCustomPush } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
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

/** An app whose users are notified by an endpoint, with alice, bob and carol in the group `team`. */
async function notifiedWorld(): Promise<{ world: World; endpoint: Endpoint }> {
  const [world, endpoint] = [await createWorld(service), await open()]
  await createUsers(world, 'alice', 'bob', 'carol')
  await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
  await setUpCustomPush(world, endpoint.url)
  return { world, endpoint }
}

const waitForPushes = (world: World, count: number) =>
  soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(count))

/** What an endpoint was told to take back, as `bob 42`. */
const takenBack = (endpoint: Endpoint) =>
  endpoint.received
    .map(({ body: { data } }) => data)
    .filter(({ notificationDetails: { action } }) => action === 'deleted')
    .map(({ to, notificationDetails: { tag } }) => `${to.uid} ${tag}`)
    .sort()

const forGood = { permanent: true }

describe('a message that is removed for good', () => {
  it('is taken back from everybody who was sent it', async () => {
    const { world, endpoint } = await notifiedWorld()
    const [one, two] = [await say(world, 'alice', 'bob', 'one'), await sayInGroup(world, 'alice', 'team', 'two')]
    await waitForPushes(world, 3)
    for (const { id } of [one, two]) dataOf(await world.delete(`/messages/${id}`, forGood, { as: 'alice' }))
    await soon(() => expect(takenBack(endpoint)).toEqual([`bob ${one.id}`, `bob ${two.id}`, `carol ${two.id}`].sort()))
    const told = endpoint.received.map(({ body }) => body.data.notificationDetails)
    expect(told.filter(({ action }) => action === 'deleted')).toEqual(
      Array(3).fill(
        expect.objectContaining({ body: 'This message was deleted', sender: 'alice', senderName: 'Alice' }),
      ),
    )
    await waitForPushes(world, 6)
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it('takes back its replies, too', async () => {
    const { world, endpoint } = await notifiedWorld()
    const { id } = await say(world, 'alice', 'bob', 'one')
    const reply = await say(world, 'alice', 'bob', 'two', { parentId: id })
    await waitForPushes(world, 2)
    dataOf(await world.delete(`/messages/${id}`, forGood))
    await soon(() => expect(takenBack(endpoint)).toEqual([`bob ${id}`, `bob ${reply.id}`].sort()))
  })

  it('is taken back where it was just being sent', async () => {
    const { world, endpoint } = await notifiedWorld()
    endpoint.behave({ delayMs: 1_500 })
    const { id } = await say(world, 'alice', 'bob', 'one')
    await soon(() => expect(endpoint.received).toHaveLength(1))
    dataOf(await world.delete(`/messages/${id}`, forGood, { as: 'alice' }))
    await soon(() => expect(takenBack(endpoint)).toEqual([`bob ${id}`]))
  })

  it('is taken back once, also where it was deleted before', async () => {
    const { world, endpoint } = await notifiedWorld()
    const { id } = await say(world, 'alice', 'bob', 'one')
    await waitForPushes(world, 1)
    dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    await waitForPushes(world, 2)
    dataOf(await world.delete(`/messages/${id}`, forGood, { as: 'alice' }))
    await say(world, 'alice', 'bob', 'two')
    await soon(() => expect(endpoint.received.at(-1)?.body.data.notificationDetails.body).toBe('two'))
    expect(takenBack(endpoint)).toEqual([`bob ${id}`])
  })
})

describe('messages that are removed with their conversation', () => {
  it.each([
    [
      'by a reset for both',
      (world: World) => world.delete('/users/bob/conversation', { deleteMessagesPermanently: true }, { as: 'alice' }),
    ],
    ['for everybody', (world: World) => world.delete('/conversations/alice_user_bob', {}, { as: 'alice' })],
  ])('are taken back, but for what was read: %s', async (_, remove) => {
    const { world, endpoint } = await notifiedWorld()
    await say(world, 'alice', 'bob', 'read')
    await waitForPushes(world, 1)
    dataOf(await world.post('/users/alice/conversation/read', {}, { as: 'bob' }))
    await say(world, 'carol', 'bob', 'elsewhere')
    const unread = [await say(world, 'alice', 'bob', 'one'), await say(world, 'alice', 'bob', 'two')]
    await waitForPushes(world, 4)
    dataOf(await remove(world))
    const expected = unread.map(({ id }) => `bob ${id}`).sort()
    await soon(() => expect(takenBack(endpoint)).toEqual(expected))
    await waitForPushes(world, 6)
    expect(takenBack(endpoint)).toEqual(expected)
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it('are taken back where they were just being sent', async () => {
    const { world, endpoint } = await notifiedWorld()
    endpoint.behave({ delayMs: 1_500 })
    const { id } = await say(world, 'alice', 'bob', 'one')
    await soon(() => expect(endpoint.received).toHaveLength(1))
    dataOf(await world.delete('/users/bob/conversation', { deleteMessagesPermanently: true }, { as: 'alice' }))
    await soon(() => expect(takenBack(endpoint)).toEqual([`bob ${id}`]))
  })

  it('are taken back with a user who is removed for good, by pushes that do not name them', async () => {
    const { world, endpoint } = await notifiedWorld()
    const { id } = await say(world, 'alice', 'bob', 'one')
    await sayInGroup(world, 'alice', 'team', 'stays')
    await waitForPushes(world, 3)
    dataOf(await world.delete('/users/alice', forGood))
    await soon(() => expect(takenBack(endpoint)).toEqual([`bob ${id}`]))
    const last = endpoint.received.at(-1)
    expect(last?.body.data.notificationDetails).toMatchObject({ tag: id, title: 'Deleted user', sender: '' })
    expect(last?.text.toLowerCase()).not.toContain('alice')
    const [certificate] = dataOf(await world.get('/users/alice/erasures'))
    expect(certificate.isClean).toBe(true)
    const rows = await own.query('select * from notification_deliveries where app_id = $1', [world.app.appId])
    expect(JSON.stringify(rows)).not.toContain('alice')
  })
})
