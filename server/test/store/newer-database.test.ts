import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { migrate } from '../../src/store/migrate.ts'
import { version } from '../../src/version.ts'
import { ensureBuilt, mainArguments } from '../support/build.ts'
import { createOwnDatabase } from '../support/own-database.ts'

/** A migrated database that only this test uses. */
async function createDatabase() {
  const own = await createOwnDatabase()
  const client = new pg.Client(own.connection)
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await own.drop()
  })
  const writer = async () =>
    (await client.query(`select value from settings where name = 'migrated_by'`)).rows.map(({ value }) => value)
  /** As a version to come leaves it. */
  const leaveToTomorrow = async (by?: string) => {
    await client.query(`insert into kysely_migration values ('9999-from-tomorrow', now()::text)`)
    await client.query(`delete from settings where name = 'migrated_by'`)
    if (by !== undefined) await client.query(`insert into settings values ('migrated_by', $1)`, [by])
  }
  return { ...own, client, writer, leaveToTomorrow }
}

describe('a database that a newer version has migrated', () => {
  it('is named with that version, and nothing is written', async () => {
    const { connection, leaveToTomorrow, writer } = await createDatabase()
    await leaveToTomorrow('9.9.9')
    await expect(migrate(connection)).rejects.toThrow(
      `migrated by version 9.9.9 of Parley, and this is version ${version}, which does not know 9999-from-tomorrow. ` +
        'Nothing was changed.',
    )
    expect(await writer()).toEqual(['9.9.9'])
  })

  it('is refused although nobody noted which version it was', async () => {
    const { connection, leaveToTomorrow } = await createDatabase()
    await leaveToTomorrow()
    await expect(migrate(connection)).rejects.toThrow('migrated by a newer version of Parley')
  })

  it('ends the service with one sentence and a code that supervisors know, before its port is open', async () => {
    const { url, leaveToTomorrow } = await createDatabase()
    ensureBuilt()
    await leaveToTomorrow('9.9.9')
    const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-newer-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    // Nobody gets as far as to need the Redis of several processes.
    for (const some of [{}, { WORKERS: '2', REDIS_URL: 'redis://127.0.0.1:1' }]) {
      const settings = { PORT: '0', DATA_DIR: 'data', DATABASE_URL: url, LOG_LEVEL: 'info', ...some }
      const env = { PATH: process.env.PATH, ...settings }
      const child = spawn(process.execPath, mainArguments, { cwd: folder, env })
      let printed = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk))
      expect(await once(child, 'close'), printed).toEqual([78, null])
      expect(printed).toMatch(/^This database was migrated by version 9\.9\.9 of Parley/m)
      expect(printed).not.toContain('listening')
      expect(printed).not.toMatch(/\n\s+at /)
    }
  })
})

it('A database says which version migrated it, also one that was migrated before versions were noted', async () => {
  const { connection, client, writer } = await createDatabase()
  await client.query(`delete from settings where name = 'migrated_by'`)
  expect(await migrate(connection)).toEqual([])
  expect(await writer()).toEqual([version])
  // A start that migrates nothing leaves the note of whoever did.
  await client.query(`update settings set value = '0.0.1' where name = 'migrated_by'`)
  await Promise.all([migrate(connection), migrate(connection)])
  expect(await writer()).toEqual(['0.0.1'])
})
