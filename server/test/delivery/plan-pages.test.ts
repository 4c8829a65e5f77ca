import { afterAll, beforeAll, expect, it } from 'vitest'
import { firstOfMembers } from '../../src/delivery/notifications/plan.ts'
import { createGroup, dataOf, sayInGroup } from '../support/chat.ts'
import { patch, setUpCustomPush } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { soon } from '../support/until.ts'
import { closeEndpoints, open } from '../support/webhooks.ts'
import { createUsers, createWorld } from '../support/world.ts'

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

const of = (...members: number[]) => members.map((count, event) => ({ event, members: count }))
const events = (happened: ReadonlyArray<{ event: number }>) => happened.map(({ event }) => event)

it('a page of planning looks at no more events than their members fill', () => {
  expect(events(firstOfMembers(of(1_000, 1_000, 1_000, 1_000), 2_000))).toEqual([0, 1])
  expect(events(firstOfMembers(of(2, 2, 1_999, 2), 2_000))).toEqual([0, 1, 2])
  expect(events(firstOfMembers(of(10_000, 2), 2_000))).toEqual([0])
  expect(events(firstOfMembers(of(2, 2, 2), 2_000))).toEqual([0, 1, 2])
  expect(firstOfMembers([], 2_000)).toEqual([])
})

it('what a group was told while nobody planned is decided once for each member, over several pages', async () => {
  const [world, endpoint] = [await createWorld(service), await open()]
  const members = Array.from({ length: 24 }, (_, i) => `member-${i}`)
  await createUsers(world, 'alice', ...members)
  await createGroup(world, 'team', 'alice', { participants: members })
  await setUpCustomPush(world, endpoint.url)
  dataOf(await patch(world, '/notifications/v1/settings', { preferences: { mute: { dndPreferenceSetting: 2 } } }))
  const app = [world.app.appId]
  const release = await own.lock('select from notification_plans where app_id = $1 for update', app)
  const messages = 90
  await Promise.all(Array.from({ length: messages }, (_, i) => sayInGroup(world, 'alice', 'team', `number ${i}`)))
  await release()
  const count = `select count(*)::int as all, count(distinct (message, uid))::int as different
    from notification_deliveries where app_id = $1`
  const expected = messages * members.length
  let seen: unknown
  await soon(
    async () => {
      const rows = await own.query(count, app)
      seen = JSON.stringify(rows)
      expect(rows).toEqual([{ all: expected, different: expected }])
    },
    { progress: () => seen },
  )
})
