import type { Readable } from 'node:stream'
import { ApiError, badRequest, type Operation } from '@parley/contract'
import type { FastifyRequest } from 'fastify'
import { parseForm } from './form.ts'
import { restOfForm } from './uploads.ts'

/**
 * Reads a form whose file is a text: its fields as a body, the file among them under its own name. Files under other names are
 * ignored, as unknown members of a body are. A field that comes several times, or whose name ends in `[]`, is a list.
 * @throws 400 if it is not a form, not text or too large; 408 if it stalls
 */
export async function readTextForm(
  request: FastifyRequest,
  { body, readsFile }: Pick<Operation, 'body' | 'readsFile'>,
  stallSeconds: number,
): Promise<Record<string, unknown>> {
  if (readsFile === undefined) throw new TypeError('the operation reads no file')
  const { field, bytes } = readsFile
  const fields = new Map<string, unknown>()
  const add = (given: string, value: unknown) => {
    const isList = given.endsWith('[]')
    const name = isList ? given.slice(0, -2) : given
    if (!fields.has(name)) return fields.set(name, isList ? [value] : value)
    const before = fields.get(name)
    fields.set(name, [...(Array.isArray(before) ? before : [before]), value])
  }
  await parseForm(
    request.raw,
    stallSeconds,
    {
      field: (name, value) => void add(String(name), readField(body, String(name), value)),
      async file({ field: given, content }) {
        if (given !== field) return void content.resume()
        if (fields.has(field)) throw badRequest([{ path: `body/${field}`, message: 'is only one file' }])
        fields.set(field, '')
        fields.set(field, await readText(content, field, bytes))
      },
    },
    { bytes: 2 * bytes + restOfForm, fieldSize: bytes },
  )
  return Object.fromEntries(fields)
}

/** A form knows only text; what is declared as a boolean is read as one. */
function readField(body: Operation['body'], name: string, value: string): unknown {
  const declared = (body as { properties?: Record<string, { type?: string }> } | undefined)?.properties ?? {}
  if (!Object.hasOwn(declared, name) || declared[name]?.type !== 'boolean') return value
  if (value === 'true' || value === '1') return true
  return value === 'false' || value === '0' ? false : value
}

async function readText(content: Readable, field: string, most: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of content as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > most) throw fileTooLarge(most)
    chunks.push(chunk)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw badRequest([{ path: `body/${field}`, message: 'must be a text in UTF-8' }])
  }
}

function fileTooLarge(most: number): ApiError {
  return new ApiError('ERR_FILE_SIZE_EXCEEDED', `The file can have at most ${most} bytes.`)
}
