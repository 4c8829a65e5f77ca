import { randomBytes } from 'node:crypto'
import { Agent, request } from 'undici'
import type { Parley } from '../../src/app.ts'
import { ensureKey } from '../../src/areas/api-keys/keys.ts'
import type { App } from '../../src/chat/identity.ts'
import type { Context } from '../../src/context.ts'
import { requireDeclared } from './declared-errors.ts'
import { sharedService } from './service.ts'

/** An answer as a client sees it. `body` is untyped on purpose: tests state what they expect. */
export interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  // biome-ignore lint/suspicious/noExplicitAny: tests look at answers as a client would, without types
  readonly body: any
}

export interface RequestOptions {
  /** uid for `onBehalfOf` */
  readonly as?: string
  /** auth token instead of the API key */
  readonly token?: string
  readonly headers?: Record<string, string>
}

/** An app (tenant) of one test: its own users, groups and messages, so tests run in parallel and need no cleaning. */
export interface World {
  readonly url: string
  readonly app: App
  readonly context: Context
  readonly apiKey: string
  readonly authKey: string
  get(path: string, options?: RequestOptions): Promise<Answer>
  post(path: string, body?: unknown, options?: RequestOptions): Promise<Answer>
  put(path: string, body?: unknown, options?: RequestOptions): Promise<Answer>
  delete(path: string, body?: unknown, options?: RequestOptions): Promise<Answer>
  call(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Answer>
}

const agent = new Agent({ connections: 64, keepAliveTimeout: 10_000 })

/** Makes an app with its keys and a client that calls it. */
export async function createWorld(service?: { parley: Parley; url: string }): Promise<World> {
  const { parley, url } = service ?? (await sharedService())
  const { context } = parley
  const app = await context.apps.ensure(`app-${randomBytes(8).toString('hex')}`, 'us')
  const apiKey = randomBytes(20).toString('hex')
  const authKey = randomBytes(20).toString('hex')
  await ensureKey(context, app.appId, { apiKey, name: 'test', scope: 'fullAccess' })
  await ensureKey(context, app.appId, { apiKey: authKey, name: 'front', scope: 'authOnly' })

  return servedBy({ url, app, context, apiKey, authKey }, url)
}

/** The same app, called at another process that serves it. */
export function servedBy(world: Pick<World, 'url' | 'app' | 'context' | 'apiKey' | 'authKey'>, url: string): World {
  const { app, apiKey } = world
  const call = (method: string, path: string, body?: unknown, options: RequestOptions = {}) =>
    send(url, method, path, body, {
      appid: app.name,
      ...(options.token === undefined ? { apikey: apiKey } : { authtoken: options.token }),
      ...(options.as !== undefined && { onbehalfof: options.as }),
      ...options.headers,
    })
  return {
    ...world,
    url,
    call,
    get: (path, options) => call('GET', path, undefined, options),
    post: (path, body, options) => call('POST', path, body, options),
    put: (path, body, options) => call('PUT', path, body, options),
    delete: (path, body, options) => call('DELETE', path, body, options),
  }
}

/** One request, with just these headers; a body that is a string is sent as it is, anything else as JSON. */
export async function send(
  url: string,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Answer> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const answer = await request(`${url}/v3${path}`, {
    method: method as 'GET',
    dispatcher: agent,
    headers: { ...(text !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(text !== undefined && { body: text }),
  })
  const raw = await answer.body.text()
  const json = String(answer.headers['content-type'] ?? '').includes('json')
  const received = { status: answer.statusCode, headers: answer.headers, body: json ? JSON.parse(raw) : raw }
  requireDeclared(method, path, received)
  return received
}

/** Makes users `alice`, `bob`, ... with capitalised names. */
export async function createUsers(world: World, ...uids: string[]): Promise<void> {
  for (const uid of uids) {
    const name = uid.charAt(0).toUpperCase() + uid.slice(1)
    const answer = await world.post('/users', { uid, name })
    if (answer.status !== 200) throw new Error(`user ${uid} was not made: ${JSON.stringify(answer.body)}`)
  }
}
