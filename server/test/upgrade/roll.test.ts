import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, symlinkSync, unlinkSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { doctorCommand } from '../../src/cli/doctor.ts'
import { runCommand } from '../cli/command.ts'
import { type RedisServer, redisServer, startRedis } from '../cluster/redis.ts'
import { serving, workersOf } from '../cluster/workers.ts'
import type { ServiceProcess } from '../faults/support/service-process.ts'
import { createStage } from '../faults/support/stage.ts'
import { inLongSuite, itWith, type Need } from '../gate/needs.ts'
import { mainScript } from '../support/build.ts'
import type { OwnDatabase } from '../support/own-database.ts'
import { until } from '../support/until.ts'
import { fixtureVersions, readFixture, restoreFixture } from './fixtures.ts'
import { type Backend, type Load, startLoad } from './load.ts'

const repository = path.join(import.meta.dirname, '../../..')
const stage = createStage()
let redis: RedisServer | undefined
beforeAll(async () => {
  if (redisServer.isMet && inLongSuite.isMet) redis = await startRedis()
})
afterAll(async () => {
  await stage.clean()
  await redis?.close()
})

const git = (...args: string[]) => spawnSync('git', args, { cwd: repository, encoding: 'utf8' })

/** The history is not in an archive of the sources. */
function historyWith(commit: string): Need {
  return {
    isMet: inLongSuite.isMet && redisServer.isMet && git('cat-file', '-e', `${commit}^{commit}`).status === 0,
    otherwise: 'only in npm run test:long, with redis-server and the history of git',
    inGate: false,
  }
}

describe.each(fixtureVersions())('what runs as version %s under load', (version) => {
  const fixture = readFixture(version)
  const need = historyWith(fixture.commit)
  let old: string
  let own: OwnDatabase
  let load: Load

  beforeAll(() => {
    if (need.isMet) old = buildOld(fixture.commit)
  })
  const begin = async () => {
    const restored = await restoreFixture(version)
    own = restored
    stage.onClean(() => restored.drop())
    load = startLoad()
    const environment = { DATABASE_URL: own.url, PARLEY_MASTER_KEY: fixture.masterKey, REDIS_URL: redis?.url ?? '' }
    const join = async (service: ServiceProcess) => {
      const backend: Backend = { url: await service.ready, isIn: true, underWay: 0 }
      load.backends.push(backend)
      return { service, backend }
    }
    const goOn = async (messages = 30) => {
      const goal = load.sent.length + messages
      await until(() => load.sent.length >= goal || load.refused.length > 0, { progress: () => load.answered })
    }
    return { environment, join, goOn }
  }
  const expectEverything = async () => {
    await load.stop()
    expect(load.refused).toEqual([])
    const client = new pg.Client(own.connection)
    await client.connect()
    const { rows } = await client.query('select count(*)::int as count from messages where muid = any($1)', [load.sent])
    await client.end()
    expect(rows).toEqual([{ count: load.sent.length }])
    expect(await runCommand(doctorCommand, [], { DATABASE_URL: own.url })).toMatchObject({ code: 0 })
  }

  itWith(need, 'is replaced by today, one process after the other, and no request is refused', async () => {
    const { environment, join, goOn } = await begin()
    const launch = (script?: string) => join(stage.launch({ ...environment, DATA_DIR: stage.makeFolder() }, script))
    const before = [await launch(old), await launch(old)]
    await goOn()
    for (const { service, backend } of before) {
      const next = await launch()
      await goOn()
      await load.takeOut(backend)
      service.signal('SIGTERM')
      expect(await service.exited).toEqual({ code: 0, signal: null })
      expect(next.backend.isIn).toBe(true)
      await goOn()
    }
    await expectEverything()
  })

  itWith(
    need,
    'as workers is replaced by a reload after the program was replaced, and no request is refused',
    async () => {
      const { environment, join, goOn } = await begin()
      const place = path.join(stage.makeFolder(), 'current')
      symlinkSync(path.dirname(old), place)
      const folder = stage.makeFolder()
      const script = path.join(place, 'main.js')
      const { service, backend } = await join(
        stage.launch({ ...environment, WORKERS: '2', DATA_DIR: folder, LOG_LEVEL: 'info' }, script),
      )
      await goOn()
      const workers = workersOf(service)
      unlinkSync(place)
      symlinkSync(path.dirname(mainScript), place)
      service.signal('SIGHUP')
      await until(() => service.output().includes('all workers were restarted'), { progress: () => load.answered })
      await serving(backend.url, 2)
      expect(workersOf(service).filter((pid) => workers.includes(pid))).toEqual([])
      await goOn()
      const client = new pg.Client(own.connection)
      await client.connect()
      const { rows } = await client.query('select count(*)::int as count from kysely_migration')
      await client.end()
      expect(rows[0].count).toBeGreaterThan(fixture.migrations.length)
      await expectEverything()
    },
  )

  itWith(need, 'alone is away for a moment', async () => {
    const { environment, join, goOn } = await begin()
    const first = await join(stage.launch({ ...environment, DATA_DIR: stage.makeFolder() }, old))
    await goOn()
    await load.takeOut(first.backend)
    const began = performance.now()
    first.service.signal('SIGTERM')
    await first.service.exited
    const stopped = performance.now()
    await join(stage.launch({ ...environment, DATA_DIR: stage.makeFolder() }))
    const seconds = (ms: number) => (ms / 1000).toFixed(1)
    const now = performance.now()
    console.log(`from ${version}: away for ${seconds(now - began)} s, ${seconds(stopped - began)} s of it to stop`)
    await goOn()
    await expectEverything()
  })
})

/** The version as it was, built from the history in a folder of its own. @returns its program */
function buildOld(commit: string): string {
  const folder = path.join(stage.makeFolder(), 'old')
  const run = (file: string, ...args: string[]) => execFileSync(file, args, { cwd: repository, stdio: 'pipe' })
  run('git', 'worktree', 'add', '--detach', folder, commit)
  stage.onClean(() => void git('worktree', 'remove', '--force', folder))
  // Links between the packages are relative: those of the copy lead to its own.
  cpSync(path.join(repository, 'node_modules'), path.join(folder, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
  })
  run(process.execPath, path.join(folder, 'tools/build.mjs'))
  return path.join(folder, 'server/dist/main.js')
}
