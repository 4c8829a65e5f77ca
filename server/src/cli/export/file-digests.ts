import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { readLines } from '../lines.ts'
import { type WrittenFile, writeWhole } from './write.ts'

/** What is in each file of `files/`, a record each. A file that was copied twice has two, of which the last counts. */
export const digestsName = 'file-digests.ndjson'

export interface FileDigest {
  readonly key: string
  readonly size: number
  readonly sha256: string
}

/** The digests of an export that is being made. */
export interface DigestList {
  /** What an export that was interrupted has written of a file. */
  of(key: string): FileDigest | undefined
  /** To be called before the file has its name: what has a name and no digest is copied again. */
  add(file: FileDigest): Promise<void>
  finish(): Promise<WrittenFile>
  abandon(): Promise<void>
}

/** Opens the digests of a folder, or goes on with those there. @param keys of the files that there are */
export async function openDigests(folder: string, keys: ReadonlySet<string>): Promise<DigestList> {
  const known = new Map([...(await readDigests(folder))].filter(([key]) => keys.has(key)))
  await writeWhole(folder, digestsName, [...known.values()].map(toLine).join(''))
  const file = path.join(folder, digestsName)
  const handle = await open(file, 'a', 0o600)
  let added = 0
  return {
    of: (key) => known.get(key),
    async add(digest) {
      await handle.appendFile(toLine(digest))
      added += 1
    },
    async finish() {
      await handle.sync()
      const { size } = await handle.stat()
      await handle.close()
      return { records: known.size + added, bytes: size, sha256: await digestOf(file) }
    },
    abandon: () => handle.close(),
  }
}

/** The digests that a folder has, by the keys of their files. */
export async function readDigests(folder: string): Promise<ReadonlyMap<string, FileDigest>> {
  const digests = new Map<string, FileDigest>()
  try {
    for await (const line of readLines(path.join(folder, digestsName))) {
      const digest = parse(line)
      if (digest !== undefined) digests.set(digest.key, digest)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return digests
}

/** The digest of a file's content, in hexadecimal. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/** Passes on what comes, and gives its digest in the end. */
export async function* hashing(
  content: AsyncIterable<Buffer>,
  take: (sha256: string) => void,
): AsyncGenerator<Buffer, void> {
  const hash = createHash('sha256')
  for await (const chunk of content) {
    hash.update(chunk)
    yield chunk
  }
  take(hash.digest('hex'))
}

function toLine({ key, size, sha256 }: FileDigest): string {
  return `${JSON.stringify({ key, size, sha256 })}\n`
}

/** @returns undefined for a line that was cut off */
function parse(line: string): FileDigest | undefined {
  try {
    return JSON.parse(line) as FileDigest
  } catch {
    return undefined
  }
}
