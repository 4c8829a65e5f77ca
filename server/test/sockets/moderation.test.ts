import { expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { flag, makePending, moderatedWorld, review, takeRulesAway } from '../support/review.ts'
import { type Client, connect } from '../support/socket.ts'
import type { World } from '../support/world.ts'

takeRulesAway()

/** What comes first after what was decided is what is said next: until then nothing of moderation came. */
async function heardNothing(world: World, client: Client, uid: string): Promise<void> {
  await say(world, uid, 'bob', 'next')
  await client.takeText('next')
  const told = client.frames.filter(({ type }) => type === 'on_moderation_status_changed')
  expect(told).toEqual([])
  expect(JSON.stringify(client.frames)).not.toMatch(/disapproved|pending|secret/)
}

it('the sender of a message that was held is told when a reviewer decides, on all devices, and nobody else', async () => {
  const world = await moderatedWorld('alice', 'bob')
  const [phone, tab, bob] = [
    await connect(world, 'alice', { deviceId: 'phone' }),
    await connect(world, 'alice', { deviceId: 'tab' }),
    await connect(world, 'bob'),
  ]
  const { id } = await say(world, 'alice', 'bob', 'a bad secret')
  await makePending(world, id)
  dataOf(await review(world, 'blocked', id, { status: 'rejected' }))
  for (const client of [phone, tab]) {
    expect(await client.takeType('on_moderation_status_changed')).toEqual({
      ...{ appId: world.app.name, type: 'on_moderation_status_changed', sender: 'alice', receiver: 'bob' },
      receiverType: 'user',
      body: expect.objectContaining({
        ...{ id, sender: 'alice', receiver: 'bob' },
        data: expect.objectContaining({ text: 'a bad secret', moderation: { status: 'disapproved' } }),
      }),
    })
  }
  await heardNothing(world, bob, 'alice')
  dataOf(await review(world, 'blocked', id, { status: 'approved', override: true }))
  const released = await phone.takeType('on_moderation_status_changed')
  expect(released.body).toMatchObject({ id, data: { moderation: { status: 'approved' } } })
  expect((await bob.takeText('a bad secret')).type).toBe('message')
})

it('the sender of a message that was seen and is blocked is told the status; from the others it goes without its content', async () => {
  const world = await moderatedWorld('alice', 'bob', 'carol')
  await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
  const { id } = await sayInGroup(world, 'alice', 'team', 'the secret')
  const [alice, bob] = [await connect(world, 'alice'), await connect(world, 'bob')]
  await flag(world, id, 'carol')
  expect((await review(world, 'flagged', id, { status: 'disapproved' })).status).toBe(200)
  const told = await alice.takeType('on_moderation_status_changed')
  expect(told).toMatchObject({ receiver: 'team', receiverType: 'group', body: { id } })
  expect(told.body.data.moderation).toEqual({ status: 'disapproved' })
  const gone = await bob.takeType('message')
  expect(gone.body.data).toMatchObject({ action: 'deleted', entities: { on: { entity: { id } } } })
  await heardNothing(world, bob, 'alice')
  expect(dataOf(await world.get(`/messages/${id}`, { as: 'alice' })).data.text).toBe('the secret')
})
