import { badRequest, limits, type Operation } from '@parley/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { App } from '../chat/identity.ts'
import type { Context } from '../context.ts'
import type { UploadedFile } from '../media/library.ts'
import { unsupportedMediaType } from '../protocol/errors.ts'
import { parseForm } from './form.ts'

/** Fields that hold JSON in a form, which knows only text. */
const jsonFields = new Set(['data', 'metadata', 'tags', 'multipleReceivers'])

const formType = /^\s*multipart\/form-data/i

/** Leaves `multipart/form-data` unread, for `readForm`. */
export function registerUploads(server: FastifyInstance): void {
  server.addContentTypeParser(formType, (_request, _payload, done) => done(null, undefined))
}

/** Does the request come with a form? An empty body is none, whatever its type says. */
export function isForm({ headers }: FastifyRequest): boolean {
  return formType.test(headers['content-type'] ?? '') && headers['content-length'] !== '0'
}

/**
 * Reads a form: its text fields as a body, its files into the library.
 * @throws 400 for what is no form, too many or too large, 415 where an operation takes none; files taken in before are
 *   given up
 */
export async function readForm(
  request: FastifyRequest,
  operation: Operation,
  app: App,
  { media, addresses }: Pick<Context, 'media' | 'addresses'>,
): Promise<{ body: Record<string, unknown>; files: UploadedFile[] }> {
  if (operation.takesFiles !== true) throw unsupportedMediaType()
  const fields: [string, unknown][] = []
  // By their places in the form: a small file may be taken in before a large one that came first.
  const files: UploadedFile[] = []
  let places = 0
  const address = `${addresses.publicUrlOf(request.raw)}/media/${app.name}`
  try {
    await parseForm(request.raw, {
      field(name, value) {
        fields.push([name, readField(name, value)])
      },
      async file({ name, mimeType, content }) {
        const place = places++
        const file = await media.keep(app, { name: cleanName(name), mimeType: cleanType(mimeType), content })
        files[place] = { ...file, url: `${address}/${file.key}/${encodeURIComponent(file.name)}` }
      },
    })
    return { body: Object.fromEntries(fields), files }
  } catch (error) {
    await media.discard(
      app,
      files.flat().map(({ key }) => key),
    )
    throw error
  }
}

function cleanType(mimeType: string): string {
  return /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType.toLowerCase() : 'application/octet-stream'
}

/** The last part of a path, without what a file system or a header could mistake for something else. */
function cleanName(name: string): string {
  const last = name.toWellFormed().split(/[/\\]/).at(-1) ?? ''
  const clean = [...last].filter((char) => char >= ' ' && char !== '\u007f' && !'"<>|:*?'.includes(char)).join('')
  return clean.replace(/^\.+/, '').slice(0, limits.nameLength).toWellFormed() || 'file'
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
