import type { ChildProcess } from 'node:child_process'
import { chmodSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DataDirInUseError, startEmbeddedPostgres } from '../../../src/store/embedded/index.ts'
import { findServersOf, readStat } from '../../../src/store/embedded/processes.ts'
import { itWith, onLinux } from '../../gate/needs.ts'
import { ensureBuilt } from '../../support/build.ts'
import { copyDataDir } from '../../support/data-dir.ts'
import { until } from '../../support/until.ts'
import { type Connection, createBench, createLog, isGone, kill, type Service, select } from './support.ts'

const bench = createBench()
const template = bench.makeFolder()

const service = `
  const { startInDataDir } = await load('start')
  const [dataDir, deathSignal] = args
  const { connection, supervised } = await startInDataDir({ dataDir, log, deathSignal: deathSignal === 'true' })
  say({ connection, pid: supervised.pid() })`

interface RunningService {
  child: ChildProcess
  connection: Connection
  pid: number
}

async function runServiceOn(dataDir: string, options: { deathSignal: boolean }): Promise<RunningService> {
  const { child, said }: Service = await bench.runService(service, dataDir, String(options.deathSignal))
  return { child, connection: said.connection as Connection, pid: said.pid as number }
}

function makeDataDir(): string {
  const folder = bench.makeFolder()
  copyDataDir(template, folder)
  return folder
}

function findZombieOf(parent: number): number | undefined {
  return readdirSync('/proc')
    .map(Number)
    .find((pid) => {
      const stat = Number.isInteger(pid) ? readStat(pid) : undefined
      return stat?.parent === parent && stat.state === 'Z'
    })
}

/** Starts on the folder, reads what was kept, stops. */
async function readKept(dataDir: string, log = createLog()): Promise<unknown> {
  const postgres = await startEmbeddedPostgres({ dataDir, log })
  try {
    const client = await bench.connect(postgres.connection)
    return await select(client, `select string_agg(word, ' ' order by word) from kept`)
  } finally {
    await postgres.stop()
  }
}

beforeAll(async () => {
  ensureBuilt()
  const postgres = await startEmbeddedPostgres({ dataDir: template, log: createLog() })
  const client = await bench.connect(postgres.connection)
  await client.query('create table kept (word text)')
  await client.query(`insert into kept values ('first')`)
  await postgres.stop()
})

afterAll(bench.clean)

describe('after the service was killed', () => {
  itWith(onLinux, 'the server ends with it, and the next start has the data', async () => {
    const dataDir = makeDataDir()
    const { child, connection, pid } = await runServiceOn(dataDir, { deathSignal: true })
    await (await bench.connect(connection)).query(`insert into kept values ('second')`)
    await kill(child)
    await until(() => isGone(pid))
    const log = createLog()
    expect(await readKept(dataDir, log)).toBe('first second')
    expect(log.lines.filter((line) => line.startsWith('warn'))).toEqual([])
  })

  it('the next start takes over from a server that lives on with busy backends', async () => {
    const dataDir = makeDataDir()
    const { child, connection, pid } = await runServiceOn(dataDir, { deathSignal: false })
    const clients = [await bench.connect(connection), await bench.connect(connection), await bench.connect(connection)]
    const [sleeper, computer, writer] = clients
    const outcomes = Promise.allSettled([
      sleeper?.query('select pg_sleep(60)'),
      computer?.query('select count(*) from generate_series(1, 1000000000)'),
    ])
    await writer?.query(`insert into kept values ('second')`)
    await kill(child)
    // The server goes on without its parent and its log.
    await writer?.query(`insert into kept values ('third')`)
    await expect(writer?.query('select 1/0')).rejects.toThrow('division by zero')

    const log = createLog()
    expect(await readKept(dataDir, log)).toBe('first second third')
    expect(isGone(pid)).toBe(true)
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(log.lines.join('\n')).toMatch(/ending a PostgreSQL server that an earlier run has left behind/)
  })

  it('and its server too, the next start ends backends that compute on', async () => {
    const dataDir = makeDataDir()
    const { child, connection, pid } = await runServiceOn(dataDir, { deathSignal: false })
    const computer = await bench.connect(connection)
    const backend = (await select(computer, 'select pg_backend_pid()')) as number
    const outcome = Promise.allSettled([computer.query('select count(*) from generate_series(1, 1000000000)')])
    const watcher = await bench.connect(connection)
    const state = `select state from pg_stat_activity where pid = ${backend}`
    await until(async () => (await select(watcher, state)) === 'active')
    child.kill('SIGSTOP')
    process.kill(pid, 'SIGKILL')
    await kill(child)
    expect(findServersOf(join(dataDir, 'postgres')).map((process) => process.pid)).toContain(backend)
    expect(await readKept(dataDir)).toBe('first')
    expect((await outcome)[0]?.status).toBe('rejected')
    await until(() => isGone(backend))
  })

  it('a pid file of the server that names an unrelated live process does not stop the next start', async () => {
    const dataDir = makeDataDir()
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
    const { child, pid } = await runServiceOn(dataDir, { deathSignal: false })
    const content = readFileSync(pidFile, 'utf8')
    process.kill(pid, 'SIGKILL')
    await kill(child)
    await until(() => findServersOf(join(dataDir, 'postgres')).length === 0)
    // The pid has gone to another program of the same user, as it easily does when a container starts again.
    const stranger = bench.runAsOwnerOf(join(dataDir, 'postgres'), 'sleep', '60')
    writeFileSync(pidFile, content.replace(/^\d+/, String(stranger.pid)))
    expect(await readKept(dataDir)).toBe('first')
    expect(stranger.exitCode).toBeNull()
  })

  itWith(onLinux, 'waits for an ended server that is still in the process table', async () => {
    const dataDir = makeDataDir()
    const cluster = join(dataDir, 'postgres')
    const program = join(dataDir, 'run', 'postgres')
    copyFileSync('/bin/sleep', program)
    chmodSync(program, 0o755)
    // Its parent turns into a program that never asks for ended children, and then ends itself.
    const parent = bench.runAsOwnerOf(cluster, '/bin/sh', '-c', `${program} 0 & exec sleep 0.7`)
    const zombie = await until(() => findZombieOf(parent.pid ?? 0))
    const pidFile = join(cluster, 'postmaster.pid')
    writeFileSync(pidFile, `${zombie}\n${cluster}\n`)
    expect(await readKept(dataDir)).toBe('first')
    expect(parent.exitCode).toBe(0)
  })

  it('refuses to start beside a server that it cannot see but that answers, as one in another container would', async () => {
    const dataDir = makeDataDir()
    const server = createServer().listen(join(dataDir, 'run', '.s.PGSQL.5432'))
    await until(() => server.listening)
    await expect(readKept(dataDir)).rejects.toThrow(DataDirInUseError)
    await new Promise((resolve) => server.close(resolve))
    expect(await readKept(dataDir)).toBe('first')
  })

  it.each([
    ['an empty', ''],
    ['an unreadable', 'no number\n'],
  ])('%s pid file does not stop the next start', async (_, content) => {
    const dataDir = makeDataDir()
    writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), content)
    expect(await readKept(dataDir)).toBe('first')
  })
})
