import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { say } from '../support/chat.ts'
import { setUpCustomPush } from '../support/notifications.ts'
import { createOwnServices, type OwnServices } from '../support/own-services.ts'
import { soon } from '../support/until.ts'
import { chatWorld, closeEndpoints, idsOf, open, register, tell } from '../support/webhooks.ts'
import { createUsers, createWorld } from '../support/world.ts'

/*
 * A clock that was ahead for a moment gave out leases, pauses and times of attempts. They are put here as it left them, and the service is
 * started anew with a clock that is right.
 */

const year = 365 * 86_400_000
const future = () => Date.now() + year

let own: OwnServices
beforeAll(async () => {
  own = await createOwnServices()
})
beforeEach(() => own.stop())
afterAll(async () => {
  await own.close()
  await closeEndpoints()
})

it.each(['leased_until', 'paused_until'])(
  'a webhook whose %s such a clock gave gets its deliveries',
  async (column) => {
    const service = await own.start()
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url)
    const app = [world.app.appId]
    await own.query(`update webhook_states set ${column} = $2 where app_id = $1`, [...app, future()])
    await tell(world, message, 2)
    const waiting = 'select from webhook_deliveries where app_id = $1 and due_at is not null'
    await soon(async () => expect(await own.query(waiting, app)).toHaveLength(2))
    expect(idsOf(endpoint)).toEqual([])
    await service.parley.close()
    await own.start()
    await soon(() => expect(new Set(idsOf(endpoint)).size).toBe(2))
  },
)

it('a delivery that such a clock put off is tried again', async () => {
  const service = await own.start()
  const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
  await register(world, endpoint.url)
  endpoint.behave({ status: 500 })
  await tell(world, message)
  const app = [world.app.appId]
  const failed = 'select from webhook_deliveries where app_id = $1 and due_at is not null and attempts > 0'
  await soon(async () => expect(await own.query(failed, app)).toHaveLength(1))
  await service.parley.close()
  await own.query('update webhook_deliveries set due_at = $2 where app_id = $1', [...app, future()])
  endpoint.behave({ status: 200 })
  await own.start()
  const delivered = `select from webhook_deliveries where app_id = $1 and status = 'delivered'`
  await soon(async () => expect(await own.query(delivered, app)).toHaveLength(1))
})

it('notifications go out whose planner, provider and times are as such a clock left them', async () => {
  const service = await own.start()
  const [world, endpoint] = [await createWorld(service), await open()]
  await createUsers(world, 'alice', 'bob')
  await setUpCustomPush(world, endpoint.url)
  const app = [world.app.appId]
  await own.query(
    `insert into notification_planners as s (app_id, leased_by, leased_until) values ($1, 'gone', $2)
    on conflict (app_id) do update set leased_by = 'gone', leased_until = excluded.leased_until`,
    [...app, future()],
  )
  await own.query(`update notification_senders set leased_by = 'gone', leased_until = $2 where app_id = $1`, [
    ...app,
    future(),
  ])
  await say(world, 'alice', 'bob', 'hello')
  const planned = `select from notification_deliveries where app_id = $1 and status = 'pending'`
  await soon(async () => expect(await own.query(planned, app)).toHaveLength(1))
  expect(endpoint.received).toHaveLength(0)
  await service.parley.close()
  await own.query(
    `update notification_deliveries set due_at = $2, expires_at = $2, created_at = $2 where app_id = $1 and status = 'pending'`,
    [...app, future()],
  )
  await own.start()
  await soon(() => expect(endpoint.received).toHaveLength(1))
})

it('jobs go on that were added, tried or taken by such a clock', async () => {
  await (await own.start()).parley.close()
  const add = async (key: string, change: string) => {
    await own.query(
      `select graphile_worker.add_job('clock_test', json_build_object('key', $1::text), job_key => $1, run_at => now() + interval '1 day')`,
      [key],
    )
    await own.query(`update graphile_worker._private_jobs set ${change} where key = $1`, [key])
  }
  const ahead = `now() + interval '1 year'`
  await add('added', `run_at = ${ahead}, updated_at = ${ahead}`)
  await add('failed', `run_at = ${ahead}, attempts = 1`)
  await add('taken', `run_at = now(), attempts = 1, locked_by = 'somebody who is gone', locked_at = ${ahead}`)
  await add('later', `attempts = 0`)
  await own.start()
  const waits = async (condition: string) =>
    (
      await own.query<{ key: string }>(
        `select key from graphile_worker._private_jobs where key in ('added', 'failed', 'taken', 'later') and ${condition} order by key`,
      )
    ).map(({ key }) => key)
  await soon(async () =>
    expect(await waits('run_at <= now() and locked_at is null')).toEqual(['added', 'failed', 'taken']),
  )
  expect(await waits('run_at > now()')).toEqual(['later'])
})
