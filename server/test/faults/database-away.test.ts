import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
import { shared } from './support/shared.ts'
import { createStage } from './support/stage.ts'

/** An outage ends when it has shown that nobody waits for its end; in the long run it goes on for a while after that. */
const outageMs = process.env.CRASH_CYCLES === undefined ? 0 : 10_000
const crowdSize = 32
const castSize = { users: 12, groups: 2, members: 8 }

const stage = createStage()
let server: ExternalServer

beforeAll(async () => {
  server = await startExternalServer(stage)
})
afterAll(stage.clean)

/** How the database goes away and comes back. `stays`: it is away until told to come back. */
interface Outage {
  readonly begin: () => unknown
  readonly end?: () => unknown
}

/** A service and those who talk over it. */
async function open(environment: Record<string, string> = {}) {
  const dataDir = environment.DATABASE_URL === undefined ? stage.makeDataDir() : stage.makeFolder()
  const service = await stage.start({ DATA_DIR: dataDir, ...environment })
  const url = await service.ready
  const line = openLine(() => url)
  stage.onClean(line.close)
  const cast = await makeCast(line, castSize)
  return { service, dataDir, url, line, cast, ledger: createLedger() }
}

/** Takes the database away from a service under load, and checks what its clients see. */
async function expectToSurvive(
  { service, url, line, cast, ledger }: Omit<Awaited<ReturnType<typeof open>>, 'dataDir'>,
  outage: Outage,
  connect: () => Promise<pg.Client>,
) {
  const refusedBefore = ledger.counts.refused
  /** The clients that had an answer since the outage began. */
  const answered = new Set<Line>()
  const crowd = startCrowd({
    ledger,
    cast,
    random: createRandom(7),
    size: crowdSize,
    address: () => url,
    onOutcome: (outcome, client) => {
      if (outcome.kind === 'cut') ledger.faults.push(`a connection was cut: ${outcome.reason}`)
      answered.add(client)
    },
  })
  stage.onClean(crowd.stop)
  const grown = (from: number) =>
    until(() => ledger.acknowledged.size > from + 200, { progress: () => ledger.acknowledged.size })
  await grown(ledger.acknowledged.size)

  await outage.begin()
  answered.clear()
  if (outage.end !== undefined) {
    await until(async () => (await statusOf(line, '/ready')) === 503)
    await Promise.all([expectRefusals(line), delay(outageMs)])
    // Whoever was waiting when it began is answered, and does not sit through it.
    await until(() => answered.size === crowdSize, { progress: () => answered.size })
    expect(await statusOf(line, '/ready')).toBe(503)
    expect(await statusOf(line, '/health')).toBe(200)
    await outage.end()
  } else {
    await until(() => ledger.counts.refused > refusedBefore, { interval: 5 })
  }
  await until(async () => (await statusOf(line, '/ready')) === 200)
  await grown(ledger.acknowledged.size)
  await crowd.stop()

  expect(ledger.faults).toEqual([])
  expect(ledger.counts.refused).toBeGreaterThan(refusedBefore)
  expect(service.isRunning).toBe(true)
  const database = await connect()
  expect(await findFlaws(line, database, cast, ledger)).toEqual([])
  await database.end()
}

/** While the database is known to be away, requests are refused, and not kept until it comes back. */
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
    }
    await delay(100)
  }
}

async function statusOf(line: Line, probe: '/ready' | '/health'): Promise<number> {
  const outcome = await line.call('GET', probe)
  return outcome.kind === 'answered' ? outcome.status : 0
}

describe('the embedded database', () => {
  const running = shared(() => open())

  it('hangs: requests are refused until it goes on', async () => {
    const scene = await running()
    const outage = {
      begin: () => expect(signalDatabase(scene.dataDir, 'SIGSTOP')).toBeGreaterThan(1),
      end: () => signalDatabase(scene.dataDir, 'SIGCONT'),
    }
    await expectToSurvive(scene, outage, () => connectToDatabase(scene.dataDir))
  })

  it('is killed: the service starts it again', async () => {
    const scene = await running()
    await expectToSurvive(scene, { begin: () => killPostmaster(scene.dataDir) }, () => connectToDatabase(scene.dataDir))
    await scene.service.kill()
  })
})

async function connectTo(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  return client
}

describe('an external database, behind a network,', () => {
  const running = shared(async () => {
    const connectionString = await server.database('remote')
    const network = await openNetwork(stage, server.port)
    const through = connectionString.replace(`:${server.port}/`, `:${network.port}/`)
    return { ...(await open({ DATABASE_URL: through })), network, connectionString }
  })
  afterAll(stage.killServices)

  it('drops the locks of a transaction that the network cut in two, within seconds and not hours', async () => {
    const { url, line, network, connectionString } = await running()
    for (const uid of ['alice', 'bob']) await expectSuccess(line.call('POST', '/users', { uid, name: uid }))
    const group = { guid: 'team', name: 'Team', type: 'public', owner: 'alice', members: { participants: ['bob'] } }
    await expectSuccess(line.call('POST', '/groups', group))
    const send = () => {
      const body = { receiver: 'team', receiverType: 'group', data: { text: 'hello' } }
      return line.call('POST', '/messages', body, { as: 'alice' })
    }
    await expectSuccess(send())

    // Marking unread takes the conversation's lock by a statement of its own: here it waits, then the network is gone.
    const [other, watcher] = [await connectTo(connectionString), await connectTo(connectionString)]
    await other.query('begin')
    await other.query('select from conversations for update')
    const marker = openLine(() => url)
    const marked = marker.call('DELETE', '/groups/team/conversation/read', {}, { as: 'bob' })
    const waits = `select from pg_stat_activity where application_name ~ '^parley( apart)?$' and wait_event_type = 'Lock'`
    await until(async () => (await watcher.query(waits)).rowCount === 1)
    network.swallow()
    await other.query('commit')
    expect(await marked).toMatchObject({ status: 503 })

    network.heal()
    await until(async () => (await statusOf(line, '/ready')) === 200)
    // The lock's holder is gone without a word; hours later, this would have been refused or never answered.
    expect(await send()).toMatchObject({ status: 200 })
    await Promise.all([marker.close(), other.end(), watcher.end()])
  })

  it('is gone while the network swallows everything, and back when only new connections come through', async () => {
    const scene = await running()
    const { service, line, network, connectionString } = scene
    const outage = { begin: network.swallow, end: network.heal }
    await expectToSurvive(scene, outage, () => connectTo(connectionString))

    // It hears again of what others change, here of a key that another service on the same database deletes.
    const other = await stage.start({ DATA_DIR: stage.makeFolder(), DATABASE_URL: connectionString })
    const otherUrl = await other.ready
    const otherLine = openLine(() => otherUrl)
    const { data } = await expectSuccess(otherLine.call('POST', '/apikeys', { name: 'passing', scope: 'fullAccess' }))
    const withKey = { apiKey: data.apiKey as string }
    await expectSuccess(line.call('GET', '/users', undefined, withKey))
    await expectSuccess(otherLine.call('DELETE', `/apikeys/${data.apiKey}`))
    await until(async () => {
      const outcome = await line.call('GET', '/users', undefined, withKey)
      return outcome.kind === 'answered' && outcome.status === 401
    })
    await otherLine.close()

    network.swallow()
    service.signal('SIGTERM')
    expect(await service.exited).toEqual({ code: 0, signal: null })
  })
})

describe('an external database', () => {
  let service: ServiceProcess | undefined
  let url = ''
  const line = openLine(() => url)
  stage.onClean(line.close)

  /** The service on it, whatever the test before has left. */
  const running = async () => {
    const connectionString = await server.database('direct')
    if (!service?.isRunning) service = stage.launch({ DATA_DIR: stage.makeFolder(), DATABASE_URL: connectionString })
    url = await service.ready
    return { connectionString, service }
  }

  it('may come up later than the service', async () => {
    const connectionString = await server.database('direct')
    await server.stop()
    const late = stage.launch({ DATA_DIR: stage.makeFolder(), DATABASE_URL: connectionString })
    service = late
    await until(() => late.output().includes('does not answer yet'))
    await server.start()
    await running()
    await expectSuccess(line.call('POST', '/users', { uid: 'zoe', name: 'Zoe' }))
  })

  it('that takes no writes, as a standby, refuses them for the time being and still reads', async () => {
    const { connectionString } = await running()
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

    const admin = await connectTo(connectionString)
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
    await admin.end()
  })

  it('is stopped and started again by its administrator', async () => {
    const { connectionString, service } = await running()
    const cast = await makeCast(line, castSize)
    const scene = { service, url, line, cast, ledger: createLedger() }
    await expectToSurvive(scene, { begin: server.stop, end: server.start }, () => connectTo(connectionString))

    await server.stop()
    await until(async () => (await statusOf(line, '/ready')) === 503)
    // Without its database, too, the service ends when told to.
    service.signal('SIGTERM')
    expect(await service.exited).toEqual({ code: 0, signal: null })
    await server.start()
  })

  it('may restart while the service waits for another to migrate', async () => {
    const connectionString = await server.newDatabase('restarted')
    const other = await connectTo(connectionString)
    await other.query('select pg_advisory_lock($1)', [migrationLock])
    const service = stage.launch({ DATA_DIR: stage.makeFolder(), DATABASE_URL: connectionString })
    const waiting = `select from pg_stat_activity where application_name = 'parley migrations'`
    await until(async () => (await other.query(waiting)).rowCount === 1)
    await server.stop()
    await until(() => service.output().includes('does not answer yet'))
    await server.start()
    await service.ready
  })
})
