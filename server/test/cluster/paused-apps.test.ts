import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { appsCommand } from '../../src/cli/apps.ts'
import { runCommand } from '../cli/command.ts'
import { expectSuccess, openLine } from '../faults/support/line.ts'
import { createStage } from '../faults/support/stage.ts'
import { describeWith, inLongSuite, itWith } from '../gate/needs.ts'
import { createOwnDatabase, type OwnDatabase } from '../support/own-database.ts'
import { until } from '../support/until.ts'
import { type RedisServer, redisServer, startRedis } from './redis.ts'
import { openFlapping, serving } from './workers.ts'

const stage = createStage()
let redis: RedisServer | undefined
let database: OwnDatabase
let client: pg.Client

beforeAll(async () => {
  if (redisServer.isMet) redis = await startRedis()
  database = await createOwnDatabase()
  client = new pg.Client(database.connection)
  await client.connect()
})
afterAll(async () => {
  await stage.clean()
  await client.end()
  await database.drop()
  await redis?.close()
})

async function start(environment: Record<string, string> = {}) {
  const service = await stage.start({ ...environment, DATABASE_URL: database.url, DATA_DIR: stage.makeFolder() })
  const url = await service.ready
  const newLine = () => {
    const line = openLine(() => url)
    stage.onClean(line.close)
    return line
  }
  return { service, url, newLine }
}

const apps = (...args: string[]) =>
  runCommand(appsCommand, args, { DATABASE_URL: database.url, PARLEY_MASTER_KEY: '5a'.repeat(32) })

/** What requests on new connections are answered, which the workers share. */
async function statuses(newLine: Awaited<ReturnType<typeof start>>['newLine']): Promise<unknown[]> {
  const all = await Promise.all(Array.from({ length: 12 }, () => newLine().call('GET', '/users?limit=1')))
  return [...new Set(all.map((outcome) => (outcome.kind === 'answered' ? outcome.status : outcome.reason)))]
}

describeWith(inLongSuite, 'with WORKERS=2', () => {
  itWith(
    redisServer,
    'an app is paused in every worker, with all its sockets, and after a kill, until it is resumed',
    async () => {
      const workers = { WORKERS: '2', REDIS_URL: redis?.url ?? '' }
      const first = await start(workers)
      await serving(first.url, 2)
      const line = first.newLine()
      await expectSuccess(line.call('POST', '/users', { uid: 'alice', name: 'Alice' }))
      const answer = await line.call('POST', '/users/alice/auth_tokens', {})
      const auth = answer.kind === 'answered' ? answer.body.data.authToken : ''
      const frame = { type: 'auth', body: { auth, presenceSubscription: 'NONE' } }
      const sockets = Array.from({ length: 8 }, () => openFlapping(first.url, frame))
      await until(() => sockets.every((socket) => socket.isIn()))

      expect((await apps('pause', 'parley')).code).toBe(0)
      await until(() => sockets.every(({ codes }) => codes.length > 1))
      for (const socket of sockets) {
        expect(new Set(socket.codes)).toEqual(new Set([4503]))
        expect(socket.logins()).toBe(1)
      }
      expect(await statuses(first.newLine)).toEqual([503])
      for (const path of ['/health', '/ready', '/metrics']) expect((await fetch(first.url + path)).status).toBe(200)
      for (const socket of sockets) socket.stop()

      await first.service.kill()
      const second = await start(workers)
      await serving(second.url, 2)
      expect(await statuses(second.newLine)).toEqual([503])
      expect((await apps('resume', 'parley')).code).toBe(0)
      await until(async () => JSON.stringify(await statuses(second.newLine)) === '[200]')
      const again = openFlapping(second.url, frame)
      await until(() => again.isIn())
      again.stop()
      await second.service.kill()
    },
  )
})

// It takes tens of seconds, since there must be enough to remove. That a removal goes on where it was is in admin/deleted-apps.test.ts.
describeWith(inLongSuite, 'a service that is killed while it removes an app', () => {
  it('goes on at the next start, until nothing is left', async () => {
    expect((await apps('create', 'doomed')).code).toBe(0)
    const found = await client.query("select app_id from apps where name = 'doomed'")
    const appId = found.rows[0].app_id as number
    const users = async () =>
      Number((await client.query('select count(*) as count from users where app_id = $1', [appId])).rows[0].count)
    await client.query(
      `insert into users (app_id, uid, name, name_key, role, created_at)
        select $1, 'u' || i, 'User ' || i, 'user ' || i, 'default', 1 from generate_series(1, 60000) i`,
      [appId],
    )
    const all = await users()
    expect((await apps('delete', 'doomed', '--confirm', 'doomed')).code).toBe(0)
    await client.query('update apps set deletes_at = 1 where app_id = $1', [appId])
    for (let kills = 0, left = all; kills < 2; kills++) {
      const { service } = await start()
      await until(async () => (await users()) < left)
      await service.kill()
      left = await users()
      expect(left).toBeGreaterThan(0)
      // Others wait until the lease of the killed one is over.
      await client.query('update apps set removing_until = 1 where app_id = $1', [appId])
    }
    const { service } = await start()
    await until(async () => (await client.query("select from apps where name = 'doomed'")).rows.length === 0, {
      progress: users,
    })
    expect(await users()).toBe(0)
    const log = await client.query("select action from audit_log where app_id = 0 and target = 'doomed' order by id")
    expect(log.rows.map(({ action }) => action)).toEqual(['app_deleted', 'app_removed'])
    await service.kill()
  })
})
