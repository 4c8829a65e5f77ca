import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { createOwnDatabase, type OwnDatabase } from '../support/own-database.ts'

/** What a released version left, and what it answered about it. */
export interface Fixture {
  readonly version: string
  readonly commit: string
  readonly masterKey: string
  readonly appId: string
  readonly apiKey: string
  readonly authKey: string
  readonly migrations: readonly string[]
  /** Rows of each table. */
  readonly counts: Readonly<Record<string, number>>
  readonly answers: ReadonlyArray<{
    readonly operation: string
    readonly path: string
    readonly as?: string
    readonly token?: string
    readonly body: unknown
  }>
}

const folder = path.join(import.meta.dirname, 'fixtures')

/** The versions that there are fixtures of, the oldest first. */
export function fixtureVersions(): string[] {
  const versions = readdirSync(folder).flatMap((name) => /^(.+)\.sql\.gz$/.exec(name)?.[1] ?? [])
  return versions.sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))
}

export function readFixture(version: string): Fixture {
  return JSON.parse(gunzipSync(readFileSync(path.join(folder, `${version}.json.gz`))).toString('utf8'))
}

/** A database as the version left it. */
export async function restoreFixture(version: string): Promise<OwnDatabase> {
  const own = await createOwnDatabase({ isEmpty: true })
  const client = new pg.Client(own.connection)
  await client.connect()
  await client.query(gunzipSync(readFileSync(path.join(folder, `${version}.sql.gz`))).toString('utf8'))
  await client.end()
  return own
}
