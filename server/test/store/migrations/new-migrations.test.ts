import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { migrate } from '../../../src/store/migrate.ts'
import { buildIndex, type Migration } from '../../../src/store/migrations/migration.ts'
import { itWith } from '../../gate/needs.ts'
import { createOwnDatabase, type OwnDatabase } from '../../support/own-database.ts'
import { until } from '../../support/until.ts'
import { fixtureVersions, readFixture } from '../../upgrade/fixtures.ts'
import { fillDatabase, migrationsAfter, migrationsUpTo, observe } from './observe.ts'
import { lintMigration, squawk } from './squawk.ts'

/** The last migration that was released: those up to it are as they are. */
const released = readFixture(fixtureVersions().at(-1) as string).migrations.at(-1) as string

let own: OwnDatabase
let client: pg.Client
beforeAll(async () => {
  own = await createOwnDatabase({ isEmpty: true })
  client = await fillDatabase(own, released)
})
afterAll(async () => {
  await client.end()
  await own.drop()
})

const doing = (...texts: string[]): Migration => ({
  async up(db: Kysely<unknown>) {
    for (const text of texts) await sql.raw(text).execute(db)
  },
})

describe('a migration on full tables', () => {
  it.each<[text: string, onFullTables: RegExp, ofSquawk?: RegExp]>([
    [
      'create index too_slow on messages (app_id, sent_at, muid)',
      /reads all of messages under ShareLock/,
      /require-concurrent-index-creation/,
    ],
    ['alter table users alter column uid type varchar(200)', /of users|users anew/, /changing-column-type/],
    [
      'alter table users add column drawn float8 not null default random()',
      /writes users anew under AccessExclusiveLock/,
    ],
    [
      'alter table users alter column name set not null, add check (length(name) > 0)',
      /reads all of users under AccessExclusiveLock/,
      /constraint-missing-not-valid/,
    ],
    [`update users set name = name || '!'`, /changes \d+ rows of users at once/],
    ['drop table friends', /drops friends, which older processes still use/, /ban-drop-table/],
  ])('is refused where it keeps others out for as long as they are large: %s', async (text, expected, ofSquawk) => {
    const { sent, flaws } = await observe(client, doing(text), { undo: true })
    expect(flaws).toEqual([expect.stringMatching(expected)])
    if (ofSquawk !== undefined && squawk.isMet) expect(lintMigration(sent, true).join()).toMatch(ofSquawk)
  })

  itWith(squawk, 'passes where it takes no longer than on small ones', async () => {
    const { sent, flaws } = await observe(
      client,
      doing(
        'create table if not exists made (app_id integer not null, uid text not null, primary key (app_id, uid))',
        'create index if not exists made_by_uid on made (uid)',
        'alter table messages add column if not exists later bigint',
        'alter table users add column if not exists flag boolean not null default false',
        `insert into settings (name, value) values ('made', 'yes')`,
      ),
      { undo: true },
    )
    expect([...flaws, ...lintMigration(sent, true)]).toEqual([])
  })

  itWith(squawk, 'builds an index beside those who write, also where it was interrupted before', async () => {
    const migration: Migration = {
      outside: true,
      up: (db) => buildIndex(db, 'messages_by_muid_too', 'on messages (app_id, muid)'),
    }
    await client.query('create index messages_by_muid_too on messages (app_id, sent_at)')
    await client.query('begin')
    const isOwner = await client
      .query(`update pg_index set indisvalid = false where indexrelid = 'messages_by_muid_too'::regclass`)
      .then(
        () => true,
        () => false,
      )
    await client.query(isOwner ? 'commit' : 'rollback')
    if (!isOwner) await client.query('drop index messages_by_muid_too')
    const { sent, flaws } = await observe(client, migration)
    expect([...flaws, ...lintMigration(sent, false)]).toEqual([])
    const { rows } = await client.query(
      `select indisvalid as valid, pg_get_indexdef(indexrelid) as text from pg_index where indexrelid = 'messages_by_muid_too'::regclass`,
    )
    expect(rows).toEqual([{ valid: true, text: expect.stringContaining('(app_id, muid)') }])
    await client.query('drop index messages_by_muid_too')
  })

  it('does not build an index again that a migration whose process was killed still builds', async () => {
    const [reader, builder] = [new pg.Client(own.connection), new pg.Client(own.connection)]
    const asked: string[] = []
    const db = new Kysely<unknown>({
      dialect: new PostgresDialect({ pool: new pg.Pool({ ...own.connection, max: 1 }) }),
      log: ({ query }) => void asked.push(query.sql),
    })
    await Promise.all([reader.connect(), builder.connect()])
    try {
      // It waits for whoever may still see the table without it.
      await reader.query('begin')
      await reader.query('select from messages limit 1')
      await reader.query('lock table messages in row exclusive mode')
      const killed = builder.query('create index concurrently messages_by_muid_again on messages (app_id, muid)')
      const find = `select indexrelid::int as id, indisvalid as valid from pg_index where indexrelid = to_regclass('messages_by_muid_again')`
      const [begun] = await until(async () => {
        const { rows } = await client.query(find)
        return rows.length > 0 && rows
      })
      expect(begun.valid).toBe(false)
      const building = buildIndex(db, 'messages_by_muid_again', 'on messages (app_id, muid)')
      await until(() => asked.length > 1)
      await reader.query('commit')
      await Promise.all([killed, building])
      expect((await client.query(find)).rows).toEqual([{ id: begun.id, valid: true }])
    } finally {
      await Promise.all([reader.end(), builder.end(), db.destroy()])
      await client.query('drop index if exists messages_by_muid_again')
    }
  })

  describe.each(migrationsAfter(released))('%s', (name, migration) => {
    itWith(squawk, 'keeps nobody out, and can be done again', async () => {
      const { sent, flaws } = await observe(client, migration)
      expect([...flaws, ...lintMigration(sent, migration.outside !== true)], name).toEqual([])
      await observe(client, migration, { undo: true })
    })
  })
})

it('A migration that has to wait for a lock lets others pass, and is done once it gets it', async () => {
  const upgraded = await createOwnDatabase({ isEmpty: true })
  onTestFinished(() => upgraded.drop())
  const filled = await fillDatabase(upgraded, released)
  await filled.query(
    `create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null)`,
  )
  for (const name of migrationsUpTo(released)) {
    await filled.query('insert into kysely_migration values ($1, now()::text)', [name])
  }
  // Somebody reads a table that a migration changes, and takes their time.
  const reader = new pg.Client(upgraded.connection)
  await reader.connect()
  await reader.query('begin')
  await reader.query('select count(*) from api_keys')
  let isDone = false
  const migrating = migrate(upgraded.connection).then((applied) => {
    isDone = true
    return applied
  })
  const waits = `select from pg_locks where not granted and relation = 'api_keys'::regclass`
  await until(async () => (await filled.query(waits)).rowCount)
  await filled.query('select count(*) from api_keys')
  expect(isDone).toBe(false)
  await reader.query('commit')
  await reader.end()
  expect(await migrating).toEqual(migrationsAfter(released).map(([name]) => name))
  await filled.end()
})
