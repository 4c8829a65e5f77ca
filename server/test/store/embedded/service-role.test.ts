import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/store/embedded/index.ts'
import { migrate } from '../../../src/store/migrate.ts'
import { createBench, select } from './support.ts'

const bench = createBench()
const running: EmbeddedPostgres[] = []
const start = async (dataDir: string) => {
  const postgres = await startEmbeddedPostgres({ dataDir, log: { info() {}, warn() {}, error: console.error } })
  running.push(postgres)
  return postgres
}
afterAll(async () => {
  for (const postgres of running) await postgres.stop()
  await bench.clean()
})

/** The superuser, who has the password that lies in the data folder. */
const superuserOf = (dataDir: string, { connection }: EmbeddedPostgres) =>
  bench.connect({
    ...connection,
    user: 'parley',
    password: readFileSync(join(dataDir, 'postgres-password'), 'utf8').trim(),
  })

/** What in the database is not the role's own. */
const notOurs = `
  select count(*)::int
  from (
    select relowner as owner, relnamespace as schema from pg_class
    union all select proowner, pronamespace from pg_proc
    union all select typowner, typnamespace from pg_type
    union all select nspowner, oid from pg_namespace where nspname <> 'public'
  ) o
  join pg_namespace n on n.oid = o.schema
  where o.owner <> (select oid from pg_roles where rolname = current_user)
  and n.nspname !~ '^pg_'
  and n.nspname <> 'information_schema'`

describe('the role of the service in the embedded database', () => {
  it('is no superuser: it runs no programs, reads no files, becomes nobody else', async () => {
    const dataDir = bench.makeFolder()
    const postgres = await start(dataDir)
    const client = await bench.connect(postgres.connection)
    expect(
      await select(
        client,
        `select rolsuper or rolcreaterole or rolreplication or rolbypassrls from pg_roles where rolname = current_user`,
      ),
    ).toBe(false)
    for (const text of [
      `copy (select 1) to program 'cat > /tmp/parley-copied'`,
      `create temporary table t as select 1; copy t from program 'id'`,
      `copy (select 1) to '/tmp/parley-copied'`,
      `select pg_read_file('postgresql.conf')`,
      `select pg_ls_dir('.')`,
      `select lo_import('/etc/passwd')`,
      `alter system set fsync = off`,
      `alter role current_user superuser`,
      `alter role parley password 'known'`,
      `set role parley`,
      `select * from pg_authid`,
      `create function f() returns int language c as 'libc', 'getpid'`,
    ]) {
      await expect(client.query(text), text).rejects.toThrow(/permission denied|must be superuser|Only roles with/)
    }
    await expect(bench.connect({ ...postgres.connection, user: 'parley' })).rejects.toThrow(/password authentication/)
  })

  it('owns all that migrations make, also those of the job queue', async () => {
    const postgres = await start(bench.makeFolder())
    expect((await migrate(postgres.connection)).length).toBeGreaterThan(5)
    const client = await bench.connect(postgres.connection)
    expect(await select(client, notOurs)).toBe(0)
  })

  it('is given the database of an earlier version, with all that is in it, and keeps its password', async () => {
    const dataDir = bench.makeFolder()
    let postgres = await start(dataDir)
    const { password } = postgres.connection
    // As it was made by the superuser.
    const admin = await superuserOf(dataDir, postgres)
    await admin.query('alter database parley owner to parley')
    const { user, ...place } = postgres.connection
    await migrate({ ...place, user: 'parley', password: admin.password as string })
    await admin.query(`insert into settings (name, value) values ('kept', 'yes')`)
    await admin.query(`create type mood as enum ('glad')`)
    await postgres.stop()

    for (let again = 0; again < 2; again++) {
      postgres = await start(dataDir)
      expect(postgres.connection).toMatchObject({ user, password })
      const client = await bench.connect(postgres.connection)
      expect(await select(client, notOurs)).toBe(0)
      expect(await select(client, `select value from settings where name = 'kept'`)).toBe('yes')
      // What later migrations do to tables of others is refused.
      await client.query(
        'alter table messages add column if not exists tried int; alter table messages drop column tried',
      )
      await client.query(
        'alter table graphile_worker._private_jobs add column tried int; alter table graphile_worker._private_jobs drop column tried',
      )
      await client.query(`select nextval('message_ids'), nextval('event_ids')`)
      expect(await migrate(postgres.connection)).toEqual([])
      await postgres.stop()
    }
  })
})
