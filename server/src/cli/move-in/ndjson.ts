import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { rename, stat } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import type { JsonRecord } from '../import/records.ts'
import { readLines as readTexts } from '../lines.ts'

/** The records of a file, one a line; none where there is no such file. */
export async function* readLines(file: string): AsyncGenerator<JsonRecord> {
  const found = await stat(file).catch(() => undefined)
  if (found === undefined) return
  for await (const line of readTexts(file)) if (line !== '') yield JSON.parse(line) as JsonRecord
}

/** Writes a file anew, only for its owner; it bears its name when it is whole. @returns the number of records */
export async function writeLines(file: string, records: AsyncIterable<object> | Iterable<object>): Promise<number> {
  const stream = createWriteStream(`${file}.tmp`, { mode: 0o600 })
  let written = 0
  for await (const record of records) {
    written += 1
    if (!stream.write(`${JSON.stringify(record)}\n`)) await once(stream, 'drain')
  }
  stream.end()
  await finished(stream)
  await rename(`${file}.tmp`, file)
  return written
}
