import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { inject, type ProvidedContext } from 'vitest'
import type { ConnectionSettings } from '../../src/store/connection.ts'
import { until } from './until.ts'

const insufficientPrivilege = '42501'

/** A database that nothing else in the run uses, beside the shared one; it is migrated. */
export interface OwnDatabase {
  readonly connection: ConnectionSettings
  /** The same, as `DATABASE_URL` wants it. */
  readonly url: string
  /** Removes it. Who is still connected has some time to leave, in milliseconds, and is put out then. */
  drop(patienceMs?: number): Promise<void>
}

/** @param options.isEmpty not migrated, as an operator finds it before the first start */
export async function createOwnDatabase({ isEmpty = false } = {}): Promise<OwnDatabase> {
  const connection = inject('connection')
  const database = `parley_own_${randomBytes(8).toString('hex')}`
  const admin = new pg.Client(connection)
  await admin.connect()
  await admin.query(`create database ${database}${isEmpty ? '' : ` template ${inject('template')}`}`)
  return {
    connection: { ...connection, database },
    url: databaseUrl({ ...connection, database }),
    async drop(patienceMs = 30_000) {
      await everybodyLeaves(admin, database, patienceMs)
      await until(() => drop(admin, database))
      await admin.end()
    },
  }
}

/** The host may be a folder, in which the socket is. */
export function databaseUrl({ host, port, user, password, database }: ProvidedContext['connection']): string {
  const credentials = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`
  return `postgresql://${credentials}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
}

/** A pool says that it has ended before the server knows: connections that are cut then break whichever test is running. */
async function everybodyLeaves(admin: pg.Client, database: string, patienceMs: number): Promise<void> {
  const end = performance.now() + patienceMs
  while (performance.now() < end) {
    const { rowCount } = await admin.query(
      `select from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
      [database],
    )
    if (rowCount === 0) return
    await delay(20)
  }
}

/** The role of the tests may not end a worker of autovacuum, which is done in a moment. @returns whether it is dropped */
async function drop(admin: pg.Client, database: string): Promise<boolean> {
  try {
    await admin.query(`drop database ${database} with (force)`)
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code === insufficientPrivilege) return false
    throw error
  }
}
