import { constants } from 'node:fs'
import { access, type FileHandle, open, rm } from 'node:fs/promises'
import path from 'node:path'
import { exitCodes, ImportFailure } from './failure.ts'
import type { Refusal } from './records.ts'

/** The file of refused records, one JSON object a line. */
export interface Report {
  readonly path: string
  /** Lines written so far. */
  readonly lines: number
  /** Adds one line for each record; the first one makes the file. */
  write(refusals: readonly Refusal[]): Promise<void>
  close(): Promise<void>
}

const defaultName = 'import-refused.ndjson'

/**
 * Opens the report: the file that was asked for, else one beside the input, else, where that folder cannot be written,
 * one in the working directory. What an earlier run left there is removed; the file comes with the first refused record.
 */
export async function openReport(
  wanted: string | undefined,
  folder: string,
  cwd: string,
  inputs: readonly string[],
  note: (text: string) => void,
): Promise<Report> {
  const file = wanted === undefined ? await chooseDefault(folder, cwd, note) : path.resolve(cwd, wanted)
  if (inputs.includes(file)) throw new ImportFailure(exitCodes.usage, `the report ${file} would overwrite the input`)
  await access(path.dirname(file), constants.W_OK).catch((error: Error) => cannotWrite(file, error, exitCodes.usage))
  await rm(file, { force: true }).catch((error: Error) => cannotWrite(file, error, exitCodes.usage))

  let handle: FileHandle | undefined
  let lines = 0
  let writing: Promise<void> = Promise.resolve()
  const append = async (refusals: readonly Refusal[]) => {
    // Refused records may hold messages and passwords, so that only the owner may read them.
    handle ??= await open(file, 'w', 0o600)
    await handle.appendFile(refusals.map((refusal) => `${JSON.stringify(refusal)}\n`).join(''))
    lines += refusals.length
  }
  return {
    path: file,
    get lines() {
      return lines
    },
    write(refusals) {
      if (refusals.length === 0) return Promise.resolve()
      writing = writing
        .then(() => append(refusals))
        .catch((error: Error) => cannotWrite(file, error, exitCodes.refused))
      return writing
    },
    async close() {
      await handle?.close()
    },
  }
}

async function chooseDefault(folder: string, cwd: string, note: (text: string) => void): Promise<string> {
  const isWritable = await access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )
  if (isWritable) return path.join(folder, defaultName)
  const fallback = path.join(cwd, defaultName)
  note(`${folder} cannot be written; refused records will go to ${fallback}`)
  return fallback
}

function cannotWrite(file: string, error: Error, exitCode: 1 | 2): never {
  if (error instanceof ImportFailure) throw error
  throw new ImportFailure(exitCode, `the report ${file} cannot be written: ${error.message}`)
}
