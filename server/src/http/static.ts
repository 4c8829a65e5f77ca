import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const compress = promisify(brotliCompress)

/** Of the eleven levels of compression one that takes half a second for the largest file, and leaves a quarter of it. */
const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

/** Below this, a compressed answer saves no packet. */
const smallestBytes = 1_024

export interface StaticAnswer {
  readonly url: string
  /** What logs and metrics call it. */
  readonly operation: string
  readonly type: string
  readonly headers?: Readonly<Record<string, string>>
  /** Asked each time: of what has not changed it should give the same object. */
  readonly content: () => Promise<Buffer> | Buffer
}

interface Packed {
  readonly etag: string
  readonly compressed: Promise<Buffer> | undefined
}

/**
 * Serves what is the same for everybody. Browsers keep it, and ask each time whether it has changed: an upgrade is seen at once,
 * and what is kept costs an answer without a body.
 */
export function serveStatic(
  server: FastifyInstance,
  { url, operation, type, headers = {}, content }: StaticAnswer,
): void {
  server.route({
    method: 'GET',
    url,
    config: { operation, withoutPrefix: true },
    handler: async (request, reply) => {
      reply.type(type).headers({ 'cache-control': 'no-cache', ...headers })
      return sendKept(request, reply, await content())
    },
  })
}

/** Answers what the browser keeps, or that what it has kept has not changed. @param body of what has not changed the same object */
export async function sendKept(request: FastifyRequest, reply: FastifyReply, body: Buffer): Promise<FastifyReply> {
  const { etag, compressed } = pack(body)
  reply.header('etag', etag).header('vary', 'accept-encoding')
  return answer(request, reply, etag, body, compressed)
}

async function answer(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  etag: string,
  body: Buffer,
  compressed: Promise<Buffer> | undefined,
): Promise<FastifyReply> {
  if (isKept(headers['if-none-match'], etag)) return reply.code(304).send()
  if (compressed === undefined || !takesBrotli(headers['accept-encoding'])) return reply.send(body)
  return reply.header('content-encoding', 'br').send(await compressed)
}

const packs = new WeakMap<Buffer, Packed>()

function pack(body: Buffer): Packed {
  let packed = packs.get(body)
  if (packed === undefined) {
    // Weak, since it names both forms of the body.
    const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
    packed = { etag, compressed: body.length < smallestBytes ? undefined : compress(body, options) }
    packs.set(body, packed)
  }
  return packed
}

/** RFC 9110, 13.1.2: a list of tags, or `*`; compared weakly. */
function isKept(asked: string | undefined, etag: string): boolean {
  if (asked === undefined) return false
  const tags = asked.split(',').map((tag) => tag.trim())
  return tags.includes('*') || tags.some((tag) => tag.replace(/^W\//, '') === etag.slice(2))
}

/** RFC 9110, 12.5.3: a list of codings, each with a weight; what weighs nothing is not taken. */
function takesBrotli(accepted: string | string[] | undefined): boolean {
  return String(accepted ?? '')
    .split(',')
    .map((coding) => coding.toLowerCase().replaceAll(/\s/g, '').split(';q='))
    .some(([name, weight = '1']) => name === 'br' && Number(weight) > 0)
}
