import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findServersOf } from '../../src/store/embedded/processes.ts'
import { makeCast } from '../faults/support/cast.ts'
import { startCrowd } from '../faults/support/crowd.ts'
import { clusterOf, connectToDatabase, stateOfCluster } from '../faults/support/database.ts'
import { createLedger } from '../faults/support/ledger.ts'
import { expectSuccess, type Line, openLine } from '../faults/support/line.ts'
import { findFlaws } from '../faults/support/proof.ts'
import { createRandom } from '../faults/support/random.ts'
import type { ServiceProcess } from '../faults/support/service-process.ts'
import { shared } from '../faults/support/shared.ts'
import { createStage } from '../faults/support/stage.ts'
import { describeWith } from '../gate/needs.ts'
import { openEndpoint } from '../support/endpoint.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { findFreePort } from '../support/ports.ts'
import { until } from '../support/until.ts'
import { type RedisServer, redisServer, startRedis } from './redis.ts'
import { isAlive, openFlapping, serving, workersOf } from './workers.ts'

const stage = createStage()
let redis: RedisServer | undefined

beforeAll(async () => {
  if (redisServer.isMet) redis = await startRedis()
})
afterAll(async () => {
  await stage.clean()
  await redis?.close()
})

it('WORKERS without REDIS_URL does not start, and says what is missing', async () => {
  const dataDir = join(stage.makeFolder(), 'new')
  const service = stage.launch({ WORKERS: '2', DATA_DIR: dataDir })
  expect(await service.exited).toEqual({ code: 1, signal: null })
  expect(service.output()).toContain('REDIS_URL is missing: with WORKERS=2')
})

interface Started {
  readonly service: ServiceProcess
  readonly url: string
  readonly dataDir: string
  readonly line: Line
}

async function start(environment: Record<string, string> = {}): Promise<Started> {
  const dataDir = environment.DATA_DIR ?? stage.makeDataDir()
  const service = stage.launch({ WORKERS: '2', REDIS_URL: redis?.url ?? '', ...environment, DATA_DIR: dataDir })
  const url = await service.ready
  const line = openLine(() => url)
  stage.onClean(line.close)
  return { service, url, dataDir, line }
}

describeWith(redisServer, 'WORKERS=2', () => {
  const running = shared((environment) => start({ LOG_LEVEL: 'info', ...environment }))

  it('both serve one port, greet once, and give their metrics together', async () => {
    const { service, url, line } = await running()
    const before = workersOf(service)
    expect(before).toHaveLength(2)
    for (const uid of ['alice', 'bob']) await expectSuccess(line.call('POST', '/users', { uid, name: uid }))
    for (let i = 0; i < 20; i++) {
      const other = openLine(() => url)
      await expectSuccess(other.call('GET', '/users/alice'))
      await other.close()
    }
    const servedBy = () =>
      new Set([...service.requests().matchAll(/"worker":(\d),"operation":"get-user"/g)].map(([, worker]) => worker))
    await until(() => servedBy().size === 2)

    await serving(url, 2)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    const count = /parley_http_request_duration_seconds_count\{operation="get-user",status="200"\} (\d+)/.exec(metrics)
    expect(Number(count?.[1])).toBe(20)
    for (const worker of [1, 2]) expect(metrics).toContain(`process_resident_memory_bytes{worker="${worker}"}`)
    expect(metrics).toContain('parley_workers_reporting 2')
    expect(service.output().match(/Base address/g) ?? []).toHaveLength(
      service.output().includes('Base address') ? 1 : 0,
    )
    expect(service.output().match(/Parley is running/g)).toHaveLength(1)
  })

  it('what its metrics count goes on from there when workers are replaced, and when one is killed', async () => {
    const { service, url, line } = await running()
    for (let i = 0; i < 20; i++) await expectSuccess(line.call('GET', '/users'))
    let before = await countsOf(url)
    expect(Object.keys(before).length).toBeGreaterThan(20)
    const replaced = async (gone: readonly number[]) => {
      const isDone = () => workersOf(service).length === 2 && !workersOf(service).some((pid) => gone.includes(pid))
      await until(isDone, { progress: () => workersOf(service).join() })
      await serving(url, 2)
      const after = await countsOf(url)
      expect(Object.entries(before).filter(([name, count]) => (after[name] ?? 0) < count)).toEqual([])
      before = after
    }
    const [first, second] = workersOf(service) as [number, number]
    process.kill(first, 'SIGKILL')
    await replaced([first])
    const all = [...workersOf(service), second]
    service.signal('SIGHUP')
    await replaced(all)
  })

  it('where the metrics of all workers cannot be had, those of one are not taken for them', async () => {
    const { service, url, line } = await running()
    const before = await countsOf(url)
    // On a connection that is open already: the first process is who takes new ones.
    await expectSuccess(line.call('GET', '/users'))
    process.kill(service.pid, 'SIGSTOP')
    try {
      expect(await line.call('GET', '/metrics')).toMatchObject({ kind: 'answered', status: 503 })
    } finally {
      process.kill(service.pid, 'SIGCONT')
    }
    const after = await countsOf(url)
    expect(Object.entries(before).filter(([name, count]) => (after[name] ?? 0) < count)).toEqual([])
  })

  it('a worker that cannot start keeps the service from starting, and says why once', async () => {
    const { service } = await running()
    const port = await findFreePort()
    const { url: connectionString, drop } = await createOwnDatabase()
    stage.onClean(drop)
    const dataDir = stage.makeFolder()
    const second = stage.launch({
      ...{ WORKERS: '2', REDIS_URL: redis?.url ?? '', DATA_DIR: dataDir, PORT: String(port) },
      DATABASE_URL: connectionString,
    })
    // The port was free when it began; somebody takes it before the workers listen.
    await until(() => readdirSync(dataDir).length > 0)
    const taken = createServer()
    await once(taken.listen(port, '127.0.0.1'), 'listening')
    expect(await second.exited).toEqual({ code: 1, signal: null })
    taken.close()
    expect(second.output().match(/could not start: .*EADDRINUSE/g)).toHaveLength(1)
    expect(service.isRunning).toBe(true)
  })

  it('when the first process is killed its workers end too, and the next start finds everything', async () => {
    const { service, dataDir, line } = await running()
    await expectSuccess(line.call('POST', '/users', { uid: 'carol', name: 'Carol' }))
    const workers = workersOf(service)
    await service.kill()
    await until(() => !workers.some(isAlive))
    const next = await running({ DATA_DIR: dataDir })
    await expectSuccess(next.line.call('GET', '/users/carol'))
    expect(await readFile(join(dataDir, 'parley.lock'), 'utf8')).toContain(String(next.service.pid))
  })

  it('workers that die over and over end the whole, with the reason', async () => {
    const { service } = await running()
    const kept = workersOf(service)[1]
    const killing = (async () => {
      while (service.isRunning) {
        for (const pid of workersOf(service)) if (pid !== kept) process.kill(pid, 'SIGKILL')
        await delay(50)
      }
    })()
    expect(await service.exited).toEqual({ code: 1, signal: null })
    await killing
    expect(service.output()).toMatch(/Parley ends: worker \d died 5 times in a row soon after its start: SIGKILL/)
    expect(isAlive(kept as number)).toBe(false)
  })
})

/** What the metrics of all workers count: counters, and the figures of histograms. On a busy machine they may be late, once. */
async function countsOf(url: string): Promise<Record<string, number>> {
  const text = await until(async () => {
    const answer = await fetch(`${url}/metrics`)
    return answer.ok && (await answer.text())
  })
  const counting = [...text.matchAll(/^# TYPE (\w+) (?:counter|histogram)$/gm)].map(([, name]) => name as string)
  const isCounted = (line: string) => counting.some((name) => line.startsWith(name)) && !/^(process|nodejs)_/.test(line)
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const [, name, value] = /^(\w+(?:\{.*\})?) (\S+)$/.exec(line) ?? []
      return name !== undefined && isCounted(name) ? [[name, Number(value)]] : []
    }),
  )
}

const statusOf = async (url: string) => (await fetch(url, { headers: { connection: 'close' } })).status

describeWith(redisServer, 'WORKERS=2 with METRICS_PORT under load', () => {
  const begin = async () => {
    const metricsPort = await findFreePort()
    const started = await start({
      ...{ SOCKET_DRAIN_SECONDS: '0.5', WEBHOOK_ALLOW_PRIVATE: 'true', METRICS_PORT: String(metricsPort) },
    })
    const cast = await makeCast(started.line, { users: 12, groups: 2, members: 8 })
    return { ...started, metricsUrl: `http://127.0.0.1:${metricsPort}`, cast, ledger: createLedger() }
  }
  /** What was sent before counts too: the ledger is that of the whole service. */
  const running = shared(begin)
  type Scene = Awaited<ReturnType<typeof running>>

  const load = async ({ service, url, cast, ledger }: Scene, crowding: { size: number; restMs?: number }) => {
    const crowd = startCrowd({ ledger, cast, random: createRandom(7), address: () => url, ...crowding })
    stage.onClean(crowd.stop)
    const grown = (by: number) => {
      const from = ledger.acknowledged.size
      return until(() => ledger.acknowledged.size > from + by || !service.isRunning, {
        progress: () => ledger.acknowledged.size,
      })
    }
    await grown(100)
    return { crowd, grown }
  }
  /** The port of the metrics has those of all workers, and no other port has them. */
  const expectMetrics = async ({ url, metricsUrl }: Scene) => {
    await serving(metricsUrl, 2)
    for (let i = 0; i < 4; i++) {
      const answer = await fetch(`${metricsUrl}/metrics`, { headers: { connection: 'close' } })
      const text = await answer.text()
      expect(text).toContain('parley_workers_reporting 2')
      expect(new Set([...text.matchAll(/worker="(\d+)"/g)].map(([, number]) => number)).size).toBe(2)
      expect(await statusOf(`${url}/metrics`)).toBe(404)
      expect(await statusOf(`${url}/health`)).toBe(200)
      expect(await statusOf(`${metricsUrl}/health`)).toBe(404)
    }
  }
  const expectNoFlaws = async ({ dataDir, line, cast, ledger }: Scene) => {
    expect(ledger.faults).toEqual([])
    const database = await connectToDatabase(dataDir)
    expect(await findFlaws(line, database, cast, ledger)).toEqual([])
    await database.end()
  }

  it('the metrics of all workers are on their port, and on no other', async () => expectMetrics(await running()))

  it('one that is killed is replaced, nothing that was answered is lost, and the metrics are of all workers', async () => {
    const scene = await running()
    const { service, ledger } = scene
    const { crowd, grown } = await load(scene, { size: 24 })
    const before = workersOf(service)
    process.kill(before[0] as number, 'SIGKILL')
    await grown(300)
    await crowd.stop()
    await expectMetrics(scene)
    const after = workersOf(service)
    expect(after).toHaveLength(2)
    expect(after).toContain(before[1])
    expect(after).not.toContain(before[0])
    expect(service.output()).toContain('a worker died; another takes its place')
    expect(ledger.counts.cut).toBeGreaterThan(0)
    await expectNoFlaws(scene)
  })

  it('whoever was just connecting to one that is killed is cut off, and does not wait for ever', async () => {
    const { service, url, metricsUrl } = await running()
    const counts = { answered: 0, cut: 0 }
    for (let round = 0; round < 2; round++) {
      let isOver = false
      // Each call on a connection of its own; one that is not answered in a long time throws.
      const callers = Array.from({ length: 32 }, async () => {
        while (!isOver) {
          const caller = openLine(() => url)
          counts[(await caller.call('GET', '/health')).kind]++
          await caller.close()
        }
      })
      const grown = (from: number) =>
        until(() => counts.answered > from + 150, { interval: 5, progress: () => counts.answered })
      await grown(counts.answered)
      process.kill(workersOf(service)[round] as number, 'SIGKILL')
      await grown(counts.answered)
      isOver = true
      await Promise.all(callers)
      await serving(metricsUrl, 2)
    }
    expect(counts.cut).toBeGreaterThan(0)
  })

  it('SIGHUP replaces one after the other: what was answered is there and delivered, sockets and metrics come back', async () => {
    // None was killed in it: some seconds after that, sockets are told that they may have missed something.
    const scene = await begin()
    const { service, url, line, cast, ledger } = scene
    const endpoint = await openEndpoint()
    stage.onClean(() => endpoint.close())
    const hook = { id: 'hook', name: 'Hook', webhookURL: endpoint.url, retryOnFailure: true }
    const triggers = ['message_sent', 'user_connection_status_changed']
    await expectSuccess(line.call('POST', '/webhooks', { ...hook, triggers }))
    const [answeredBefore, refusedBefore] = [new Set(ledger.acknowledged.keys()), ledger.counts.refused]
    const { crowd, grown } = await load(scene, { size: 8, restMs: 100 })
    const [uid, other] = cast.uids as [string, string]
    const { data } = await expectSuccess(line.call('POST', `/users/${uid}/auth_tokens`, {}))
    const login = { type: 'auth', appId: 'parley', body: { auth: data.authToken, presenceSubscription: 'NONE' } }
    const sockets = Array.from({ length: 10 }, (_, i) => openFlapping(url, { ...login, deviceId: `d${i}` }))
    stage.onClean(() => {
      for (const socket of sockets) socket.stop()
    })
    await until(() => sockets.every((socket) => socket.isIn()))

    const before = workersOf(service)
    service.signal('SIGHUP')
    const isReplaced = () => workersOf(service).length === 2 && workersOf(service).every((pid) => !before.includes(pid))
    await until(isReplaced, { progress: () => workersOf(service).join() })
    await grown(100)
    await until(() => sockets.every((socket) => socket.isIn()))
    await crowd.stop()
    expect(ledger.counts.refused).toBe(refusedBefore)
    await expectMetrics(scene)
    await expectNoFlaws(scene)
    const delivered = () => new Set(endpoint.received.map(({ text }) => /"muid":"([^"]+)"/.exec(text)?.[1]))
    const undelivered = () => {
      const those = delivered()
      return [...ledger.acknowledged.keys()].filter((muid) => !answeredBefore.has(muid) && !those.has(muid))
    }
    await until(() => undelivered().length === 0, { interval: 200, progress: () => undelivered().length })

    // He was there all the time.
    const comings = endpoint.received.filter(({ body }) => body.trigger === 'user_connection_status_changed')
    expect(new Set(comings.map(({ headers }) => headers['webhook-id'])).size).toBe(1)

    // Each was told to connect again, and was never turned away.
    for (const { codes } of sockets) expect(new Set(codes)).toEqual(new Set([1012]))
    const body = { receiver: uid, receiverType: 'user', data: { text: 'after it all' } }
    await expectSuccess(line.call('POST', '/messages', body, { as: other }))
    await until(() => sockets.every(({ texts }) => texts.has('after it all')))
    for (const socket of sockets) socket.stop()
    await endpoint.close()
  })

  it('SIGTERM ends the workers in an orderly way, and then the database', async () => {
    const scene = await running()
    const { service, dataDir, ledger } = scene
    const { crowd } = await load(scene, { size: 24 })
    const workers = workersOf(service)
    service.signal('SIGTERM')
    expect(await service.exited).toEqual({ code: 0, signal: null })
    await crowd.stop()
    expect(ledger.faults).toEqual([])
    expect(workers.filter(isAlive)).toEqual([])
    expect(findServersOf(clusterOf(dataDir))).toEqual([])
    expect(stateOfCluster(dataDir)).toBe('shut down')
  })
})
