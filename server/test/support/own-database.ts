import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import type { ConnectionSettings } from '../../src/store/connection.ts'

/** A database that nothing else in the run uses, beside the shared one. */
export interface OwnDatabase {
  readonly connection: ConnectionSettings
  /** Removes it, with whoever is still connected. */
  drop(): Promise<void>
}

export async function createOwnDatabase(): Promise<OwnDatabase> {
  const connection = inject('connection')
  const database = `parley_own_${randomBytes(8).toString('hex')}`
  const admin = new pg.Client(connection)
  await admin.connect()
  await admin.query(`create database ${database}`)
  return {
    connection: { ...connection, database },
    async drop() {
      await admin.query(`drop database ${database} with (force)`)
      await admin.end()
    },
  }
}
