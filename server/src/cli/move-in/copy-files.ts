import { openAsBlob } from 'node:fs'
import path from 'node:path'
import { FormData, fetch } from 'undici'
import { exitCodes, ImportFailure } from '../import/failure.ts'
import { errorOf } from '../import/request.ts'
import type { ImportIo } from '../import/run.ts'
import { filesOf, openDownloads, type SourceFile } from './files.ts'
import { forEach } from './for-each.ts'
import type { Journal } from './journal.ts'
import { readLines } from './ndjson.ts'
import type { Notices } from './notices.ts'
import type { MoveOptions } from './options.ts'
import type { Remote } from './remote.ts'
import { type MoveState, sourceFiles } from './state.ts'

interface Copying {
  readonly options: MoveOptions
  readonly io: ImportIo
  readonly folder: string
  readonly journal: Journal<MoveState>
  readonly target: Remote | undefined
  readonly notices: Notices
  /** Those to copy; by default those of all messages that were read. */
  readonly files?: AsyncIterable<SourceFile>
  /** New addresses by old ones, to which those of this copy are added; read from the folder where they are not given. */
  readonly known?: Map<string, string>
}

const uploaded = 'uploaded.ndjson'

/**
 * Copies the files that messages name into the folder, and from there to the target, where there is one. What an earlier
 * run has copied is not copied again.
 * @returns the new addresses by the old ones
 */
export async function copyFiles({ options, io, folder, journal, target, notices, files, known }: Copying) {
  const counts = { copied: 0, bytes: 0, uploaded: 0, failed: 0 }
  const addresses = known ?? (await readAddresses(folder, options.target?.url))
  const receiver = await someone(folder)
  const downloads = openDownloads({
    folder,
    source: { url: options.from, apiKey: options.apiKey, app: options.fromApp },
    mostBytes: options.mostFileBytes,
    env: io.env,
    signal: io.signal,
  })
  try {
    await forEach(files ?? distinctFiles(folder, journal.state), Math.min(8, options.concurrency), async (file) => {
      if (io.signal.aborted) throw new ImportFailure(exitCodes.interrupted, 'stopped')
      const copy = await downloads.fetch(file)
      if ('problem' in copy) {
        counts.failed += 1
        notices.add('file-not-copied', `${file.url}: ${copy.problem}`)
        return
      }
      counts.copied += 1
      counts.bytes += copy.size
      if (target === undefined || addresses.has(file.url)) return
      const { address, problem } = await upload(target, receiver, path.join(folder, copy.file), file, copy.size)
      if (address === undefined) {
        counts.failed += 1
        notices.add('file-without-storage', `${file.url}: ${problem}`)
        return
      }
      counts.uploaded += 1
      await journal.append(uploaded, [{ url: file.url, address, to: target.url }], () =>
        addresses.set(file.url, address),
      )
    })
  } finally {
    await downloads.close()
    await journal.save()
  }
  return { addresses, counts }
}

/** New addresses of files by their old ones, of those that were copied to a target. */
export async function readAddresses(folder: string, target: string | undefined): Promise<Map<string, string>> {
  const addresses = new Map<string, string>()
  for await (const { url, address, to } of readLines(path.join(folder, uploaded)))
    if (to === target) addresses.set(String(url), String(address))
  return addresses
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

/** Somebody whom an address of an upload can name; who gets the file is told by its message. */
async function someone(folder: string): Promise<unknown> {
  for await (const { uid, deactivatedAt } of readLines(path.join(folder, 'users.ndjson')))
    if (!deactivatedAt) return uid
  return undefined
}

async function upload(
  target: Remote,
  receiver: unknown,
  file: string,
  { name, mimeType }: SourceFile,
  size: number,
): Promise<{ address?: string; problem?: string }> {
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
  if (response instanceof Error) return { problem: response.message }
  await response.arrayBuffer()
  return response.ok ? { address: place.attachment.url } : { problem: `the storage answered ${response.status}` }
}
