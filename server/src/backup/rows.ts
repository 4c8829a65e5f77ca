import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { Pace } from '../media/steps.ts'
import { nameOf, quoted, type Table } from './catalog.ts'

/** Blocks of a table that are read first, and how much more may be read at once where there is little in them. */
const blocksAtFirst = 8
const blockBytes = 8192
const mostEmpty = 8

const selectBlocks = `
  select pg_relation_size($1::regclass) / current_setting('block_size')::int as blocks`

/**
 * Reads the rows of a table as COPY writes them, in the order in which they lie there, a few blocks at a time: between two of these the
 * database does nothing, where one COPY would go on by itself until all buffers are full.
 * @param client in a transaction that sees one moment: what it sees lies in the blocks that there are now
 */
export async function* rowsOf(client: pg.Client, table: Table, pace: Pace): AsyncGenerator<Buffer> {
  // From now on nobody moves rows elsewhere.
  await client.query(`lock table ${nameOf(table)} in access share mode`)
  const { rows } = await client.query<{ blocks: number }>(selectBlocks, [nameOf(table)])
  const blocks = Number(rows[0]?.blocks)
  let count = blocksAtFirst
  for (let from = 0; from < blocks; ) {
    const to = Math.min(blocks, from + count)
    const piece = await pace.step(async () =>
      Buffer.concat(await client.query(copyTo(copyOf(table, from, to))).toArray()),
    )
    count = nextCount(to - from, piece.length, pace.bytesAtOnce)
    from = to
    if (piece.length > 0) yield piece
  }
}

function copyOf(table: Table, from: number, to: number): string {
  return `copy (
    select ${table.columns.map(quoted).join(', ')}
    from ${nameOf(table)}
    where ctid >= '(${from},0)'
    and ctid < '(${to},0)'
  ) to stdout`
}

/** How many blocks bring about as much as wanted, if they are like those that were read. */
function nextCount(blocks: number, bytes: number, wanted: number): number {
  const most = Math.ceil((wanted / blockBytes) * mostEmpty)
  return Math.max(1, Math.min(most, Math.round((blocks * wanted) / Math.max(1, bytes))))
}
