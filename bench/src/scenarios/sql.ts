import { type Bench, times } from '../bench.ts'
import { repeatSql } from '../load/sql.ts'
import type { Run, Scenario } from '../measure.ts'
import { text } from '../requests.ts'

/**
 * Bare limits of the database: the rows of messages written by plain SQL, nothing checked and nothing else kept, into a
 * copy of the table with all its indexes. Each statement is a transaction, as durable as those of the service.
 */
export function plainSql(bench: Bench): Scenario[] {
  return [
    {
      id: 'sql-1',
      name: 'Plain SQL, messages as single inserts, 64 connections (bare limit)',
      run: () => insertRows(bench, { connections: 64, batch: 1, imported: false }),
    },
    {
      id: 'sql-128',
      name: 'Plain SQL, messages in inserts of 128, 2 connections (bare limit)',
      run: () => insertRows(bench, { connections: 2, batch: 128, imported: false }),
    },
    {
      id: 'sql-1000',
      name: 'Plain SQL, messages with muids in inserts of 1,000, 2 connections (bare limit)',
      run: () => insertRows(bench, { connections: 2, batch: 1000, imported: true }),
    },
  ]
}

export async function preparePlainSql({ database }: Bench): Promise<void> {
  await database.query('create table bench_messages (like messages including all)')
  await database.query('create sequence bench_ids')
}

const columns = `
    app_id, id, conversation, sender, kind, receiver, category, type, data, traits, countable, sent_at, updated_at`

const insertOne = `
  insert into bench_messages (${columns})
  values (1, nextval('bench_ids'), $1, $2, 1, $3, 'message', 'text', $4, 0, true, $5, $5)`

const insertMany = `
  insert into bench_messages (${columns})
  select 1, nextval('bench_ids'), r.conversation, r.sender, 1, r.receiver, 'message', 'text', r.data, 0, true, $5, $5
  from unnest($1::bigint[], $2::text[], $3::text[], $4::json[]) as r(conversation, sender, receiver, data)`

/** As an import stores them: each with the id that its former system gave it. */
const insertImported = `
  insert into bench_messages (${columns}, imported, muid)
  select 1, m.id, r.conversation, r.sender, 1, r.receiver, 'message', 'text', r.data, 0, true, $5, $5, true, 'm' || m.id
  from unnest($1::bigint[], $2::text[], $3::text[], $4::json[]) as r(conversation, sender, receiver, data)
  cross join lateral (select nextval('bench_ids') as id where r.sender is not null) m`

interface Shape {
  readonly connections: number
  /** Rows in one statement. */
  readonly batch: number
  readonly imported: boolean
}

function insertRows(bench: Bench, { connections, batch, imported }: Shape): Promise<Run> {
  const text = batch === 1 ? insertOne : imported ? insertImported : insertMany
  const values = times(connections, (c) => times(8, (i) => parametersOf(batch, c * 8 + i)))
  return repeatSql(bench, { name: 'insert', text }, values, { rowsEach: batch })
}

const conversations = 256

/** Made before measuring, arrays as text too, so that the limit is PostgreSQL's and not that of this process. */
function parametersOf(size: number, offset: number): unknown[] {
  const rows = times(size, (i) => {
    const conversation = (offset * size + i) % conversations
    return [conversation, `p${conversation}-0-a`, `p${conversation}-0-b`, JSON.stringify({ text })] as const
  })
  const sentAt = Math.floor(Date.now() / 1000)
  const [first] = rows
  if (size === 1 && first !== undefined) return [...first, sentAt]
  const column = (i: 0 | 1 | 2 | 3) => `{${rows.map((row) => JSON.stringify(String(row[i]))).join(',')}}`
  return [column(0), column(1), column(2), column(3), sentAt]
}
