import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGroup, say, sayInGroup } from '../support/chat.ts'
import { createPushServices, type PushServices, registerApns, registerFcm } from '../support/push-services.ts'
import { soon } from '../support/until.ts'

let push: PushServices

beforeAll(async () => {
  push = await createPushServices()
})
afterAll(() => push.close())

describe('a push service that is down', () => {
  it('is tried now and then while others go on, and gets all that is of use once it is back', async () => {
    const { own, fcm, apns } = push
    const world = await push.pushWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    await registerFcm(world, 'bob', 'phone')
    await registerApns(world, 'carol', 'a1')
    fcm.behave(() => ({ status: 503, code: 'UNAVAILABLE' }))

    const ids: string[] = []
    for (let i = 0; i < 60; i++) ids.push((await sayInGroup(world, 'alice', 'team', `number ${i}`)).id)
    await soon(() => expect(new Set(apns.pushes.map(({ payload }) => payload.tag))).toEqual(new Set(ids)))
    expect(apns.pushes).toHaveLength(ids.length)
    const health = 'select failures from notification_senders where app_id = $1 and failures >= 10'
    await soon(async () => expect(await own.query(health, [world.app.appId])).toHaveLength(1))
    // One at a time, with pauses, since it is known to be down: there are far more that wait.
    expect(fcm.pushes.length).toBeLessThan(60)
    expect(fcm.pushes.every(({ status }) => status === 503)).toBe(true)

    // An hour passes for the first twenty.
    const aged = ids.slice(0, 20)
    await own.query(
      `update notification_deliveries set expires_at = expires_at - 3600000
      where app_id = $1 and message = any($2::bigint[]) and provider_kind = 'fcm'`,
      [world.app.appId, aged],
    )
    fcm.behave(() => undefined)
    const told = () => fcm.pushes.filter(({ status }) => status === 200).map(({ data }) => data.tag)
    await soon(() => expect(new Set(told())).toEqual(new Set(ids.slice(20))), { progress: () => fcm.pushes.length })
    const ended =
      'select status, count(*)::int from notification_deliveries where app_id = $1 and reason is distinct from'
    await soon(async () =>
      expect(await own.query(`${ended} 'TIMED_OUT' group by status`, [world.app.appId])).toEqual([
        { status: 'delivered', count: 100 },
      ]),
    )
    const lapsed = 'select from notification_deliveries where app_id = $1 and reason = $2 and due_at is null'
    expect(await own.query(lapsed, [world.app.appId, 'TIMED_OUT'])).toHaveLength(20)
    // Each once.
    expect(told()).toHaveLength(40)
  })

  it('gets no jobs from planning while it is left alone, and all that waits once its pause is over', async () => {
    const { own } = push
    const world = await push.pushWorld('alice', 'bob')
    await registerFcm(world, 'bob', 'phone')
    const app = [world.app.appId]
    await own.query(
      'update notification_senders set paused_until = (extract(epoch from clock_timestamp()) * 1000)::bigint + 600000 where app_id = $1',
      app,
    )
    const waiting = async (count: number) => {
      const rows = await own.query('select from notification_deliveries where app_id = $1 and day = 0', app)
      expect(rows).toHaveLength(count)
    }
    await say(world, 'alice', 'bob', 'one')
    await soon(() => waiting(1))
    // The one for the end of a pause is added as it begins.
    const jobs = `select key from graphile_worker._private_jobs where key like 'notify:' || $1 || ':%'`
    for (const text of ['two', 'three']) await say(world, 'alice', 'bob', text)
    await soon(() => waiting(3))
    expect(await own.query(jobs, app)).toEqual([])
    await own.query('update notification_senders set paused_until = 0 where app_id = $1', app)
    await soon(() => waiting(0))
  })
})
