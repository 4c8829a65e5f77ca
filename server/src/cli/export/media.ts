import { mkdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { pathOf } from '../../media/path.ts'
import { type Pace, writeInSteps } from '../../media/steps.ts'
import type { FileStore } from '../../media/storage.ts'

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
}

/**
 * Copies files out of the storage into a folder; those that are there in their size are not copied again.
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
  if (files.length > 0) await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const { key, size } of files) {
    if (signal.aborted) break
    const target = path.join(folder, key)
    if ((await sizeOf(target)) === size) {
      there += 1
      continue
    }
    const part = `${target}.part`
    try {
      await writeInSteps(part, await storage.read(pathOf(appId, key), undefined), pace)
    } catch (error) {
      await rm(part, { force: true })
      if ((await storage.sizeOf(pathOf(appId, key))) !== undefined) throw error
      missing.push(key)
      continue
    }
    if ((await sizeOf(part)) !== size) missing.push(key)
    await rename(part, target)
    copied += 1
    bytes += size
  }
  return { copied, there, bytes, missing }
}

export async function sizeOf(file: string): Promise<number | undefined> {
  return (await stat(file).catch(() => undefined))?.size
}
