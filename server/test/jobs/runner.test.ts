import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPoolGuard } from '../../src/jobs/pool-guard.ts'
import { createLog } from '../../src/log.ts'
import { createOwnDatabase, type OwnDatabase } from '../support/own-database.ts'
import { soon } from '../support/until.ts'

const log = createLog('silent')
let own: OwnDatabase
let client: pg.Client

beforeAll(async () => {
  own = await createOwnDatabase()
  client = new pg.Client(own.connection)
  client.on('error', () => {})
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await own.drop()
})

/** A job that a process has locked, for a while already. */
async function lockedJob(poolId: string): Promise<void> {
  await client.query('select graphile_worker.add_job($1)', [`task of ${poolId}`])
  await client.query(
    `update graphile_worker._private_jobs j set locked_by = $1, locked_at = now() - interval '20 seconds', attempts = 1
     from graphile_worker._private_tasks t where t.id = j.task_id and t.identifier = $2`,
    [poolId, `task of ${poolId}`],
  )
}

async function holders(): Promise<string[]> {
  const { rows } = await client.query<{ locked_by: string }>(
    'select distinct locked_by from graphile_worker._private_jobs where locked_by is not null order by locked_by',
  )
  return rows.map((row) => row.locked_by)
}

it('jobs of processes that are gone are freed, and of no others', async () => {
  const living = createPoolGuard(own.connection, log)
  living.hold('pool-living')
  await living.start()
  for (const poolId of ['pool-living', 'pool-gone', 'pool-own']) await lockedJob(poolId)

  const other = createPoolGuard(own.connection, log)
  other.hold('pool-own')
  await other.start()
  expect(await holders()).toEqual(['pool-living', 'pool-own'])

  // It ends, by whatever: its connection does too.
  await living.stop()
  const third = createPoolGuard(own.connection, log)
  await soon(async () => {
    await third.start()
    expect(await holders()).toEqual(['pool-own'])
  })
  await third.stop()
  await other.stop()
})

it('jobs can be added for ever: the ids that are thrown away begin anew', async () => {
  const add = () => client.query("select graphile_worker.add_job('endless')")
  await add()
  await client.query(`select setval(pg_get_serial_sequence('graphile_worker._private_tasks', 'id'), 2147483647)`)
  await add()
  await add()
  const { rows } = await client.query("select from graphile_worker.jobs where task_identifier = 'endless'")
  expect(rows).toHaveLength(3)
})
