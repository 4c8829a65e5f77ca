import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DataDirInUseError, type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/store/embedded/index.ts'
import { findServersOf, pidExists } from '../../../src/store/embedded/processes.ts'
import { copyDataDir } from '../../support/data-dir.ts'
import { soon, until } from '../../support/until.ts'
import { createBench, createLog, isGone, select } from './support.ts'

const bench = createBench()
const template = bench.makeFolder()
const running: EmbeddedPostgres[] = []

async function start(
  dataDir: string,
  log = createLog(),
  settings: Record<string, string> = {},
): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, log, settings })
  running.push(postgres)
  return postgres
}

function makeDataDir(): string {
  const folder = bench.makeFolder()
  copyDataDir(template, folder)
  return folder
}

beforeAll(async () => {
  const postgres = await start(template)
  const client = await bench.connect(postgres.connection)
  await client.query('create table kept (word text)')
  await client.query(`insert into kept values ('first')`)
  await postgres.stop()
})

afterAll(async () => {
  for (const postgres of running) await postgres.stop()
  await bench.clean()
})

describe('the embedded PostgreSQL', () => {
  it('is a durable UTF-8 database of version 18 that knows letters of every script', async () => {
    const postgres = await start(makeDataDir())
    const client = await bench.connect(postgres.connection)
    expect(postgres.connection).toMatchObject({ user: 'parley_service', database: 'parley' })
    const facts = {
      version: await select(client, 'show server_version'),
      encoding: await select(client, 'show server_encoding'),
      lower: await select(client, `select lower('ÄÖΣ')`),
      words: await select(client, `select '中国' ~ '^\\w+$'`),
      fsync: await select(client, 'show fsync'),
      commit: await select(client, 'show synchronous_commit'),
      checksums: await select(client, 'show data_checksums'),
      network: await select(client, 'show listen_addresses'),
      timezone: await select(client, 'show timezone'),
      owner: await select(client, `select pg_get_userbyid(datdba) from pg_database where datname = 'parley'`),
    }
    expect(facts).toMatchObject({
      version: expect.stringMatching(/^18\./),
      encoding: 'UTF8',
      lower: 'äöσ',
      words: true,
    })
    expect(facts).toMatchObject({ fsync: 'on', commit: 'on', checksums: 'on', network: '', owner: 'parley_service' })
    expect(facts.timezone).toMatch(/UTC/)
    await postgres.stop()
  })

  it('asks for its password, which lies in a file that only its user reads', async () => {
    const dataDir = makeDataDir()
    const postgres = await start(dataDir)
    await expect(bench.connect({ ...postgres.connection, password: 'guessed' })).rejects.toThrow(
      /password authentication/,
    )
    const file = join(dataDir, 'postgres-password')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    // It is the superuser's, which the service has no use for once it runs.
    expect(readFileSync(file, 'utf8')).toMatch(/^[0-9a-f]{48}\n$/)
    expect(readFileSync(file, 'utf8')).not.toContain(postgres.connection.password)
    expect(statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700)
    await postgres.stop()
  })

  it('refuses a second start on its folder, naming the folder and the process, and goes on', async () => {
    const dataDir = makeDataDir()
    const postgres = await start(dataDir)
    const second = start(dataDir)
    await expect(second).rejects.toThrow(DataDirInUseError)
    await expect(second).rejects.toThrow(new RegExp(`${dataDir} is in use by process ${process.pid}`))
    expect(await select(await bench.connect(postgres.connection), 'select word from kept')).toBe('first')
    await postgres.stop()
  })

  it('lets exactly one of several simultaneous starts have the folder', async () => {
    const dataDir = makeDataDir()
    const outcomes = await Promise.allSettled([start(dataDir), start(dataDir), start(dataDir)])
    const winners = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    expect(winners).toHaveLength(1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(DataDirInUseError)
    }
    await winners[0]?.stop()
  })

  it('keeps data over stop and start, and stops while clients are connected', async () => {
    const dataDir = makeDataDir()
    const first = await start(dataDir)
    const pid = first.pid ?? 0
    const client = await bench.connect(first.connection)
    await client.query(`insert into kept values ('second')`)
    await Promise.all([first.stop(), first.stop()])
    expect(first.pid).toBeUndefined()
    expect(isGone(pid)).toBe(true)
    const again = await start(dataDir)
    expect(await select(await bench.connect(again.connection), 'select count(*)::int from kept')).toBe(2)
    await again.stop()
  })

  it('starts again after a crash, under the same connection, and logs its last lines', async () => {
    const log = createLog()
    const postgres = await start(makeDataDir(), log)
    const client = await bench.connect(postgres.connection)
    await client.query(`insert into kept values ('answered')`)
    const crashed = postgres.pid ?? 0
    process.kill(crashed, 'SIGKILL')
    const after = await soon(() => bench.connect(postgres.connection))
    expect(await select(after, 'select count(*)::int from kept')).toBe(2)
    expect(postgres.pid).not.toBe(crashed)
    expect(log.lines.join('\n')).toMatch(/SIGKILL.*ready to accept connections.*PostgreSQL ended unexpectedly/)
    await postgres.stop()
  })

  it('starts again after a crash although one backend sleeps and another computes', async () => {
    const dataDir = makeDataDir()
    const log = createLog()
    const postgres = await start(dataDir, log)
    const sleeper = await bench.connect(postgres.connection)
    const computer = await bench.connect(postgres.connection)
    const outcomes = Promise.allSettled([
      sleeper.query('select pg_sleep(60)'),
      computer.query('select count(*) from generate_series(1, 1000000000)'),
    ])
    const watcher = await bench.connect(postgres.connection)
    const busy = `select count(*)::int from pg_stat_activity where state = 'active' and pid <> pg_backend_pid()`
    await until(async () => (await select(watcher, busy)) === 2)
    process.kill(postgres.pid ?? 0, 'SIGKILL')
    const after = await soon(() => bench.connect(postgres.connection))
    expect(await select(after, 'select word from kept')).toBe('first')
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await postgres.stop()
    expect(findServersOf(join(dataDir, 'postgres'))).toEqual([])
  })

  it('can be stopped in the middle of a restart', async () => {
    const dataDir = makeDataDir()
    const log = createLog()
    const postgres = await start(dataDir, log)
    process.kill(postgres.pid ?? 0, 'SIGKILL')
    await until(() => log.lines.some((line) => line.includes('ended unexpectedly')))
    await postgres.stop()
    expect(postgres.pid).toBeUndefined()
    expect(findServersOf(join(dataDir, 'postgres'))).toEqual([])
    await (await start(dataDir)).stop()
  })

  it('rejects a start that fails with the last lines of the log, and gives the folder free', async () => {
    const dataDir = makeDataDir()
    const configuration = join(dataDir, 'postgres', 'postgresql.conf')
    const intact = readFileSync(configuration)
    appendFileSync(configuration, 'work_mem = many\n')
    await expect(start(dataDir)).rejects.toThrow(
      /did not start \(exit code 1\)[\s\S]*invalid value for parameter "work_mem"/,
    )
    writeFileSync(configuration, intact)
    await (await start(dataDir)).stop()
  })

  it('takes settings over its own', async () => {
    const postgres = await start(makeDataDir(), createLog(), { max_connections: '17', work_mem: '5MB' })
    const client = await bench.connect(postgres.connection)
    expect(await select(client, 'show max_connections')).toBe('17')
    expect(await select(client, 'show work_mem')).toBe('5MB')
    await postgres.stop()
  })

  it('does not log the errors of statements, which may quote what users wrote, but does log warnings', async () => {
    const log = createLog()
    const postgres = await start(makeDataDir(), log)
    const client = await bench.connect(postgres.connection)
    await expect(client.query(`select 'secret words'::int`)).rejects.toThrow(/secret words/)
    await client.query(`do $$ begin raise warning 'watch out'; end $$`)
    await until(() => log.lines.some((line) => line.startsWith('warn') && line.includes('watch out')))
    expect(log.lines.join('\n')).not.toContain('secret words')
    await postgres.stop()
  })

  it('says what to do when the data was made by another major version', async () => {
    const dataDir = makeDataDir()
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '16\n')
    await expect(start(dataDir)).rejects.toThrow(/made by PostgreSQL 16.*brings PostgreSQL 18.*pg_dump/s)
  })

  it('gives the database a new password when the file is lost', async () => {
    const dataDir = makeDataDir()
    rmSync(join(dataDir, 'postgres-password'))
    const postgres = await start(dataDir)
    expect(await select(await bench.connect(postgres.connection), 'select word from kept')).toBe('first')
    expect(pidExists(postgres.pid ?? 0)).toBe(true)
    await postgres.stop()
  })
})
