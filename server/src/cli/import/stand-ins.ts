import { importChecks } from '@parley/contract'
import { linksOf } from '../../areas/data-import/index.ts'
import { createDigestSet } from './digest.ts'
import { ImportFailure } from './failure.ts'
import type { InputFile } from './input.ts'
import { type JsonRecord, makeRecordReader, type ReadRecord } from './records.ts'

/** What they are called who take the place of users who were deleted for good. */
export const standInName = 'Deleted user'

/** A record of an import that makes somebody in place of a user who was deleted for good. @param now epoch seconds */
export function standInOf(uid: string, now: number): JsonRecord {
  return { uid, name: standInName, deactivatedAt: now }
}

/**
 * Makes a file of the users whom the messages of an export need and the export does not have: those who were deleted for good, of
 * whom only messages are left. Undefined where there are none.
 * @param now epoch seconds
 */
export async function makeStandIns(
  users: InputFile | undefined,
  messages: InputFile,
  { signal, now }: { readonly signal: AbortSignal; readonly now: number },
): Promise<InputFile | undefined> {
  const known = createDigestSet()
  const missing = new Set<string>()
  if (users !== undefined) for await (const { key } of recordsOf(users, signal)) known.add(key.toLowerCase())
  for await (const { record } of recordsOf(messages, signal)) {
    if (importChecks.messages(record, { now }).length > 0) continue
    for (const { collection, id } of linksOf('messages', record).needed)
      if (collection === 'users' && !known.has(id)) missing.add(id)
  }
  return missing.size === 0 ? undefined : fileOf([...missing].map((uid) => standInOf(uid, now)))
}

/** The records of a file of an export that are sent. Where it is damaged, so finds whoever reads it then. */
async function* recordsOf(file: InputFile, signal: AbortSignal): AsyncGenerator<ReadRecord> {
  const read = makeRecordReader(file.kind, { isExport: true })
  try {
    for await (const lines of file.lines()) {
      if (signal.aborted) return
      for (const line of lines) {
        const result = read(line)
        if ('record' in result) yield result
      }
    }
  } catch (error) {
    if (!(error instanceof ImportFailure)) throw error
  }
}

function fileOf(records: readonly JsonRecord[]): InputFile {
  const lines = records.map((record, place) => {
    const text = JSON.stringify(record)
    return { number: place + 1, text, bytes: Buffer.byteLength(text) }
  })
  const size = lines.reduce((sum, { bytes }) => sum + bytes, 0)
  return {
    ...{ kind: 'users', path: 'users who were deleted for good', size },
    bytesRead: () => size,
    async *lines() {
      yield lines
    },
  }
}
