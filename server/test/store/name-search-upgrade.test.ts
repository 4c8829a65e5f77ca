import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrate } from '../../src/store/migrate.ts'
import { up } from '../../src/store/migrations/0014-name-search.ts'
import { createOwnDatabase, type OwnDatabase } from '../support/own-database.ts'
import { until } from '../support/until.ts'

let own: OwnDatabase
let pool: pg.Pool
beforeAll(async () => {
  own = await createOwnDatabase()
  await migrate(own.connection)
  pool = new pg.Pool(own.connection)
  pool.on('error', () => {})
})
afterAll(async () => {
  await pool.end()
  await own.drop()
})

const insertUser = `insert into users (app_id, uid, name, name_key, created_at) values (1, $1, $1, $2, 1)`
const foundBy = async (gram: string) =>
  (
    await pool.query(`select id from searched_names where grams @@ $1::tsquery order by id`, [`'1:1:${gram}'`])
  ).rows.map(({ id }) => id)

/** An older version of the service goes on writing while a newer one brings its database up to date. */
it('Names that change while a database is upgraded are found afterwards, and those of whoever was removed are not', async () => {
  await pool.query('drop table searched_names')
  for (const table of ['users', 'groups']) {
    for (const trigger of ['named', 'renamed', 'unnamed'])
      await pool.query(`drop trigger ${table}_${trigger} on ${table}`)
  }
  for (const [uid, name] of [
    ['u1', 'anton'],
    ['u2', 'berta'],
    ['u3', 'caesar'],
  ])
    await pool.query(insertUser, [uid, name])
  const older = await pool.connect()
  await older.query('begin')
  await older.query(`update users set name_key = 'renamed' where uid = 'u1'`)
  await older.query(`delete from users where uid = 'u2'`)
  await older.query(insertUser, ['u4', 'dora'])

  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  const upgrading = db.transaction().execute(up)
  const waiting = `select from pg_locks where not granted and relation = 'users'::regclass`
  await until(async () => (await pool.query(waiting)).rowCount)
  await older.query('commit')
  older.release()
  await upgrading
  expect(await foundBy('ant')).toEqual([])
  expect(await foundBy('ren')).toEqual(['u1'])
  expect(await foundBy('ber')).toEqual([])
  expect(await foundBy('cae')).toEqual(['u3'])
  expect(await foundBy('dor')).toEqual(['u4'])

  await pool.query(`update users set name_key = 'ulrike' where uid = 'u3'`)
  expect(await foundBy('ulr')).toEqual(['u3'])
})
