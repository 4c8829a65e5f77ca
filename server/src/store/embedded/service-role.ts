import { createHmac } from 'node:crypto'
import pg from 'pg'
import { databaseName } from './cluster.ts'
import type { EmbeddedLog } from './log.ts'
import type { Connection } from './postmaster.ts'

/** The role that the service works with. It owns the database and what is in it, and is no superuser. */
const serviceRole = 'parley_service'

/** What of the database's own objects belongs to the superuser, as statements that give it to the service's role. */
const statements = `
  select format('alter schema %I owner to ${serviceRole}', n.nspname) as statement
  from pg_namespace n
  where n.nspowner = $1
  and n.nspname !~ '^pg_'
  and n.nspname <> 'information_schema'
  union all
  select format(
    'alter %s %s owner to ${serviceRole}',
    case c.relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view' else 'table' end,
    c.oid::regclass
  )
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where c.relowner = $1
  and c.relkind in ('r', 'p', 'v', 'm', 'S')
  and n.nspname !~ '^pg_'
  and n.nspname <> 'information_schema'
  and not exists (
    -- The sequence of a column follows its table.
    select
    from pg_depend d
    where d.classid = 'pg_class'::regclass
    and d.objid = c.oid
    and d.deptype in ('a', 'i')
    and d.refclassid = 'pg_class'::regclass
    and c.relkind = 'S'
  )
  union all
  select format('alter routine %s owner to ${serviceRole}', p.oid::regprocedure)
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  where p.proowner = $1
  and n.nspname !~ '^pg_'
  and n.nspname <> 'information_schema'
  union all
  select format('alter type %s owner to ${serviceRole}', t.oid::regtype)
  from pg_type t
  join pg_namespace n on n.oid = t.typnamespace
  left join pg_class c on c.oid = t.typrelid
  where t.typowner = $1
  and (t.typtype in ('d', 'e', 'r') or (t.typtype = 'c' and c.relkind = 'c'))
  and n.nspname !~ '^pg_'
  and n.nspname <> 'information_schema'`

/**
 * Gives the database to a role without the rights of a superuser, which could run programs and read files of this machine.
 * A database of an earlier version is handed over with all that is in it. The role's password is derived from that of the
 * superuser, so there is nothing more to keep, and whoever knows it does not know the superuser's.
 *
 * @param superuser connection of the superuser, which nobody else uses from then on
 * @returns the connection of the role
 */
export async function handOver(superuser: Connection, log: EmbeddedLog): Promise<Connection> {
  const password = createHmac('sha256', superuser.password).update(serviceRole).digest('hex')
  // PGSSLMODE is meant for other servers.
  const client = new pg.Client({ ...superuser, ssl: false })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query('select from pg_roles where rolname = $1', [serviceRole])
    const verb = rows.length === 0 ? 'create' : 'alter'
    // The password is hexadecimal, so it needs no quoting. Tests make databases of their own in the same cluster.
    await client.query(`${verb} role ${serviceRole} login nosuperuser createdb password '${password}'`)
    await client.query(`alter database ${databaseName} owner to ${serviceRole}`)
    const owner = await client.query<{ oid: number }>('select oid from pg_roles where rolname = current_user')
    const handed = await client.query<{ statement: string }>(statements, [owner.rows[0]?.oid])
    for (const { statement } of handed.rows) await client.query(statement)
    await client.query('commit')
    if (handed.rows.length > 0) {
      log.info({ objects: handed.rows.length }, 'the database now belongs to a role that is no superuser')
    }
  } finally {
    await client.end()
  }
  return { ...superuser, user: serviceRole, password }
}
