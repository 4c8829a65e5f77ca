import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import type { Endpoint } from '../support/endpoint.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { soon } from '../support/until.ts'
import { chatWorld, closeEndpoints, deliveriesOf, open, register } from '../support/webhooks.ts'
import type { World } from '../support/world.ts'

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

/** A group, and an endpoint that refuses every message and repeats what it was sent. */
async function echoWorld(): Promise<{ world: World; endpoint: Endpoint }> {
  const [{ world }, endpoint] = [await chatWorld(service), await open()]
  await createGroup(world, 'team', 'bob', { participants: ['alice'] })
  endpoint.behave(({ text }) => ({ status: 422, body: text.slice(0, 500) }))
  await register(world, endpoint.url, { retryOnFailure: false })
  return { world, endpoint }
}

/** Excerpts of what failed, the last first, once there are so many failures; null where none is kept. */
async function excerptsOf(world: World, count: number): Promise<Array<string | null>> {
  return soon(async () => {
    const failed = await deliveriesOf(world, '?status=failed')
    expect(failed).toHaveLength(count)
    for (const { answer } of failed) expect(answer.status).toBe(422)
    return failed.map(({ answer }: { answer: { excerpt?: string } }) => answer.excerpt ?? null)
  })
}

/** Everything that the table of deliveries has. */
const rowsOf = async (world: World) =>
  JSON.stringify(await own.query('select * from webhook_deliveries where app_id = $1', [world.app.appId]))

const as = { as: 'alice' }
const deeds: ReadonlyArray<[deed: string, (world: World, id: string) => Promise<unknown>]> = [
  ['is deleted', (world, id) => world.delete(`/messages/${id}`, undefined, as)],
  ['is deleted for good', (world, id) => world.delete(`/messages/${id}`, { permanent: true }, as)],
  ['is edited', (world, id) => world.put(`/messages/${id}`, { data: { text: 'harmless' } }, as)],
]

describe('What an endpoint answered about a message', () => {
  it.each(deeds)('goes when the message %s, and of others it stays', async (_, deed) => {
    const { world } = await echoWorld()
    const { id } = await say(world, 'alice', 'bob', 'secret')
    await say(world, 'alice', 'bob', 'harmless')
    expect(await excerptsOf(world, 2)).toEqual([expect.stringContaining('harmless'), expect.stringContaining('secret')])
    dataOf((await deed(world, id)) as never)
    expect(await excerptsOf(world, 2)).toEqual([expect.stringContaining('harmless'), null])
    expect(await rowsOf(world)).not.toContain('secret')
  })

  it.each(deeds)('is not kept when it comes after the message %s', async (_, deed) => {
    const { world, endpoint } = await echoWorld()
    endpoint.behave(({ text }) => ({ status: 422, body: text.slice(0, 500), delayMs: 1_500 }))
    const { id } = await say(world, 'alice', 'bob', 'secret')
    await soon(() => expect(endpoint.received).toHaveLength(1))
    dataOf((await deed(world, id)) as never)
    expect(await excerptsOf(world, 1)).toEqual([null])
    expect(await rowsOf(world)).not.toContain('secret')
  })

  it('is not kept of one that quotes another', async () => {
    const { world } = await echoWorld()
    const { id } = await say(world, 'alice', 'bob', 'secret')
    await say(world, 'bob', 'alice', 'indeed', { quotedMessageId: id })
    expect(await excerptsOf(world, 2)).toEqual([null, expect.stringContaining('secret')])
  })

  it('goes with its group', async () => {
    const { world } = await echoWorld()
    await sayInGroup(world, 'alice', 'team', 'secret')
    expect(await excerptsOf(world, 1)).toEqual([expect.stringContaining('secret')])
    dataOf(await world.delete('/groups/team'))
    expect(await excerptsOf(world, 1)).toEqual([null])
  })

  it('goes with a user who is removed for good, and the certificate of that says so', async () => {
    const { world } = await echoWorld()
    await say(world, 'alice', 'bob', 'secret')
    await sayInGroup(world, 'alice', 'team', 'hello')
    dataOf(await world.post('/webhooks/hook/triggers', { triggerIds: ['user_blocked'] }))
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    expect(await excerptsOf(world, 3)).toEqual(Array(3).fill(expect.stringContaining('alice')))
    const sample = dataOf(await world.post('/webhooks/hook/test'))
    dataOf(await world.delete('/users/alice', { permanent: true }))
    expect(await excerptsOf(world, 4)).toEqual([sample.answer.excerpt, null, null, null])
    const [certificate] = dataOf(await world.get('/users/alice/erasures'))
    expect(certificate.isClean).toBe(true)
    expect(certificate.places).toContainEqual({ table: 'webhook_deliveries', removed: 0, changed: 3, left: 0 })
  })
})
