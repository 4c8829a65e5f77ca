import { badRequest, limits } from '@parley/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { App } from '../chat/identity.ts'
import type { Context } from '../context.ts'
import { mediaAddress } from '../media/address.ts'
import { cleanName, cleanType } from '../media/describe.ts'
import { filesTooLarge } from '../media/errors.ts'
import { newMediaKey, type UploadedFile } from '../media/library.ts'
import { quotasOf } from '../media/usage.ts'
import { parseForm } from './form.ts'

/** Fields that hold JSON in a form, which knows only text. */
const jsonFields = new Set(['data', 'metadata', 'tags', 'multipleReceivers'])

const formType = /^\s*multipart\/form-data/i

/** What a form may have beside the bytes of its files. */
export const restOfForm = limits.bodyBytes.json * 4

/** Leaves `multipart/form-data` unread, for `readForm`. */
export function registerUploads(server: FastifyInstance): void {
  server.addContentTypeParser(formType, (_request, _payload, done) => done(null, undefined))
}

/** Does the request come with a form? An empty body is none, whatever its type says, nor is one that is not there. */
export function isForm({ headers }: FastifyRequest): boolean {
  if (!formType.test(headers['content-type'] ?? '')) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** A form, read to its end. */
export interface ReadForm {
  readonly body: Record<string, unknown>
  readonly files: UploadedFile[]
}

/** Who sends a form, and what is asked before any of its files is taken in. */
export interface FormSender {
  readonly app: App
  /** Absent where the app itself sends. */
  readonly uid: string | undefined
  /**
   * Asks whether a file may be taken in, going by what is known of the form so far: its fields up to here, and its files with
   * this one, whose sizes nobody knows yet.
   * @throws as the operation would
   */
  judge(form: ReadForm): Promise<void>
}

/**
 * Reads a form: its text fields as a body, its files into the library. A file is taken in once everything that can be said
 * without it has been said.
 * @throws 408 if it stalls, 400 if it is not a form or has too many or too large files, 429, 400 and 503 where there is no room for more; files taken in before are removed
 */
export async function readForm(
  request: FastifyRequest,
  { app, uid, judge }: FormSender,
  { media, addresses, settings, config }: Pick<Context, 'media' | 'addresses' | 'settings' | 'config'>,
): Promise<ReadForm> {
  const uploader = { appId: app.appId, uid, quotas: quotasOf(await settings.of(app.appId)) }
  const declared = lengthOf(request)
  if (declared !== undefined && declared > limits.bodyBytes.upload + restOfForm) {
    throw filesTooLarge(limits.bodyBytes.upload)
  }
  const admitted = Math.min(limits.bodyBytes.upload, await media.admit(uploader, declared))
  let left = admitted

  const fields: [string, unknown][] = []
  const files: UploadedFile[] = []
  const origin = addresses.publicUrlOf(request.raw)
  let before: Promise<unknown> = Promise.resolve()
  try {
    await parseForm(request.raw, config.uploadStallSeconds, {
      field(name, value) {
        fields.push([name, readField(name, value)])
      },
      file({ name, mimeType, content }) {
        const take = async () => {
          const key = newMediaKey()
          const described = { key, name: cleanName(name), mimeType: cleanType(mimeType) }
          const file = { ...described, url: mediaAddress(origin, app, described) }
          await judge({ body: Object.fromEntries(fields), files: [...files, { ...file, size: 0 }] })
          const tooLarge = () => filesTooLarge(admitted)
          const kept = await media.keep(uploader, { ...described, content, origin, atMost: left, tooLarge })
          if (kept === undefined) throw new Error('a key was made twice')
          left -= kept.size
          files.push({ ...file, size: kept.size })
        }
        // One after the other: what is left for a file is known once the one before it is there.
        const taken = before.then(take)
        before = taken
        return taken
      },
    })
    return { body: Object.fromEntries(fields), files }
  } catch (error) {
    await discardFiles(media, app, files)
    throw error
  }
}

/** Removes files that were taken in for something that was then refused. */
export async function discardFiles(media: Context['media'], app: App, files: readonly UploadedFile[]): Promise<void> {
  if (files.length === 0) return
  await media.discard(
    app,
    files.map(({ key }) => key),
  )
}

/** Bytes of the body, where the client says how many there are. */
export function lengthOf({ headers }: FastifyRequest): number | undefined {
  const length = headers['content-length']
  return length === undefined ? undefined : Number(length)
}

function readField(name: string, text: string): unknown {
  if (!jsonFields.has(name)) return text
  try {
    return JSON.parse(text)
  } catch {
    // Tags may also come as plain words.
    if (name === 'tags') return text.split(',').map((tag) => tag.trim())
    throw badRequest([{ path: `body/${name}`, message: 'must be JSON' }])
  }
}
