import { once } from 'node:events'
import http from 'node:http'
import { exitCodes, ImportFailure } from '../../import/failure.ts'
import { isJsonObject, type JsonRecord, parseObject } from '../../import/records.ts'

/** What is worth reading again. */
export interface Hinted {
  /** Ids in the source. */
  readonly messages: ReadonlySet<string>
  readonly groups: ReadonlySet<string>
  readonly users: ReadonlySet<string>
}

export interface Hints {
  readonly port: number
  /** What came since it was asked last. */
  take(): Hinted
  /** Settles when something has come. */
  next(): Promise<void>
  close(): Promise<void>
}

const mostBytes = 1024 * 1024
/** What is more is left to the next sweep. */
const mostWaiting = 10_000
const mostValues = 5000

/**
 * Takes webhooks of the source. Nothing in them is believed: they only tell what to read again, and whoever sends others makes
 * the move ask for what there is.
 * @param at host and port
 * @param path secret, so that strangers do not send any
 */
export async function openHints(at: { readonly host: string; readonly port: number }, path: string): Promise<Hints> {
  let waiting = { messages: new Set<string>(), groups: new Set<string>(), users: new Set<string>() }
  let wake = () => {}
  let next = new Promise<void>((resolve) => {
    wake = resolve
  })
  const server = http.createServer({ requestTimeout: 10_000, headersTimeout: 5000 }, async (request, response) => {
    const answer = (status: number) => response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    if (request.method !== 'POST' || request.url !== path) return answer(404)
    const chunks: Buffer[] = []
    let bytes = 0
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        bytes += chunk.length
        if (bytes > mostBytes) return answer(413)
        chunks.push(chunk)
      }
    } catch {
      // The sender has gone away.
      return undefined
    }
    const event = parseObject(Buffer.concat(chunks).toString('utf8'))
    if (event === undefined) return answer(400)
    for (const [kind, id] of hintsIn(event)) if (waiting[kind].size < mostWaiting) waiting[kind].add(id)
    wake()
    return answer(200)
  })
  server.maxConnections = 100
  server.listen(at.port, at.host)
  await Promise.race([
    once(server, 'listening'),
    once(server, 'error').then(([error]) => {
      throw new ImportFailure(exitCodes.usage, `--webhooks ${at.host}:${at.port}: ${(error as Error).message}`)
    }),
  ])
  const bound = server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : at.port,
    take() {
      const taken = waiting
      waiting = { messages: new Set(), groups: new Set(), users: new Set() }
      next = new Promise((resolve) => {
        wake = resolve
      })
      return taken
    },
    next: () => next,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * What an event names: of groups and blocks everybody, of messages those that changed. New messages are found by the next
 * look, which every event brings forward.
 */
function* hintsIn(event: JsonRecord): Iterable<[kind: keyof Hinted, id: string]> {
  const trigger = String(event.trigger ?? '')
  const kind = /^group_/.test(trigger) ? 'groups' : /^user_(un)?blocked$/.test(trigger) ? 'users' : 'messages'
  if (kind === 'messages' && !/^message_(edited|deleted|reaction_|.*receipt)/.test(trigger)) return
  let left = mostValues
  const values: unknown[] = [event.data]
  for (let value = values.pop(); value !== undefined && left > 0; value = values.pop()) {
    left -= 1
    if (Array.isArray(value)) values.push(...value.slice(0, mostValues))
    if (!isJsonObject(value)) continue
    const { guid, uid, id, messageId, receiverType } = value
    if (kind === 'groups' && isName(guid)) yield [kind, guid]
    if (kind === 'users' && isName(uid)) yield [kind, uid]
    if (kind === 'messages') {
      // Of a message that is gone, there is nothing but its id.
      const gone = value.entityType === 'message' && isJsonObject(value.entity) ? value.entity.id : undefined
      const found = messageId ?? gone ?? (receiverType === undefined ? undefined : id)
      if (/^\d{1,16}$/.test(String(found))) yield [kind, String(found)]
    }
    values.push(...Object.values(value).slice(0, mostValues))
  }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{1,100}$/.test(value)
}
