import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'

type JsonObject = Record<string, unknown>
type Kind = 'users' | 'groups' | 'members' | 'messages'

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly kind: Kind | undefined
  readonly records: readonly JsonObject[]
  readonly bytes: number
}

export interface Reply {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body: unknown
}

/**
 * What a test puts in the way of a request: a reply in place of the service's, `cut` to break the connection before
 * the service has done anything, `cut after` to break it when all is done and only the answer is missing.
 */
export type Obstacle = (request: SeenRequest, index: number) => Promise<Hindrance> | Hindrance
type Hindrance = Reply | 'cut' | 'cut after' | undefined

export interface ImportService {
  readonly url: string
  readonly requests: SeenRequest[]
  /** Ids of stored records by kind, in the order of storing. */
  readonly stored: Record<Kind, string[]>
  /** Stored messages by conversation, in the order of storing. */
  readonly conversations: Map<string, string[]>
  /** Largest number of import requests at the same time, and whether two of them ever shared a conversation. */
  readonly load: { most: number; shared: boolean }
  obstacle: Obstacle
  close(): Promise<void>
}

export const apiKey = 'a'.repeat(40)
const idFields = { users: 'uid', groups: 'guid', members: 'memberId', messages: 'muid' } as const
const alreadyThere = {
  users: 'ERR_UID_ALREADY_EXISTS',
  groups: 'ERR_GUID_ALREADY_EXISTS',
  members: 'ERR_ALREADY_JOINED',
  messages: 'ERR_IMPORT_MUID_ALREADY_EXISTS',
}

/** A small service in memory that follows the import contract: arrays of records, answers by id, counts, lookups. */
export async function startImportService(tls?: ServerOptions): Promise<ImportService> {
  const stored: ImportService['stored'] = { users: [], groups: [], members: [], messages: [] }
  const ids = {
    users: new Set<string>(),
    groups: new Set<string>(),
    members: new Set<string>(),
    messages: new Set<string>(),
  }
  const conversations = new Map<string, string[]>()
  const times = new Map<string, number>()
  const underWay: string[][] = []

  const store = (kind: Kind, record: JsonObject): JsonObject => {
    const id = String(record[idFields[kind]])
    const refuse = (code: string) => ({
      success: false,
      error: { code, message: 'no', devMessage: `${id} was refused` },
    })
    if (ids[kind].has(id)) return refuse(alreadyThere[kind])
    if (kind === 'users' && typeof record.name !== 'string') return refuse('ERR_IMPORT_INVALID_USER_FORMAT')
    if (kind === 'members' && !ids.groups.has(String(record.guid))) return refuse('ERR_GUID_NOT_FOUND')
    if (kind === 'messages' && !ids.users.has(String(record.sender))) return refuse('ERR_UID_NOT_FOUND')
    ids[kind].add(id)
    stored[kind].push(id)
    if (kind === 'messages') {
      const conversation = conversationOf(record)
      conversations.set(conversation, [...(conversations.get(conversation) ?? []), id])
      times.set(id, Number(record.sentAt))
    }
    return { success: true, data: record }
  }

  const answer = ({ method, path, kind, records, headers }: SeenRequest): Reply => {
    if (headers.apikey !== apiKey) return failure(401, 'AUTH_ERR_APIKEY_NOT_FOUND')
    if (method === 'POST' && kind !== undefined) {
      const data = Object.fromEntries(records.map((record) => [String(record[idFields[kind]]), store(kind, record)]))
      return { status: 200, body: { data } }
    }
    if (path.startsWith('/v3/messages?count=true')) {
      const isAsked = isInSpan(path)
      const data = [...conversations].flatMap(([conversationId, ids]) => {
        const count = ids.filter((id) => isAsked(times.get(id)!)).length
        return count === 0 ? [] : [{ conversationId, count }]
      })
      return { status: 200, body: { data } }
    }
    const [, collection = '', id = ''] = /^\/v3\/(\w+)\/(.+)$/.exec(path) ?? []
    if (collection === 'users' || collection === 'groups') {
      if (ids[collection].has(id)) return { status: 200, body: { data: {} } }
      return failure(404, collection === 'users' ? 'ERR_UID_NOT_FOUND' : 'ERR_GUID_NOT_FOUND')
    }
    return failure(404, collection === 'roles' ? 'ERR_ROLE_NOT_FOUND' : 'ERR_API_NOT_FOUND')
  }

  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    const seen = await readRequest(incoming)
    const index = service.requests.push(seen) - 1
    const touched = seen.kind === 'messages' ? [...new Set(seen.records.map(conversationOf))] : []
    if (touched.some((conversation) => underWay.flat().includes(conversation))) service.load.shared = true
    underWay.push(touched)
    service.load.most = Math.max(service.load.most, underWay.length)
    const hindrance = await service.obstacle(seen, index)
    const reply = typeof hindrance === 'object' ? hindrance : hindrance === 'cut' ? undefined : answer(seen)
    underWay.splice(underWay.indexOf(touched), 1)
    if (reply === undefined || hindrance === 'cut after') incoming.socket.destroy()
    else
      response
        .writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
        .end(JSON.stringify(reply.body))
  }

  const server = tls === undefined ? createServer(handle) : createTlsServer(tls, handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const service: ImportService = {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests: [],
    stored,
    conversations,
    load: { most: 0, shared: false },
    obstacle: () => undefined,
    close: () => closeServer(server),
  }
  return service
}

/** Whether something was sent in the time that a list is asked for. */
export function isInSpan(path: string): (sentAt: number) => boolean {
  const query = new URL(path, 'http://service.test').searchParams
  const [from, to] = [query.get('sentAt[from]'), query.get('sentAt[to]')]
  return (sentAt) => (from === null || sentAt >= Number(from)) && (to === null || sentAt <= Number(to))
}

export function failure(status: number, code: string, headers: Record<string, string> = {}): Reply {
  return { status, headers, body: { error: { code, message: 'no', devMessage: `${code} it is`, source: 'chat-api' } } }
}

async function readRequest(incoming: IncomingMessage): Promise<SeenRequest> {
  let text = ''
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk
  const { method = '', url: path = '', headers } = incoming
  const kind = /^\/v3\.0\/data_import\/(users|groups|members|messages)(?:\?|$)/.exec(path)?.[1] as Kind | undefined
  const body = text === '' ? {} : (JSON.parse(text) as JsonObject)
  const records = kind === undefined ? [] : (body[kind] as JsonObject[])
  return { method, path, headers, kind, records, bytes: Buffer.byteLength(text) }
}

function conversationOf({ sender, receiver, receiverType }: JsonObject): string {
  if (receiverType === 'group') return `group_${String(receiver).toLowerCase()}`
  return [sender, receiver]
    .map((uid) => String(uid).toLowerCase())
    .sort()
    .join('_user_')
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)))
    server.closeAllConnections()
  })
}
