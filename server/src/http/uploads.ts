import multipart, { type MultipartFile } from '@fastify/multipart'
import { ApiError, badRequest, limits, type Operation } from '@parley/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { App } from '../call.ts'
import type { MediaLibrary, UploadedFile } from '../media/library.ts'
import { unsupportedMediaType } from './errors.ts'

const maxFiles = 10
/** Fields that hold JSON in a form, which knows only text. */
const jsonFields = new Set(['data', 'metadata', 'tags', 'multipleReceivers'])

/** Lets operations that take files read `multipart/form-data`. */
export async function registerUploads(server: FastifyInstance): Promise<void> {
  await server.register(multipart, {
    limits: { fileSize: limits.bodyBytes.upload, files: maxFiles, fields: 50, fieldSize: limits.messageLength },
  })
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
  media: MediaLibrary,
): Promise<{ body: Record<string, unknown>; files: UploadedFile[] }> {
  if (operation.takesFiles !== true) throw unsupportedMediaType()
  const body: Record<string, unknown> = {}
  const files: UploadedFile[] = []
  try {
    for await (const part of request.parts()) {
      if (part.type === 'file') files.push(await keepFile(request, app, media, part))
      else body[part.fieldname] = readField(part.fieldname, String(part.value))
    }
    return { body, files }
  } catch (error) {
    await media.discard(
      app,
      files.map(({ key }) => key),
    )
    throw refusalOf(error)
  }
}

async function keepFile(
  request: FastifyRequest,
  app: App,
  media: MediaLibrary,
  part: MultipartFile,
): Promise<UploadedFile> {
  const name = cleanName(part.filename)
  const mimeType = /^[\w.+-]+\/[\w.+-]+$/.test(part.mimetype) ? part.mimetype.toLowerCase() : 'application/octet-stream'
  const file = await media.keep(app, { name, mimeType, content: part.file })
  if (part.file.truncated) {
    await media.discard(app, [file.key])
    throw new ApiError('ERR_FILE_SIZE_EXCEEDED', `${name} is larger than ${limits.bodyBytes.upload} bytes.`)
  }
  return {
    ...file,
    url: `${request.protocol}://${request.host}/media/${app.name}/${file.key}/${encodeURIComponent(name)}`,
  }
}

/** The last part of a path, without what a file system or a header could mistake for something else. */
function cleanName(name: string): string {
  const last = name.toWellFormed().split(/[/\\]/).at(-1) ?? ''
  const clean = [...last].filter((char) => char >= ' ' && char !== '\u007f' && !'"<>|:*?'.includes(char)).join('')
  return clean.replace(/^\.+/, '').slice(0, limits.nameLength) || 'file'
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

function refusalOf(error: unknown): unknown {
  switch ((error as { code?: unknown } | null)?.code) {
    case 'FST_FILES_LIMIT':
      return new ApiError('ERR_FILE_COUNT_EXCEEDED', `A message may come with ${maxFiles} files.`)
    case 'FST_REQ_FILE_TOO_LARGE':
      return new ApiError('ERR_FILE_SIZE_EXCEEDED', `A file may have ${limits.bodyBytes.upload} bytes.`)
    case 'FST_FIELDS_LIMIT':
    case 'FST_PARTS_LIMIT':
    case 'FST_PROTO_VIOLATION':
    case 'FST_INVALID_MULTIPART_CONTENT_TYPE':
      return badRequest([{ path: 'body', message: (error as Error).message }])
    default:
      return error
  }
}
