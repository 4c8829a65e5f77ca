import path from 'node:path'
import type { JsonRecord } from '../import/records.ts'
import { readSpan } from './lists.ts'
import { readLines, writeLines } from './ndjson.ts'
import type { Remote } from './remote.ts'

/**
 * Reads which id each message has in the target, and writes the table to ids.ndjson, from the ids of the source.
 * Remembers the ids of all messages.
 * @returns the id in the target of a message of the source
 */
export async function readIds({
  target,
  folder,
  now,
}: {
  readonly target: Remote
  readonly folder: string
  readonly concurrency: number
  /** Epoch seconds. */
  readonly now: number
}): Promise<(id: string) => string | undefined> {
  const byMuid = new Map<string, string>()
  await readSpan(target, { from: 0, to: now + 60, done: false }, '', async (rows) => {
    for (const { muid, id } of rows) if (typeof muid === 'string') byMuid.set(muid, String(id))
  })
  const muids = new Map<string, string>()
  for await (const { id, muid } of readLines(path.join(folder, 'muids.ndjson'))) muids.set(String(id), String(muid))
  const idOf = (id: string) => byMuid.get(muids.get(id) ?? id)
  const sources = new Map<string, string>([...muids].map(([id, muid]) => [muid, id]))
  const table = function* (): Generator<JsonRecord> {
    for (const [muid, to] of byMuid) yield { from: sources.get(muid) ?? muid, to }
  }
  await writeLines(path.join(folder, 'ids.ndjson'), table())
  return idOf
}
