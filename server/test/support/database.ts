import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    connection: {
      host: string
      port: number
      user: string
      password: string
      database: string
      connectionTimeoutMillis: number
    }
  }
}

/** On a busy machine, a connection may take its time to be opened. */
const connectionTimeoutMillis = 60_000

const quiet = { info() {}, warn() {}, error: console.error }

/**
 * One PostgreSQL for the whole run: the embedded one in a temporary folder, or a fresh database on the server that
 * TEST_DATABASE_URL names.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const external = process.env.TEST_DATABASE_URL
  if (external !== undefined && external !== '') return useExternal(project, external)

  const { startEmbeddedPostgres } = await import('../../src/store/embedded/index.ts')
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'parley-test-'))
  const postgres = await startEmbeddedPostgres({
    dataDir,
    log: quiet,
    settings: { fsync: 'off', full_page_writes: 'off', max_connections: '400' },
  })
  project.provide('connection', { ...postgres.connection, connectionTimeoutMillis })
  return async () => {
    await postgres.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function useExternal(project: TestProject, url: string): Promise<() => Promise<void>> {
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  const database = `parley_test_${process.pid}`
  await admin.query(`create database ${database}`)
  const { host, port, user, password } = admin
  project.provide('connection', {
    host,
    port,
    user: user ?? '',
    password: password ?? '',
    database,
    connectionTimeoutMillis,
  })
  return async () => {
    await admin.query(`drop database ${database} with (force)`)
    await admin.end()
  }
}
