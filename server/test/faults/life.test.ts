import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { findServersOf } from '../../src/store/embedded/processes.ts'
import { findFreePort } from '../support/ports.ts'
import { until } from '../support/until.ts'
import { makeCast } from './support/cast.ts'
import { startCrowd } from './support/crowd.ts'
import { clusterOf, connectToDatabase, readPostmaster, signalDatabase, stateOfCluster } from './support/database.ts'
import { createLedger } from './support/ledger.ts'
import { expectSuccess, openLine } from './support/line.ts'
import { findFlaws } from './support/proof.ts'
import { createRandom } from './support/random.ts'
import type { ServiceProcess } from './support/service-process.ts'
import { createStage } from './support/stage.ts'

const stage = createStage()
afterAll(stage.clean)

/** A connection on which so much was sent, and no more. */
async function say(address: string, words: string): Promise<Socket & { readonly heard: () => string }> {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  let heard = ''
  socket.on('error', () => {})
  socket.setEncoding('latin1').on('data', (text) => {
    heard += text
  })
  await once(socket, 'connect')
  if (words !== '') await new Promise<void>((resolve) => socket.write(words, () => resolve()))
  return Object.assign(socket, { heard: () => heard })
}

describe('a data folder', () => {
  const dataDir = stage.makeFolder()
  let service: ServiceProcess | undefined
  let url = ''
  const line = openLine(() => url)
  stage.onClean(line.close)

  /** The service on it, with alice and bob, whatever the test before has left. */
  const running = async () => {
    if (!service?.isRunning) service = stage.launch({ DATA_DIR: dataDir })
    url = await service.ready
    for (const uid of ['alice', 'bob']) await line.call('POST', '/users', { uid, name: uid })
    return service
  }

  it('that a first start was killed in, over and over, can be used by the next', async () => {
    const isThere = (name: string) => existsSync(join(dataDir, name))
    const inDraft = (name: string) =>
      readdirSync(dataDir).some((entry) => entry.startsWith('postgres.') && isThere(join(entry, name)))
    // How far it has come: the folder is locked, the cluster is begun, half made, and made, its server starts, and runs.
    const moments = [
      () => isThere('parley.lock'),
      () => inDraft('PG_VERSION'),
      () => inDraft('base/1/PG_VERSION'),
      () => isThere('postgres/PG_VERSION'),
      () => isThere('postgres/postmaster.pid'),
      () => isThere('database-url'),
    ]
    for (const moment of moments) {
      const killed = stage.launch({ DATA_DIR: dataDir })
      await until(() => moment() || !killed.isRunning, { interval: 1 })
      await killed.kill()
    }
    await running()
    await expectSuccess(line.call('GET', '/users/alice'))
  })

  it('a second service on a data folder refuses, and names the folder and the process that has it', async () => {
    const first = await running()
    const second = stage.launch({ DATA_DIR: dataDir })
    expect(await second.exited).toEqual({ code: 1, signal: null })
    expect(second.output()).toContain(`data folder ${dataDir} is in use by process ${first.pid}`)
    await expectSuccess(line.call('GET', '/users/alice'))
  })

  it('a killed service starts again, though its database still runs and hangs', async () => {
    const first = await running()
    const body = { receiver: 'bob', receiverType: 'user', data: { text: 'kept' } }
    const sent = await expectSuccess(line.call('POST', '/messages', body, { as: 'alice' }))

    const old = readPostmaster(dataDir)?.pid
    signalDatabase(dataDir, 'SIGSTOP')
    await first.kill()
    const next = stage.launch({ DATA_DIR: dataDir })
    await until(() => next.output().includes('that an earlier run has left behind'))
    signalDatabase(dataDir, 'SIGCONT')
    service = next
    url = await next.ready
    expect(readPostmaster(dataDir)?.pid).not.toBe(old)
    const { data } = await expectSuccess(line.call('GET', `/messages/${sent.data.id}`))
    expect(data.data.text).toBe('kept')
  })

  it('SIGTERM lets a request under way finish and waits for no idle client', async () => {
    const service = await running()
    const url = await service.ready
    const [idle, waiting] = [openLine(() => url), openLine(() => url)]
    await expectSuccess(idle.call('GET', '/users/alice'))

    const send = (text: string) => ({ receiver: 'bob', receiverType: 'user', data: { text } })
    await expectSuccess(waiting.call('POST', '/messages', send('first words'), { as: 'alice' }))

    // Somebody else holds the conversation, so that the next message is under way until it is let go.
    const [other, watcher] = [await connectToDatabase(dataDir), await connectToDatabase(dataDir)]
    await other.query('begin')
    await other.query('select from conversations for update')
    const sent = expectSuccess(waiting.call('POST', '/messages', send('last words'), { as: 'alice' }))
    const waits = `select from pg_stat_activity where application_name ~ 'writer' and wait_event_type = 'Lock'`
    await until(async () => (await watcher.query(waits)).rowCount === 1)
    service.signal('SIGTERM')
    await until(async () => (await idle.call('GET', '/health')).kind === 'cut')
    await other.query('commit')
    await Promise.all([other.end(), watcher.end()])
    expect((await sent).data.data.text).toBe('last words')
    expect(await service.exited).toEqual({ code: 0, signal: null })
    expect(service.output()).not.toContain('not everything finished in time')
    await Promise.all([idle.close(), waiting.close()])
  })

  it('SIGTERM waits for no client that has said nothing, or half a header', async () => {
    const service = await running()
    const address = await service.ready
    const answered = 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n'
    const clients = await Promise.all(
      ['', 'GET /health HTTP/1.1\r\nhost:', `${answered}GET /he`].map((words) => say(address, words)),
    )
    await until(() => clients.at(-1)?.heard().includes('ok'))
    service.signal('SIGTERM')
    expect(await service.exited).toEqual({ code: 0, signal: null })
    expect(service.output()).not.toContain('not everything finished in time')
    for (const client of clients) client.destroy()
  })

  it('SIGTERM ends the port of operators and the public one together', async () => {
    await service?.kill()
    const adminPort = await findFreePort()
    service = stage.launch({ DATA_DIR: dataDir, ADMIN_PORT: String(adminPort) })
    const address = await service.ready
    const socket = new WebSocket(address.replace(/^http/, 'ws'))
    const closed = once(socket, 'close')
    await once(socket, 'open')
    const head = 'POST /admin/v1/session HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n'
    const admin = `http://127.0.0.1:${adminPort}`
    const underWay = await say(admin, `${head}expect: 100-continue\r\n\r\n`)
    const silent = await say(admin, '')
    await until(() => underWay.heard().startsWith('HTTP/1.1 100'))
    service.signal('SIGTERM')
    expect((await closed)[0]).toBe(1012)
    // That request has all the time it needs, and its client keeps the connection then.
    underWay.write('{}')
    await until(() => /^HTTP\/1\.1 4/m.test(underWay.heard()))
    expect(await service.exited).toEqual({ code: 0, signal: null })
    expect(service.output()).not.toContain('not everything finished in time')
    for (const client of [underWay, silent]) client.destroy()
  })
})

describe('SIGTERM', () => {
  const dataDir = stage.makeFolder()

  it('while the service starts ends it and its database', async () => {
    const service = stage.launch({ DATA_DIR: dataDir })
    await until(() => readPostmaster(dataDir) !== undefined, { interval: 1 })
    service.signal('SIGTERM')
    expect(await service.exited).toEqual({ code: 0, signal: null })
    expect(findServersOf(clusterOf(dataDir))).toEqual([])
    expect(stateOfCluster(dataDir)).toBe('shut down')
  })

  // The start that was ended has left a folder that this one can use.
  it('under load: requests are answered or refused, never half; what was answered is stored', async () => {
    let service = await stage.start({ DATA_DIR: dataDir })
    let url = await service.ready
    const line = openLine(() => url)
    const ledger = createLedger()
    const cast = await makeCast(line, { users: 12, groups: 2, members: 8 })
    const crowd = startCrowd({
      ledger,
      cast,
      random: createRandom(11),
      size: 64,
      address: () => url,
      onOutcome: (outcome) => {
        if (outcome.kind === 'cut' && outcome.half) ledger.faults.push(`half an answer: ${outcome.reason}`)
      },
    })
    stage.onClean(crowd.stop)
    await until(() => ledger.acknowledged.size > 500, { progress: () => ledger.acknowledged.size })

    service.signal('SIGTERM')
    expect(await service.exited).toEqual({ code: 0, signal: null })
    expect(service.output()).not.toContain('not everything finished in time')
    await crowd.stop()
    expect(ledger.faults).toEqual([])
    expect(findServersOf(clusterOf(dataDir))).toEqual([])
    expect(stateOfCluster(dataDir)).toBe('shut down')
    expect(existsSync(join(dataDir, 'parley.lock'))).toBe(false)

    service = await stage.start({ DATA_DIR: dataDir })
    url = await service.ready
    const database = await connectToDatabase(dataDir)
    expect(await findFlaws(line, database, cast, ledger)).toEqual([])
    await database.end()
    await line.close()
  })
})
