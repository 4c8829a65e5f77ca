import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { closedMarker } from '../store/migrate.ts'
import { quoted, schemas } from './catalog.ts'

/** What stands in the database that is to be filled. */
export type Standing = 'empty' | 'unfinished' | 'data'

const selectObjects = `
  select c.relname as name
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($1)
  and c.relkind in ('r', 'p', 'v', 'm', 'S')
  and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')`

const jobSchema = 'graphile_worker'

export async function standingOf(client: pg.ClientBase): Promise<Standing> {
  const { rows } = await client.query<{ name: string }>(selectObjects, [[...schemas, jobSchema]])
  if (rows.length === 0) return 'empty'
  if (!rows.some(({ name }) => name === closedMarker)) return 'data'
  const marker = await client.query(`select from ${closedMarker} where is_whole`)
  return marker.rows.length > 0 ? 'data' : 'unfinished'
}

/** @returns why no service starts on this database; undefined where one does */
export async function reasonClosed(client: pg.ClientBase): Promise<string | undefined> {
  const { rows } = await client.query(`select to_regclass('${closedMarker}') is not null as there`)
  if (!rows[0].there) return undefined
  return (await client.query<{ why: string }>(`select why from ${closedMarker}`)).rows[0]?.why
}

const countServices = `
  select count(*)::int as count
  from pg_stat_activity
  where datname = current_database()
  and pid <> pg_backend_pid()
  and application_name like 'parley%'
  and application_name <> all($1)`

/** A process that has just ended is still there for a moment. */
const patienceMs = 3_000

/** Does a process of the service use this database? @param except names of connections that do not count */
export async function isServed(client: pg.ClientBase, except: readonly string[] = []): Promise<boolean> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const { rows } = await client.query<{ count: number }>(countServices, [except])
    if (rows[0]?.count === 0) return false
    if (performance.now() > deadline) return true
    await delay(50)
  }
}

const selectDrops = `
  select format('drop table if exists %I.%I cascade', n.nspname, c.relname) as statement
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'public'
  and c.relkind in ('r', 'p')
  and c.relname <> '${closedMarker}'
  and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
  union all
  select format('drop sequence if exists %I.%I cascade', n.nspname, c.relname)
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'public'
  and c.relkind = 'S'
  union all
  select format('drop function if exists %s cascade', p.oid::regprocedure)
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = 'public'
  and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`

/** Removes everything that the service has in this database, but what keeps it from being served. */
export async function clear(client: pg.ClientBase): Promise<void> {
  for (const schema of [...schemas.filter((name) => name !== 'public'), jobSchema]) {
    await client.query(`drop schema if exists ${quoted(schema)} cascade`)
  }
  const { rows } = await client.query<{ statement: string }>(selectDrops)
  for (const { statement } of rows) await client.query(statement)
}

/**
 * From now on no service starts on this database.
 * @param why what it says instead
 * @param isWhole what is there is of use, and nothing is written over it without a word
 */
export async function close(client: pg.ClientBase, why: string, isWhole: boolean): Promise<void> {
  await client.query(`create table if not exists ${closedMarker} (why text not null, is_whole boolean not null)`)
  await client.query(`truncate ${closedMarker}`)
  await client.query(`insert into ${closedMarker} (why, is_whole) values ($1, $2)`, [why, isWhole])
}

export async function open(client: pg.ClientBase): Promise<void> {
  await client.query(`drop table ${closedMarker}`)
}
