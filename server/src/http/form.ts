import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy'
import { ApiError, badRequest, limits } from '@parley/contract'

const maxFields = 50

/** What is done with the parts of a form as they come in; what these throw or reject with ends the reading. */
export interface FormReader {
  field(name: string, value: string): void
  file(file: { name: string; mimeType: string; content: Readable }): Promise<void>
}

/**
 * Reads `multipart/form-data` to its end; the files are taken in while they arrive.
 * @throws 400 for what is no form, is cut off, or has too much of something; whatever else is still to come is let run
 *   off unread, or the connection would be stuck on it
 */
export async function parseForm(request: IncomingMessage, reader: FormReader): Promise<void> {
  const open = new Set<Readable>()
  const taken: Promise<void>[] = []
  const parsed = new Promise<void>((resolve, reject) => {
    const parser = openParser(request)
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
        if (truncated) throw badRequest([{ path: `body/${name}`, message: 'is too long' }])
        reader.field(name, value)
      } catch (error) {
        fail(error)
      }
    })
    parser.on('file', (_field, content: BusboyFileStream, name: string | undefined, _encoding, mimeType) => {
      // At once: a form that ends within a file says so before anybody else can listen.
      content.on('error', failUnreadable)
      // The last bytes read may hold more parts; and an empty name is a file input in which nothing was chosen.
      if (failed || name === undefined || name === '') return content.resume()
      open.add(content)
      content.on('close', () => open.delete(content))
      content.on('limit', () => fail(tooLarge(name)))
      const file = reader.file({ name, mimeType, content })
      taken.push(file)
      file.catch(fail)
    })
    parser.on('filesLimit', () => fail(tooManyFiles()))
    parser.on('fieldsLimit', () => fail(unreadable(`more than ${maxFields} fields`)))
    parser.on('error', failUnreadable)
    parser.on('finish', resolve)
    request.on('error', failUnreadable)
    request.pipe(parser)
  })
  try {
    await parsed
  } finally {
    // Also after a failure, so that nothing is taken in any more when this is over.
    await Promise.allSettled(taken)
  }
  await Promise.all(taken)
}

function openParser(request: IncomingMessage) {
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: {
        fileSize: limits.bodyBytes.upload,
        files: limits.filesPerMessage,
        fields: maxFields,
        fieldSize: limits.messageLength,
      },
    })
  } catch (error) {
    throw unreadable((error as Error).message)
  }
}

function unreadable(why: string): ApiError {
  return badRequest([{ path: 'body', message: `is not a valid form: ${why}` }])
}

function tooLarge(name: string): ApiError {
  return new ApiError('ERR_FILE_SIZE_EXCEEDED', `${name} is larger than ${limits.bodyBytes.upload} bytes.`)
}

function tooManyFiles(): ApiError {
  return new ApiError('ERR_FILE_COUNT_EXCEEDED', `A message can have ${limits.filesPerMessage} files.`)
}
