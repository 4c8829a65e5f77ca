import pg from 'pg'
import { expect, it } from 'vitest'
import { enqueuePlans } from '../../src/delivery/notifications/enqueue.ts'
import { planWhileAsked } from '../../src/delivery/notifications/planner.ts'
import type { Ready } from '../../src/delivery/notifications/ready.ts'
import { createHands } from '../../src/delivery/outbound/hands.ts'
import { createSeats } from '../../src/delivery/outbound/seats.ts'
import { createWakes } from '../../src/delivery/outbound/wakes.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import type { Statement } from '../../src/store/statement.ts'
import { say } from '../support/chat.ts'
import { setUpCustomPush, toldTo } from '../support/notifications.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { createOwnServices, type OwnServices } from '../support/own-services.ts'
import { startService } from '../support/service.ts'
import { soon, until } from '../support/until.ts'
import { closeEndpoints, open } from '../support/webhooks.ts'
import { createUsers, createWorld } from '../support/world.ts'

const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

it('a job of planning that somebody takes at this very moment is followed by another', async () => {
  const { connection, drop } = await createOwnDatabase()
  const service = await startService({}, connection)
  const world = await createWorld(service)
  await createUsers(world, 'alice', 'bob')
  await setUpCustomPush(world, 'http://127.0.0.1:9')
  await say(world, 'alice', 'bob', 'hello')
  // Nobody else takes or adds jobs.
  await service.parley.close()

  const database = openDatabase(connection)
  const worker = new pg.Client(connection)
  await worker.connect()
  await worker.query('delete from graphile_worker._private_jobs')
  const add = () => database.transaction((tx) => enqueuePlans(tx, 0, 1_000_000, { pushTakeBackRead: false }))
  await add()
  await worker.query('begin')
  await worker.query(`update graphile_worker._private_jobs set locked_at = now(), locked_by = 'somebody'`)
  const adding = add()
  await until(async () => (await database.query({ name: 'waits', text: waits }, [])).length > 0)
  await worker.query('commit')
  await adding
  const { rows } = await worker.query('select key, locked_by from graphile_worker._private_jobs order by id')
  expect(rows).toEqual([
    { key: null, locked_by: 'somebody' },
    { key: `plan:${world.app.appId}`, locked_by: null },
  ])
  await worker.end()
  await database.close()
  await drop()
})

const isPlannedFor = async ({ query }: Pick<OwnServices, 'query'>) =>
  (await query('select from notification_planners where leased_by is not null', [])).length > 0

it('whoever plans is told of more without a job, and gives way once nothing comes', async () => {
  const [own, endpoint] = [await createOwnServices(), await open()]
  const world = await createWorld(await own.start())
  await createUsers(world, 'alice', 'bob')
  await setUpCustomPush(world, endpoint.url)
  await say(world, 'alice', 'bob', 'one')
  await until(() => isPlannedFor(own))
  // No job is taken up any more, so that only who plans already can do it.
  await own.query(`update graphile_worker._private_jobs set run_at = run_at + interval '1 hour'`, [])
  await own.query(
    `create function later() returns trigger language plpgsql as $$ begin new.run_at := new.run_at + interval '1 hour'; return new; end $$`,
    [],
  )
  await own.query(
    'create trigger later before insert on graphile_worker._private_jobs for each row execute function later()',
    [],
  )
  await say(world, 'alice', 'bob', 'two')
  await soon(() => expect(toldTo(endpoint)).toEqual(['bob: Alice, one', 'bob: Alice, two']))
  await until(async () => !(await isPlannedFor(own)))
  await own.close()
})

it('what a planner left behind that was killed is planned by others once its lease has run out', async () => {
  const [own, endpoint] = [await createOwnServices(), await open()]
  const world = await createWorld(await own.start())
  await createUsers(world, 'alice', 'bob')
  await setUpCustomPush(world, endpoint.url)
  await own.query(
    `insert into notification_planners (app_id, leased_by, leased_until)
    values ($1, 'killed', (extract(epoch from clock_timestamp()) * 1000)::bigint + 3000)
    on conflict (app_id) do update
    set leased_by = excluded.leased_by, leased_until = excluded.leased_until`,
    [world.app.appId],
  )
  await say(world, 'alice', 'bob', 'one')
  await soon(() => expect(toldTo(endpoint)).toEqual(['bob: Alice, one']))
  await own.close()
})

it('two that plan at the same time leave nothing out: who comes second looks again', async () => {
  const [own, endpoint] = [await createOwnServices(), await open()]
  const service = await own.start()
  const world = await createWorld(service)
  await createUsers(world, 'alice', 'bob')
  await setUpCustomPush(world, endpoint.url)
  for (const text of ['one', 'two']) await say(world, 'alice', 'bob', text)
  await soon(() => expect(toldTo(endpoint)).toEqual(['bob: Alice, one', 'bob: Alice, two']))

  // Whoever planned waits for more no longer.
  await until(async () => !(await isPlannedFor(own)))
  // Both are planned again; just before this one writes, the other is done with the first of them.
  const moveTo = (event: string) =>
    own.query(
      `update notification_plans set event = (select ${event} from events where app_id = $1) where app_id = $1`,
      [world.app.appId],
    )
  await moveTo('min(id) - 1')
  const { database, settings, notificationSettings, policies } = service.parley.context
  let isFirst = true
  const overtaken: Database = {
    ...database,
    async query<Row>(fixed: Statement, values?: unknown[]) {
      if (isFirst && fixed.text.includes('update notification_plans')) {
        isFirst = false
        await moveTo('min(id)')
      }
      return database.query<Row>(fixed, values)
    },
  }
  const wakes = createWakes()
  const parts = {
    now: Date.now,
    wakes,
    planWakes: wakes,
    hands: createHands<Ready>(),
    seats: createSeats(0),
    tracing: undefined,
  }
  const common = { settings, notificationSettings, policies, ...parts }
  await planWhileAsked({ ...common, database: overtaken }, world.app.appId, new AbortController().signal)
  await soon(() => expect(toldTo(endpoint)).toEqual(['bob: Alice, one', 'bob: Alice, two', 'bob: Alice, two']))
  await own.close()
  await closeEndpoints()
})
