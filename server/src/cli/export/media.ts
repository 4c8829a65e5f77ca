import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { pathOf } from '../../media/path.ts'
import { type Pace, writeInSteps } from '../../media/steps.ts'
import type { FileStore } from '../../media/storage.ts'
import { type FileDigest, hashing, openDigests } from './file-digests.ts'
import type { WrittenFile } from './write.ts'

/** How addresses of the app's own files stand in an export; the service that they move to makes its own of them. */
const portableOrigin = 'https://media.invalid/'

/** Scheme, host and port: what a service puts before the path of a file. Anything else may stand before it in the same word. */
const anyOrigin = 'https?://(?:[\\p{L}\\p{M}\\p{N}._-]+|\\[[0-9A-Fa-f:.]+\\])(?::\\d{1,5})?'

/** Makes addresses of the app's files portable, whatever host they were reached by. @param keys of the files that there are */
export function makePortable(app: string, keys: ReadonlySet<string>): (line: string) => string {
  const mark = `/media/${app}/`
  const address = new RegExp(`${anyOrigin}/media/${app}/([0-9a-f]{32})/`, 'gu')
  return (line) =>
    line.includes(mark)
      ? line.replace(address, (whole, key: string) => (keys.has(key) ? `${portableOrigin}${key}/` : whole))
      : line
}

/** The same back. @param origin scheme and host by which clients reach the service */
export function makeOwn(app: string, origin: string): (line: string) => string {
  const address = /https:\/\/media\.invalid\/([0-9a-f]{32})\//g
  return (line) => (line.includes(portableOrigin) ? line.replace(address, `${origin}/media/${app}/$1/`) : line)
}

export interface CopiedFiles {
  readonly copied: number
  readonly there: number
  readonly bytes: number
  /** Keys of files that the storage does not have any more, or has in another size. */
  readonly missing: readonly string[]
  /** The list of digests. */
  readonly digests: WrittenFile
}

/**
 * Copies files out of the storage into the folder `files/` of an export, with the digests of all. What an interrupted export has copied is
 * not copied again, if it still is what it was.
 * @throws what the storage or the folder throws, but of a file that the storage does not have
 */
export async function copyOut(
  storage: Pick<FileStore, 'read' | 'sizeOf'>,
  appId: number,
  files: readonly { readonly key: string; readonly size: number }[],
  folder: string,
  { pace, signal }: { readonly pace: Pace; readonly signal: AbortSignal },
): Promise<CopiedFiles> {
  const missing: string[] = []
  let [copied, there, bytes] = [0, 0, 0]
  if (files.length > 0) await mkdir(path.join(folder, 'files'), { recursive: true, mode: 0o700 })
  const digests = await openDigests(folder, new Set(files.map(({ key }) => key)))
  try {
    for (const { key, size } of files) {
      if (signal.aborted) break
      const target = path.join(folder, 'files', key)
      if (await isWhole(target, size, digests.of(key), pace)) {
        there += 1
        continue
      }
      const part = `${target}.part`
      let sha256 = ''
      try {
        const content = hashing(await storage.read(pathOf(appId, key), undefined), (digest) => {
          sha256 = digest
        })
        await writeInSteps(part, content, pace)
      } catch (error) {
        await rm(part, { force: true })
        if ((await storage.sizeOf(pathOf(appId, key))) !== undefined) throw error
        missing.push(key)
        continue
      }
      if ((await sizeOf(part)) === size) await digests.add({ key, size, sha256 })
      else missing.push(key)
      await rename(part, target)
      copied += 1
      bytes += size
    }
    return { copied, there, bytes, missing, digests: await digests.finish() }
  } catch (error) {
    await digests.abandon()
    throw error
  }
}

/** Whether a file is there as it was copied. */
async function isWhole(file: string, size: number, digest: FileDigest | undefined, pace: Pace): Promise<boolean> {
  if (digest === undefined || digest.size !== size || (await sizeOf(file)) !== size) return false
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { highWaterMark: pace.bytesAtOnce }))
    await pace.step(async () => hash.update(chunk as Buffer))
  return hash.digest('hex') === digest.sha256
}

export async function sizeOf(file: string): Promise<number | undefined> {
  return (await stat(file).catch(() => undefined))?.size
}
