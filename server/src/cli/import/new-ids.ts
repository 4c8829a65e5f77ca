import { constants } from 'node:fs'
import { access, open, rm } from 'node:fs/promises'
import path from 'node:path'
import { isOfMove } from '../move-in/journal.ts'
import { createLineFile, type LineFile } from './line-file.ts'

/** Which message got which id, where the service drew new ones: `{"from": "17", "to": "42"}`, one a line. */
export type NewIds = LineFile<{ readonly from: string; readonly to: string }>

/**
 * Opens the table: beside the input, or, where that folder cannot be written, in the working directory. That of an earlier run is
 * replaced, since each run learns the id of every message; a table of something else, or of a move, which has the same form, is left
 * alone.
 */
export async function openNewIds(folder: string, cwd: string): Promise<NewIds> {
  const isWritable = await access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )
  const beside = isWritable ? folder : cwd
  const isOurs = (await hasPairs(path.join(beside, 'ids.ndjson'))) && !(await isOfMove(beside))
  const file = path.join(beside, isOurs ? 'ids.ndjson' : 'import-ids.ndjson')
  await rm(file, { force: true })
  return createLineFile(file, (error) => {
    throw error
  })
}

/** Whether a file has such pairs, or is not there. */
async function hasPairs(file: string): Promise<boolean> {
  const handle = await open(file).catch(() => undefined)
  if (handle === undefined) return true
  const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(1000), position: 0 })
  await handle.close()
  return /^\{"from":"(?:[^"\\]|\\.)*","to":/.test(buffer.toString('utf8', 0, bytesRead))
}
