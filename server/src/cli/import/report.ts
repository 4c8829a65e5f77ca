import { constants } from 'node:fs'
import { access, rm } from 'node:fs/promises'
import path from 'node:path'
import { exitCodes, ImportFailure } from './failure.ts'
import { createLineFile, type LineFile } from './line-file.ts'
import type { Refusal } from './records.ts'

/** The file of refused records. */
export type Report = LineFile<Refusal>

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
  // Refused records may hold messages and passwords: nobody else reads the file.
  return createLineFile(file, (error) => cannotWrite(file, error, exitCodes.refused))
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
