import path from 'node:path'
import type { JsonRecord } from '../import/records.ts'
import { seconds, together } from './compare.ts'
import { createIdMap, type IdMap } from './id-map.ts'
import type { Journal } from './journal.ts'
import { type SpanPage, scanSpan } from './lists.ts'
import { readLines } from './ndjson.ts'
import type { Remote } from './remote.ts'
import type { MoveState } from './state.ts'

/** Which message of the source is which of the target, one a line: `{"from": "17", "to": "42"}`. */
export const idsFile = 'ids.ndjson'

/** In place of an id in the target, for messages of the source that tell of what the target has told by itself. */
export const noCounterpart = '0'

/** What ids.ndjson has. */
export async function readIds(folder: string): Promise<IdMap> {
  const ids = createIdMap()
  for await (const { from, to } of readLines(path.join(folder, idsFile))) ids.add(String(from), String(to))
  return ids
}

/**
 * Reads which id each imported message has in the target, and writes ids.ndjson. The target is in the order of time, and so is the
 * folder but for the few messages that stand behind a later one that they name: only the messages of a second are remembered, and
 * those that are not met there. What was refused since the target has its muid may be there at another second, too, where people
 * send to both services. For all of those, the target is read once more.
 */
export async function learnIds({
  target,
  folder,
  journal,
  now,
  meet = () => undefined,
}: {
  readonly target: Remote
  readonly folder: string
  readonly journal: Journal<MoveState>
  /** Epoch seconds. */
  readonly now: number
  /** Told of each message of the folder that the target has at the same second, with what is there. */
  readonly meet?: (ours: JsonRecord, theirs: JsonRecord) => void
}): Promise<IdMap> {
  const ids = createIdMap()
  const muidOf = (row: JsonRecord) => String(row.muid)
  const unmet = new Map<string, string>()
  let waiting: { from: string; to: string }[] = []
  const flush = async () => {
    const pairs = waiting
    waiting = []
    await journal.append(idsFile, pairs)
  }
  const add = (from: string, to: string) => {
    ids.add(from, to)
    waiting.push({ from, to })
  }
  await journal.clear(idsFile)
  const imported = seconds(inPages(readLines(path.join(folder, 'messages.ndjson'))))
  const all = { from: 0, to: now + 60, done: false }
  const there = seconds(scanSpan(target, all, ''))
  for await (const [ours, theirs] of together(imported, there)) {
    const byMuid = new Map(theirs.map((row) => [muidOf(row), row]))
    for (const row of ours) {
      const found = byMuid.get(muidOf(row))
      if (found === undefined) unmet.set(sayingOf(row), String(row.id))
      else {
        add(String(row.id), String(found.id))
        meet(row, found)
      }
      byMuid.delete(muidOf(row))
    }
    if (waiting.length >= 1000) await flush()
  }
  if (unmet.size > 0)
    for await (const { rows } of scanSpan(target, all, ''))
      for (const row of rows) {
        const [id, saying] = [String(row.id), sayingOf(row)]
        const from = unmet.get(saying)
        if (from === undefined || ids.from(id) !== undefined) continue
        add(from, id)
        unmet.delete(saying)
      }
  await flush()
  return ids
}

/** What is alike in both services where somebody sends to both. The muid alone is not: other people may have chosen it, too. */
function sayingOf({ muid, sender, receiverType, receiver }: JsonRecord): string {
  return JSON.stringify([String(muid), ...[sender, receiverType, receiver].map((name) => String(name).toLowerCase())])
}

async function* inPages(rows: AsyncIterable<JsonRecord>): AsyncGenerator<SpanPage> {
  for await (const row of rows) yield { rows: [row], next: undefined }
}
