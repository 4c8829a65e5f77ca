import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy'
import { ApiError, badRequest, limits } from '@parley/contract'
import { tooManyFiles, uploadStalled } from '../media/errors.ts'
import { bodyTooLarge } from '../protocol/errors.ts'
import { watchArrival } from './arrival.ts'

const maxFields = 50

/** How much a form may have, and how its fields are read. */
export interface FormBounds {
  /** Bytes of the whole form; absent: whoever reads it counts. */
  readonly bytes?: number
  readonly files: number
  /** Characters of one field. */
  readonly fieldSize: number
  /** The rest of a field that is too long is left out; else the form is refused. */
  readonly cutsFields: boolean
  /** Of fields that do not name one. */
  readonly charset: string
}

/** Those of messages. */
const usual: FormBounds = {
  files: limits.filesPerMessage,
  fieldSize: limits.messageLength,
  cutsFields: false,
  charset: 'utf8',
}

/**
 * What is done with the parts of a form as they come in; what these throw or reject with ends the reading. Nothing more of a
 * form is read than a file takes, so what is asked before a file is taken holds up the sender, and costs no memory.
 */
export interface FormReader {
  field(name: string, value: string): void
  /** @param file its `field` is the name of its part, `name` that of the file itself */
  file(file: { field: string; name: string; mimeType: string; content: Readable }): Promise<void>
}

/**
 * Reads `multipart/form-data` to its end; the files are taken in while they arrive.
 * @param stallSeconds in such a time something must come
 * @throws 408 for a form that stalls, 400 if it is not a form, is cut off, or has too much of something; whatever else is still to come is let run
 *   off unread, or the connection would be stuck on it
 */
export async function parseForm(
  request: IncomingMessage,
  stallSeconds: number,
  reader: FormReader,
  bounded: Partial<FormBounds> = {},
): Promise<void> {
  const bounds = { ...usual, ...bounded }
  let stopWatching = () => {}
  const open = new Set<Readable>()
  const taken: Promise<void>[] = []
  const parsed = new Promise<void>((resolve, reject) => {
    const parser = openParser(request, bounds)
    let failed = false
    const fail = (error: unknown) => {
      failed = true
      reject(error)
      request.unpipe(parser)
      request.resume()
      for (const content of open) content.destroy(error as Error)
    }
    const failUnreadable = (error: Error) => fail(unreadable(error.message))

    parser.on('field', (name, value, _nameTruncated, truncated) => {
      try {
        if (truncated && !bounds.cutsFields) throw badRequest([{ path: `body/${name}`, message: 'is too long' }])
        reader.field(name, value)
      } catch (error) {
        fail(error)
      }
    })
    parser.on('file', (field, content: BusboyFileStream, name: string | undefined, _encoding, mimeType) => {
      // At once: a form that ends within a file says so before anybody else can listen.
      content.on('error', failUnreadable)
      // The last bytes read may hold more parts; and an empty name is a file input in which nothing was chosen.
      if (failed || name === undefined || name === '') return content.resume()
      open.add(content)
      content.on('close', () => open.delete(content))
      content.on('limit', () => fail(fileTooLarge(name)))
      const file = reader.file({ field: String(field), name, mimeType, content })
      taken.push(file)
      file.catch(fail)
    })
    parser.on('filesLimit', () => fail(tooManyFiles()))
    parser.on('fieldsLimit', () => fail(unreadable(`more than ${maxFields} fields`)))
    parser.on('error', failUnreadable)
    parser.on('finish', resolve)
    request.on('error', failUnreadable)
    if (bounds.bytes !== undefined) countBytes(request, bounds.bytes, fail)
    request.pipe(parser)
    stopWatching = watchArrival(request, stallSeconds, () => fail(uploadStalled(stallSeconds)))
  })
  try {
    await parsed
  } finally {
    stopWatching()
    // Also after a failure, so that nothing is taken in any more when this is over.
    await Promise.allSettled(taken)
  }
  await Promise.all(taken)
}

function countBytes(request: IncomingMessage, most: number, fail: (error: unknown) => void): void {
  let bytes = 0
  const count = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= most) return
    request.off('data', count)
    fail(bodyTooLarge(`has more than the ${most} bytes that are taken here`))
  }
  request.on('data', count)
}

function openParser(request: IncomingMessage, { files, fieldSize, charset }: FormBounds) {
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      defCharset: charset,
      limits: { fileSize: limits.bodyBytes.upload, files, fields: maxFields, fieldSize },
    })
  } catch (error) {
    throw unreadable((error as Error).message)
  }
}

function unreadable(why: string): ApiError {
  return badRequest([{ path: 'body', message: `is not a valid form: ${why}` }])
}

function fileTooLarge(name: string): ApiError {
  return new ApiError('ERR_FILE_SIZE_EXCEEDED', `${name} is larger than ${limits.bodyBytes.upload} bytes.`)
}
