import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { until } from '../support/until.ts'
import { watchBlocks } from './support/blocks.ts'
import { readPostmaster } from './support/database.ts'
import { type ExternalServer, startExternalServer } from './support/external.ts'
import type { ServiceProcess } from './support/service-process.ts'
import { createStage } from './support/stage.ts'

/** Starts in a row; a long run has more of them, on a machine that is kept busy. */
const starts = Number(process.env.STARTS ?? 3)
const isLong = process.env.STARTS !== undefined
/** Programs that keep the machine busy meanwhile. */
const busy = Number(process.env.BUSY ?? (isLong ? 3 : 0))
/** On an external database, where what a killed service held is free only when its leases expire. */
const isExternal = process.env.EXTERNAL === '1'

const stage = createStage()
let server: ExternalServer

beforeAll(async () => {
  server = await startExternalServer(stage)
}, 60_000)
afterEach(stage.killServices)
afterAll(stage.clean)

/** Webhooks go out, and the service says that they do. */
async function expectWebhooks(service: ServiceProcess): Promise<void> {
  const url = await service.ready
  // A database that hung is found to be back a moment later.
  await until(async () => (await fetch(`${url}/ready`)).status === 200)
  const blocks = await watchBlocks(() => url)
  await blocks.prepare()
  await blocks.raise()
  await blocks.expectAll()
  await blocks.close()
  const ready = await fetch(`${url}/ready`)
  expect(await ready.json()).toMatchObject({ status: 'ready', jobs: 'running' })
}

it('webhooks go out when the database hangs for 3 s just after the job runner began to listen', async () => {
  const connectionString = await server.database('frozen')
  const watcher = new pg.Client({ connectionString })
  watcher.on('error', () => {})
  await watcher.connect()
  const service = stage.launch({
    ...{ DATABASE_URL: connectionString, DATA_DIR: stage.makeFolder(), WEBHOOK_ALLOW_PRIVATE: 'true' },
  })
  const listens = `select from pg_stat_activity where application_name = 'parley jobs' and query ilike 'listen%'`
  await until(async () => (await watcher.query(listens)).rowCount, { interval: 1 })
  const postmaster = readPostmaster(server.dataDir)?.pid
  if (postmaster === undefined) throw new Error('the database does not run')
  process.kill(postmaster, 'SIGSTOP')
  await delay(3_000)
  process.kill(postmaster, 'SIGCONT')
  await expectWebhooks(service)
  await watcher.end()
}, 180_000)

it('webhooks go out after a start at which all connections of the database were taken', async () => {
  const connectionString = await server.newDatabase('crowded')
  const hogs: pg.Client[] = []
  const isFull = async () => {
    const hog = new pg.Client({ connectionString })
    hog.on('error', () => {})
    try {
      await hog.connect()
      hogs.push(hog)
      return false
    } catch {
      return true
    }
  }
  await until(isFull, { progress: () => hogs.length, interval: 0 })
  const service = stage.launch({
    ...{ DATABASE_URL: connectionString, DATA_DIR: stage.makeFolder(), WEBHOOK_ALLOW_PRIVATE: 'true' },
  })
  await until(() => service.output().includes('does not answer yet'))
  // One after the other, so that each step of the start meets a database that is full again.
  let isReady = false
  const ready = service.ready.then(() => {
    isReady = true
  })
  ready.catch(() => {})
  while (hogs.length > 0) {
    await hogs.pop()?.end()
    if (!isReady) await delay(50)
  }
  await expectWebhooks(service)
}, 180_000)

it(
  `webhooks go out after each of ${starts} starts, whether the service was stopped or killed before`,
  async () => {
    const burners = Array.from({ length: busy }, () => spawn(process.execPath, ['-e', 'for (;;);']))
    stage.onClean(() => endAll(burners))
    const environment = {
      DATA_DIR: isExternal ? stage.makeFolder() : stage.makeDataDir(),
      WEBHOOK_ALLOW_PRIVATE: 'true',
      ...(isExternal && { DATABASE_URL: await server.database('starts') }),
    }
    let url = ''
    const blocks = await watchBlocks(() => url)
    const waits: number[] = []
    for (let start = 0; start < starts; start++) {
      const service = await stage.start(environment)
      url = await service.ready
      const readyAt = performance.now()
      if (start === 0) await blocks.prepare()
      // Beside this one, that which was raised just before the kill.
      await blocks.raise()
      await blocks.expectAll()
      waits.push(performance.now() - readyAt)
      if (isLong) console.log(`start ${start + 1}: webhooks ${Math.round(waits.at(-1) ?? 0)} ms after ready`)
      if (start % 2 === 0) {
        await blocks.raise()
        await service.kill()
      } else {
        service.signal('SIGTERM')
        expect(await service.exited).toEqual({ code: 0, signal: null })
      }
    }
    await blocks.close()
    await endAll(burners)
    const sorted = waits.map(Math.round).toSorted((a, b) => a - b)
    const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))]
    if (isLong) console.log(`${starts} starts: median ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms`)
  },
  60_000 + starts * 60_000,
)

async function endAll(children: ChildProcess[]): Promise<void> {
  for (const child of children) child.kill('SIGKILL')
}
