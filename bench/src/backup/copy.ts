import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from, to } from 'pg-copy-streams'

/** How long plain COPY takes over one connection, and how much it moves. Seconds, bytes. */
export interface Copied {
  readonly seconds: number
  readonly bytes: number
}

const selectTables = `
  select format('%I.%I', n.nspname, c.relname) as name,
    (
      select string_agg(quote_ident(a.attname), ', ' order by a.attnum)
      from pg_attribute a
      where a.attrelid = c.oid
      and a.attnum > 0
      and not a.attisdropped
      and a.attgenerated = ''
    ) as columns
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r'
  and n.nspname in ('public', 'notification_days')
  order by pg_table_size(c.oid) desc`

/** Reads all tables, and throws away what comes. */
export async function copyOut(database: pg.ClientConfig): Promise<Copied> {
  return withClient(database, async (client) => {
    const { rows: tables } = await client.query<{ name: string; columns: string }>(selectTables)
    const begun = performance.now()
    let bytes = 0
    for (const { name, columns } of tables) {
      const rows = client.query(to(`copy ${name} (${columns}) to stdout`))
      rows.on('data', (chunk: Buffer) => (bytes += chunk.length))
      await once(rows, 'end')
    }
    return { seconds: (performance.now() - begun) / 1000, bytes }
  })
}

/** Reads the messages and writes them into a table like theirs, without an index or trigger, as they come. */
export async function copyIn(database: pg.ClientConfig): Promise<Copied> {
  return withClient(database, (client) =>
    withClient(database, async (other) => {
      await other.query('create table bench_copy (like messages)')
      try {
        let bytes = 0
        const counted = new PassThrough()
        counted.on('data', (chunk: Buffer) => (bytes += chunk.length))
        const begun = performance.now()
        const rows = client.query(to('copy (select * from messages) to stdout'))
        await pipeline(rows, counted, other.query(from('copy bench_copy from stdin')))
        return { seconds: (performance.now() - begun) / 1000, bytes }
      } finally {
        await other.query('drop table bench_copy')
      }
    }),
  )
}

async function withClient<T>(database: pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(database)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
