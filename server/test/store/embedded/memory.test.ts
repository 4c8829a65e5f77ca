import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { startEmbeddedPostgres } from '../../../src/store/embedded/index.ts'
import { memoryOfMachine, sharedBuffers, warmStart } from '../../../src/store/embedded/memory.ts'
import { until } from '../../support/until.ts'
import { createBench, createLog, select } from './support.ts'

const bench = createBench()
afterAll(bench.clean)

const gigabyte = 1024 ** 3

it('The embedded PostgreSQL keeps a sixteenth of the memory, within limits', () => {
  expect([0.5, 2, 4, 8, 64].map((memory) => sharedBuffers(memory * gigabyte))).toEqual([
    '128MB',
    '128MB',
    '256MB',
    '512MB',
    '1024MB',
  ])
  expect(sharedBuffers(memoryOfMachine())).toMatch(/^\d+MB$/)
})

it('reads what it kept in memory again after a restart, before anybody asks for it', async () => {
  const dataDir = bench.makeFolder()
  const start = async () => {
    const postgres = await startEmbeddedPostgres({ dataDir, log: createLog() })
    const password = readFileSync(join(dataDir, 'postgres-password'), 'utf8').trim()
    return { postgres, client: await bench.connect({ ...postgres.connection, user: 'parley', password }) }
  }
  const first = await start()
  await first.client.query('create extension pg_buffercache')
  await first.client.query(
    'create table kept as select n, repeat(md5(n::text), 20) as text from generate_series(1, 5000) n',
  )
  const inMemory = `
    select count(*)::int from pg_buffercache
    where relfilenode = pg_relation_filenode('kept') and reldatabase = (select oid from pg_database where datname = current_database())`
  const before = Number(await select(first.client, inMemory))
  expect(before).toBeGreaterThan(400)
  await first.postgres.stop()
  const second = await start()
  // Those at the end may have been on their way to the disk.
  await until(async () => Number(await select(second.client, inMemory)) >= before * 0.9)
  await second.postgres.stop()
})

it('does without where the library is missing', () => {
  expect(warmStart(bench.makeFolder())).toEqual({})
})
