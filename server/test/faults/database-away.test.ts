import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { migrationLock } from '../../src/store/migrate.ts'
import { until } from '../support/until.ts'
import { makeCast } from './support/cast.ts'
import { startCrowd } from './support/crowd.ts'
import { connectToDatabase, killPostmaster, signalDatabase } from './support/database.ts'
import { type ExternalServer, startExternalServer } from './support/external.ts'
import { createLedger } from './support/ledger.ts'
import { expectSuccess, type Line, openLine } from './support/line.ts'
import { findFlaws } from './support/proof.ts'
import { openNetwork } from './support/proxy.ts'
import { createRandom } from './support/random.ts'
import type { ServiceProcess } from './support/service-process.ts'
import { createStage } from './support/stage.ts'

/** As long as shows that nobody waits for the end of it; ten seconds in the long run. */
const outageMs = process.env.CRASH_CYCLES === undefined ? 4_000 : 10_000
/** "Within two seconds", on a machine that is busy with other tests. */
const patienceMs = 3_000
/** After it, the database ends transactions that stand still; and some time to notice. */
const lockMs = 8_000

const stage = createStage()
let server: ExternalServer

beforeAll(async () => {
  server = await startExternalServer(stage)
})
afterEach(stage.killServices)
afterAll(stage.clean)

/** How the database goes away and comes back. `stays`: it is away until told to come back. */
interface Outage {
  readonly begin: () => unknown
  readonly end?: () => unknown
}

/** Takes the database away from a service under load, and checks what its clients see. */
async function expectToSurvive(service: ServiceProcess, outage: Outage, connect: () => Promise<pg.Client>) {
  const url = await service.ready
  const line = openLine(() => url)
  const ledger = createLedger()
  const cast = await makeCast(line, { users: 12, groups: 2, members: 8 })
  const slowest = { answered: 0, refused: 0 }
  const crowd = startCrowd({
    ledger,
    cast,
    random: createRandom(7),
    size: 64,
    address: () => url,
    onOutcome: (outcome) => {
      if (outcome.kind === 'cut') ledger.faults.push(`a connection was cut: ${outcome.reason}`)
      const kind = outcome.kind === 'answered' && outcome.status === 200 ? 'answered' : 'refused'
      slowest[kind] = Math.max(slowest[kind], outcome.ms)
    },
  })
  stage.onClean(crowd.stop)
  await until(() => ledger.acknowledged.size > 200, { progress: () => ledger.acknowledged.size })

  await outage.begin()
  if (outage.end !== undefined) {
    await until(async () => (await statusOf(line, '/ready')) === 503)
    await Promise.all([expectRefusals(line), delay(outageMs)])
    expect(await statusOf(line, '/ready')).toBe(503)
    expect(await statusOf(line, '/health')).toBe(200)
    await outage.end()
  } else {
    await until(() => ledger.counts.refused > 0, { interval: 5 })
  }
  await until(async () => (await statusOf(line, '/ready')) === 200)
  const before = ledger.acknowledged.size
  await until(() => ledger.acknowledged.size > before + 200, { progress: () => ledger.acknowledged.size })
  await crowd.stop()

  expect(ledger.faults).toEqual([])
  expect(ledger.counts.refused).toBeGreaterThan(0)
  expect(slowest.refused).toBeLessThan(patienceMs)
  // Nobody sat through the outage: at most, a message waits for a lock of before that the database has yet to drop.
  expect(slowest.answered).toBeLessThan(lockMs)
  expect(service.isRunning).toBe(true)
  const database = await connect()
  expect(await findFlaws(line, database, cast, ledger)).toEqual([])
  await database.end()
  await line.close()
}

/** While the database is known to be away, requests are not kept waiting. */
async function expectRefusals(line: Line): Promise<void> {
  for (let n = 0; n < 10; n++) {
    const body = { receiver: 'u01', receiverType: 'user', data: { text: 'is anybody there' } }
    for (const outcome of [
      await line.call('POST', '/messages', body, { as: 'u00' }),
      await line.call('GET', '/users/u00'),
    ]) {
      if (outcome.kind === 'cut') throw new Error(`no answer: ${outcome.reason}`)
      expect(outcome.status).toBe(503)
      expect(outcome.body.error.code).toBe('ERR_MISSION_FAILED')
      expect(Number(outcome.headers['retry-after'])).toBeGreaterThan(0)
      expect(outcome.ms).toBeLessThan(1_000)
    }
    await delay(100)
  }
}

async function statusOf(line: Line, probe: '/ready' | '/health'): Promise<number> {
  const outcome = await line.call('GET', probe)
  return outcome.kind === 'answered' ? outcome.status : 0
}

it('the embedded database hangs: requests are refused until it goes on', async () => {
  const dataDir = stage.makeFolder()
  const service = await stage.start({ DATA_DIR: dataDir })
  const outage = {
    begin: () => expect(signalDatabase(dataDir, 'SIGSTOP')).toBeGreaterThan(1),
    end: () => signalDatabase(dataDir, 'SIGCONT'),
  }
  await expectToSurvive(service, outage, () => connectToDatabase(dataDir))
})

it('the embedded database is killed: the service starts it again', async () => {
  const dataDir = stage.makeFolder()
  const service = await stage.start({ DATA_DIR: dataDir })
  await expectToSurvive(service, { begin: () => killPostmaster(dataDir) }, () => connectToDatabase(dataDir))
})

async function open(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  return client
}

it('an external database is stopped and started again by its administrator', async () => {
  const connectionString = await server.database('stopped')
  const service = await stage.start({ DATA_DIR: stage.makeFolder(), DATABASE_URL: connectionString })
  await expectToSurvive(service, { begin: server.stop, end: server.start }, () => open(connectionString))

  const url = await service.ready
  const line = openLine(() => url)
  await server.stop()
  await until(async () => (await statusOf(line, '/ready')) === 503)
  await line.close()
  // Without its database, too, the service ends when told to.
  service.signal('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, signal: null })
  await server.start()
})

it('the network to an external database swallows everything, and later lets only new connections through', async () => {
  const connectionString = await server.database('remote')
  const network = await openNetwork(stage, server.port)
  const through = connectionString.replace(`:${server.port}/`, `:${network.port}/`)
  const service = await stage.start({ DATA_DIR: stage.makeFolder(), DATABASE_URL: through })
  const outage = { begin: network.swallow, end: network.heal }
  await expectToSurvive(service, outage, () => open(connectionString))

  // It hears again of what others change, here of a key that another service on the same database deletes.
  const other = await stage.start({ DATA_DIR: stage.makeFolder(), DATABASE_URL: connectionString })
  const [url, otherUrl] = [await service.ready, await other.ready]
  const [line, otherLine] = [openLine(() => url), openLine(() => otherUrl)]
  const { data } = await expectSuccess(otherLine.call('POST', '/apikeys', { name: 'passing', scope: 'fullAccess' }))
  const withKey = { apiKey: data.apiKey as string }
  await expectSuccess(line.call('GET', '/users', undefined, withKey))
  await expectSuccess(otherLine.call('DELETE', `/apikeys/${data.apiKey}`))
  await until(async () => {
    const outcome = await line.call('GET', '/users', undefined, withKey)
    return outcome.kind === 'answered' && outcome.status === 401
  })
  await Promise.all([line.close(), otherLine.close()])

  network.swallow()
  service.signal('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, signal: null })
})

it('a transaction that the network cut in two keeps its locks for seconds, not hours', async () => {
  const connectionString = await server.database('halved')
  const network = await openNetwork(stage, server.port)
  const through = connectionString.replace(`:${server.port}/`, `:${network.port}/`)
  const service = await stage.start({ DATA_DIR: stage.makeFolder(), DATABASE_URL: through })
  const url = await service.ready
  const line = openLine(() => url)
  for (const uid of ['alice', 'bob']) await expectSuccess(line.call('POST', '/users', { uid, name: uid }))
  const group = { guid: 'team', name: 'Team', type: 'public', owner: 'alice', members: { participants: ['bob'] } }
  await expectSuccess(line.call('POST', '/groups', group))
  const send = () => {
    const body = { receiver: 'team', receiverType: 'group', data: { text: 'hello' } }
    return line.call('POST', '/messages', body, { as: 'alice' })
  }
  await expectSuccess(send())

  // Marking unread takes the conversation's lock by a statement of its own: here it waits, then the network is gone.
  const [other, watcher] = [await open(connectionString), await open(connectionString)]
  await other.query('begin')
  await other.query('select from conversations for update')
  const marker = openLine(() => url)
  const marked = marker.call('DELETE', '/groups/team/conversation/read', {}, { as: 'bob' })
  const waits = `select from pg_stat_activity where application_name = 'parley' and wait_event_type = 'Lock'`
  await until(async () => (await watcher.query(waits)).rowCount === 1)
  network.swallow()
  await other.query('commit')
  expect(await marked).toMatchObject({ status: 503 })

  network.heal()
  await until(async () => (await statusOf(line, '/ready')) === 200)
  const sent = await send()
  expect(sent).toMatchObject({ status: 200 })
  expect(sent.ms).toBeLessThan(lockMs)
  await Promise.all([line.close(), marker.close(), other.end(), watcher.end()])
})

it('a database that takes no writes, as a standby, refuses them for the time being and still reads', async () => {
  const connectionString = await server.database('standby')
  const service = await stage.start({ DATA_DIR: stage.makeFolder(), DATABASE_URL: connectionString })
  const url = await service.ready
  const line = openLine(() => url)
  for (const uid of ['alice', 'bob']) await expectSuccess(line.call('POST', '/users', { uid, name: uid }))
  const send = () => {
    const body = { receiver: 'bob', receiverType: 'user', data: { text: 'hello' } }
    return line.call('POST', '/messages', body, { as: 'alice' })
  }
  const statusOfSend = async () => {
    const outcome = await send()
    return outcome.kind === 'answered' ? outcome.status : 0
  }
  await expectSuccess(send())

  const admin = await open(connectionString)
  await admin.query('alter system set default_transaction_read_only = on')
  await admin.query('select pg_reload_conf()')
  await until(async () => (await statusOfSend()) === 503)
  await expectSuccess(line.call('GET', '/users/bob/messages', undefined, { as: 'alice' }))
  expect(await line.call('PUT', '/users/bob', { name: 'Bob' })).toMatchObject({ status: 503 })
  await admin.query('set transaction_read_only = off')
  await admin.query('set default_transaction_read_only = off')
  await admin.query('alter system reset default_transaction_read_only')
  await admin.query('select pg_reload_conf()')
  await until(async () => (await statusOfSend()) === 200)
  await Promise.all([line.close(), admin.end()])
})

it('the service waits for an external database that comes up later', async () => {
  const connectionString = await server.database('late')
  await server.stop()
  const service = stage.launch({ DATA_DIR: stage.makeFolder(), DATABASE_URL: connectionString })
  await until(() => service.output().includes('does not answer yet'))
  await server.start()
  const url = await service.ready
  const line = openLine(() => url)
  await expectSuccess(line.call('POST', '/users', { uid: 'alice', name: 'Alice' }))
  await line.close()
})

it('the service outlives a restart of its database while it waits for another to migrate', async () => {
  const connectionString = await server.database('restarted')
  const other = await open(connectionString)
  await other.query('select pg_advisory_lock($1)', [migrationLock])
  const service = stage.launch({ DATA_DIR: stage.makeFolder(), DATABASE_URL: connectionString })
  const waiting = `select from pg_stat_activity where application_name = 'parley migrations'`
  await until(async () => (await other.query(waiting)).rowCount === 1)
  await server.stop()
  await until(() => service.output().includes('does not answer yet'))
  await server.start()
  await service.ready
})
