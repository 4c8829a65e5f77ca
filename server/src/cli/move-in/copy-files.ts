import { openAsBlob } from 'node:fs'
import path from 'node:path'
import { FormData, fetch, request } from 'undici'
import { unsigned } from '../../media/links.ts'
import { exitCodes, ImportFailure } from '../import/failure.ts'
import type { JsonRecord } from '../import/records.ts'
import { errorOf, readRetryAfter } from '../import/request.ts'
import type { ImportIo } from '../import/run.ts'
import { openDownloads } from './files.ts'
import { each, forEach } from './for-each.ts'
import type { Journal } from './journal.ts'
import { filesOf, type SourceFile } from './named-files.ts'
import { readLines } from './ndjson.ts'
import type { Notices } from './notices.ts'
import type { MoveOptions } from './options.ts'
import { firstWait, longestWait, nameOf, patience, type Remote } from './remote.ts'
import { type MoveState, sourceFiles } from './state.ts'

interface Copying {
  readonly options: MoveOptions
  readonly io: ImportIo
  readonly folder: string
  readonly journal: Journal<MoveState>
  readonly target: Remote | undefined
  readonly notices: Notices
  /** Those to copy; by default those of all messages that were read. */
  readonly files?: readonly SourceFile[]
  /** New addresses by old ones, to which those of this copy are added; read from the folder where they are not given. */
  readonly known?: Map<string, string>
}

const uploaded = 'uploaded.ndjson'

/**
 * Milliseconds after which a file is uploaded anew rather than handed to an import that has yet to begin: a file that no
 * message uses is removed after a day, and the import takes its time, too.
 */
const longestUnused = 12 * 3600_000

/**
 * Copies the files that messages name into the folder, and from there to the target, where there is one. What an earlier
 * run has copied is not copied again, as long as the target has it.
 * @returns the new addresses by the old ones
 */
export async function copyFiles({ options, io, folder, journal, target, notices, files, known }: Copying) {
  const counts = { copied: 0, bytes: 0, uploaded: 0, failed: 0 }
  const receiver = await someone(folder)
  const uploads = known === undefined ? await readUploads(folder, target, journal.state) : new Map<string, Upload>()
  const addresses = known ?? addressesOf(uploads)
  const all = () => (files === undefined ? distinctFiles(folder, journal.state) : each(distinct(files)))
  const atOnce = Math.min(8, options.concurrency)
  const began = io.clock.now()
  const downloads = openDownloads({
    folder,
    source: { url: options.from, apiKey: options.apiKey, app: options.fromApp },
    mostBytes: options.mostFileBytes,
    env: io.env,
    ...{ signal: io.signal, clock: io.clock },
  })
  const copy = async (file: SourceFile) => {
    if (io.signal.aborted) throw new ImportFailure(exitCodes.interrupted, 'stopped')
    const found = await downloads.fetch(file)
    if (!('problem' in found)) return found
    counts.failed += 1
    notices.add('file-not-copied', `${file.url}: ${found.problem}`)
    return undefined
  }
  /** @returns whether the target has taken it */
  const give = async (to: Remote, file: SourceFile, found: { readonly file: string; readonly size: number }) => {
    const { address, problem } = await upload(to, receiver, { ...found, file: path.join(folder, found.file) }, file, io)
    if (address === undefined) {
      counts.failed += 1
      notices.add('file-without-storage', `${file.url}: ${problem}`)
      return false
    }
    counts.uploaded += 1
    const at = io.clock.now()
    const app = options.target?.app ?? ''
    await journal.append(uploaded, [{ url: file.url, address, to: to.url, app, at: Math.floor(at / 1000) }], () => {
      addresses.set(file.url, address)
      uploads.set(file.url, { address, at })
    })
    return true
  }
  // Messages that the target may have use their files, so that these stay.
  const mayBeUsed = files !== undefined || (target !== undefined && journal.state.handedTo?.includes(target.name))
  /** Whether a file that was uploaded is still there when its message comes; undefined where nobody knows. */
  const stays = async (file: SourceFile, address: string): Promise<boolean | undefined> => {
    const { at } = uploads.get(file.url) ?? {}
    const isYoung = at !== undefined && io.clock.now() - at < longestUnused
    if (isYoung && at >= began) return true
    const served = await isServed(address, io)
    if (served === false || mayBeUsed || isYoung) return served !== false
    return at === undefined && served === true ? true : undefined
  }
  try {
    await forEach(all(), atOnce, async (file) => {
      const found = await copy(file)
      if (found === undefined) return
      counts.copied += 1
      counts.bytes += found.size
      if (target !== undefined && !addresses.has(file.url)) await give(target, file, found)
    })
    // Nobody knows how long that took, nor how long ago the run before was.
    if (target !== undefined)
      await forEach(all(), atOnce, async (file) => {
        const address = addresses.get(file.url)
        if (address === undefined) return
        const isThere = await stays(file, address)
        if (isThere === true) return
        const found = await copy(file)
        const isGiven = found !== undefined && (await give(target, file, found))
        if (!isGiven && isThere === false) addresses.delete(file.url)
      })
  } finally {
    await downloads.close()
    await journal.save()
  }
  return { addresses, counts }
}

/**
 * Whether the target serves a file; undefined where it does not tell, since the address has expired.
 * @throws ImportFailure where it does not answer
 */
async function isServed(
  address: string,
  { clock, signal }: Pick<ImportIo, 'clock' | 'signal'>,
): Promise<boolean | undefined> {
  const started = clock.now()
  let limitedFor = 0
  for (let attempt = 0; ; attempt++) {
    if (signal.aborted) throw new ImportFailure(exitCodes.interrupted, 'stopped')
    const answer = await request(address, { method: 'HEAD', signal }).catch((error: Error) => error)
    if (!(answer instanceof Error)) await answer.body.dump()
    const status = answer instanceof Error ? undefined : answer.statusCode
    if (status === 404) return false
    if (status !== undefined && status !== 429 && status < 500) return status < 300 ? true : undefined
    const wanted = answer instanceof Error ? undefined : readRetryAfter(answer.headers)
    const delay = wanted ?? Math.min(longestWait, firstWait * 2 ** attempt)
    if (status === 429) limitedFor += delay
    if (clock.now() + delay - started - limitedFor > patience) {
      const problem = answer instanceof Error ? `cannot be reached (${answer.message})` : `answered ${status}`
      throw new ImportFailure(exitCodes.unreachable, `${new URL(address).origin} ${problem}; gave up`)
    }
    await clock.sleep(delay, signal).catch(() => undefined)
  }
}

interface Upload {
  readonly address: string
  /** Milliseconds; undefined where the run that did it did not write it down. */
  readonly at: number | undefined
}

/** Files that were copied to a target, by their old addresses. */
async function readUploads(folder: string, target: Remote | undefined, state: MoveState): Promise<Map<string, Upload>> {
  const uploads = new Map<string, Upload>()
  for await (const { url, address, at } of uploadsTo(folder, target, state))
    uploads.set(String(url), { address: String(address), at: at === undefined ? undefined : Number(at) * 1000 })
  return uploads
}

/** What was uploaded to a target, in the order in which it was. Each app has files of its own. */
async function* uploadsTo(
  folder: string,
  target: Remote | undefined,
  { adopted }: MoveState,
): AsyncGenerator<JsonRecord> {
  for await (const line of readLines(path.join(folder, uploaded))) {
    const { to, app } = line
    if (to !== target?.url) continue
    if (target?.name === (app === undefined ? adopted : nameOf(String(to), String(app)))) yield line
  }
}

function addressesOf(uploads: ReadonlyMap<string, Upload>): Map<string, string> {
  return new Map([...uploads].map(([url, { address }]) => [url, address]))
}

/** New addresses of files by their old ones, of those that were copied to a target. */
export async function readAddresses(folder: string, target: Remote, state: MoveState): Promise<Map<string, string>> {
  return addressesOf(await readUploads(folder, target, state))
}

/** Addresses of files that have newer ones, without signatures: those in the source, and those of uploads before the last. */
export async function readOutdated(folder: string, target: Remote, state: MoveState): Promise<Set<string>> {
  const outdated = new Set<string>()
  const current = new Map<unknown, string>()
  for await (const { url, address } of uploadsTo(folder, target, state)) {
    const before = current.get(url) ?? String(url)
    outdated.add(unsigned(before))
    current.set(url, String(address))
  }
  return outdated
}

async function* distinctFiles(folder: string, { spans }: MoveState): AsyncGenerator<SourceFile> {
  const seen = new Set<string>()
  for (const index of spans.keys()) {
    for await (const message of readLines(path.join(folder, sourceFiles.messages(index)))) {
      for (const file of filesOf(message)) {
        if (seen.has(file.url)) continue
        seen.add(file.url)
        yield file
      }
    }
  }
}

function distinct(files: readonly SourceFile[]): SourceFile[] {
  const byUrl = new Map(files.map((file) => [file.url, file]))
  return [...byUrl.values()]
}

/** Somebody whom an address of an upload can name; who gets the file is told by its message. */
async function someone(folder: string): Promise<unknown> {
  for await (const { uid, deactivatedAt } of readLines(path.join(folder, 'users.ndjson')))
    if (!deactivatedAt) return uid
  return undefined
}

/** @throws ImportFailure where the storage of the target does not answer: nothing names the file yet, and the next run goes on */
async function upload(
  target: Remote,
  receiver: unknown,
  { file, size }: { readonly file: string; readonly size: number },
  source: SourceFile,
  { clock, signal }: Pick<ImportIo, 'clock' | 'signal'>,
): Promise<{ address?: string; problem?: string }> {
  const started = clock.now()
  for (let attempt = 0; ; attempt++) {
    const outcome = await tryUpload(target, receiver, file, source, size)
    if (outcome.away === undefined) return outcome
    if (signal.aborted) throw new ImportFailure(exitCodes.interrupted, 'stopped')
    const delay = outcome.retryAfter ?? Math.min(longestWait, firstWait * 2 ** attempt)
    if (clock.now() + delay - started > patience)
      throw new ImportFailure(exitCodes.unreachable, `${outcome.away}; gave up`)
    await clock.sleep(delay, signal).catch(() => undefined)
  }
}

interface UploadOutcome {
  readonly address?: string
  readonly problem?: string
  /** Why nobody knows yet. */
  readonly away?: string
  /** Milliseconds. */
  readonly retryAfter?: number | undefined
}

/** Each time to an address of its own: the one before may have been used. */
async function tryUpload(
  target: Remote,
  receiver: unknown,
  file: string,
  { name, mimeType }: SourceFile,
  size: number,
): Promise<UploadOutcome> {
  const files = { file: { name: name.slice(0, 1000), size, mimeType: mimeType.slice(0, 255) } }
  const answer = await target.send(
    'POST',
    '/files/upload-url',
    { files, receiver, receiverType: 'user' },
    { expected: [400, 403, 404, 413] },
  )
  if (answer.status !== 200) return { problem: errorOf(answer.body).code }
  const { file: place } = answer.body.data as {
    file: { request: { url: string; body: Record<string, string> }; attachment: { url: string } }
  }
  const form = new FormData()
  for (const [field, value] of Object.entries(place.request.body)) form.append(field, value)
  form.append('file', await openAsBlob(file, { type: mimeType }), name)
  const response = await fetch(place.request.url, { method: 'POST', body: form }).catch((error: Error) => error)
  const { origin } = new URL(place.request.url)
  if (response instanceof Error) return { away: `${origin} cannot be reached (${response.message})` }
  await response.arrayBuffer()
  if (response.ok) return { address: place.attachment.url }
  const { status, headers } = response
  if (status !== 429 && status < 500) return { problem: `the storage answered ${status}` }
  return { away: `${origin} answered ${status}`, retryAfter: readRetryAfter(Object.fromEntries(headers)) }
}
