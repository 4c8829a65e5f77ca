import { isUtf8 } from 'node:buffer'
import { createReadStream, type ReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type ImportKind, importKinds } from '@parley/contract'
import { exitCodes, ImportFailure } from './failure.ts'

/** Bytes that the body of one request may have. */
export const maxBodyBytes = 8 * 1024 * 1024

/** A longer line is no record: one body of a request must hold it, with what stands around it. */
const maxLineBytes = maxBodyBytes - 100

/** One line of an input file, counted from 1. Blank lines are left out. */
export interface Line {
  readonly number: number
  /** Undefined where the line cannot be taken as text; `problem` says why. */
  readonly text: string | undefined
  readonly bytes: number
  readonly problem?: string
}

/** One file of records, one JSON object a line, plain or gzipped. It is streamed, and can be read more than once. */
export interface InputFile {
  readonly kind: ImportKind
  readonly path: string
  /** Size on disk in bytes: compressed, where the file is. */
  readonly size: number
  /** The lines, as many at a time as come out of one chunk of the file. */
  lines(): AsyncGenerator<readonly Line[]>
  /** Bytes that the latest reading has taken from the disk. */
  bytesRead(): number
}

/**
 * Finds `users`, `groups`, `members` and `messages.ndjson` or `.ndjson.gz` in the folder, in the order of importing.
 * @throws ImportFailure when there is none of them, or one both plain and gzipped.
 */
export async function findInputFiles(folder: string): Promise<InputFile[]> {
  const found: InputFile[] = []
  for (const kind of importKinds) {
    const names = [`${kind}.ndjson`, `${kind}.ndjson.gz`]
    const files = await Promise.all(names.map((name) => openInput(kind, path.join(folder, name))))
    const [first, second] = files.filter((file) => file !== undefined)
    if (second !== undefined) {
      throw new ImportFailure(exitCodes.usage, `${folder} has both ${names.join(' and ')}: which one is meant?`)
    }
    if (first !== undefined) found.push(first)
  }
  if (found.length > 0) return found
  const names = importKinds.map((kind) => `${kind}.ndjson`).join(', ')
  throw new ImportFailure(exitCodes.usage, `${folder} has no file to import: none of ${names}, plain or with .gz`)
}

async function openInput(kind: ImportKind, file: string): Promise<InputFile | undefined> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw new ImportFailure(exitCodes.usage, `${file} cannot be read: ${error.message}`)
  })
  if (found === undefined || !found.isFile()) return undefined
  let source: ReadStream | undefined
  return {
    kind,
    path: file,
    size: found.size,
    bytesRead: () => source?.bytesRead ?? 0,
    async *lines() {
      source = createReadStream(file, { highWaterMark: 256 * 1024 })
      try {
        yield* splitLines(file.endsWith('.gz') ? unzip(source) : source)
      } catch (error) {
        throw new ImportFailure(exitCodes.refused, `${file} cannot be read to its end: ${(error as Error).message}`)
      }
    },
  }
}

function unzip(source: ReadStream): AsyncIterable<Buffer> {
  // The callback has nothing to do: an error destroys the last stream with it, and whoever reads that one gets it.
  return pipeline(source, createGunzip({ chunkSize: 256 * 1024 }), () => undefined)
}

async function* splitLines(source: AsyncIterable<Buffer>): AsyncGenerator<readonly Line[]> {
  let number = 0
  let pieces: Buffer[] = []
  let bytes = 0

  const keep = (piece: Buffer) => {
    bytes += piece.length
    if (bytes <= maxLineBytes) pieces.push(piece)
    else pieces = []
  }
  const finishLine = (lines: Line[]) => {
    number += 1
    const line = toLine(number, pieces, bytes)
    pieces = []
    bytes = 0
    if (line !== undefined) lines.push(line)
  }

  for await (const chunk of source) {
    const lines: Line[] = []
    let start = 0
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      keep(chunk.subarray(start, end))
      finishLine(lines)
      start = end + 1
    }
    if (start < chunk.length) keep(chunk.subarray(start))
    if (lines.length > 0) yield lines
  }
  const last: Line[] = []
  if (bytes > 0) finishLine(last)
  if (last.length > 0) yield last
}

function toLine(number: number, pieces: readonly Buffer[], bytes: number): Line | undefined {
  if (bytes > maxLineBytes) {
    const problem = `the line is longer than 8 MB; the file must have one record a line`
    return { number, text: undefined, bytes, problem }
  }
  const whole = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  if (!isUtf8(whole)) return { number, text: undefined, bytes, problem: 'the line is not UTF-8 text' }
  // trim also takes the byte order mark and the carriage return that some systems write.
  const text = whole.toString('utf8').trim()
  return text === '' ? undefined : { number, text, bytes }
}
