import type { Calls } from './contract.ts'
import { type Listing, list } from './pages.ts'
import type { CallOptions, Request, Send } from './transport.ts'

/** An operation: `POST /messages` */
export type Key = keyof Calls

/** What goes into an operation: members of path, query and body side by side. */
export type Input<K extends Key> = Calls[K]['input']

type Answered<K extends Key> = Calls[K]['answer']

/** What a call gives: a page with its `meta`, or else what stands in `data`. */
export type Result<K extends Key> = 'meta' extends keyof Answered<K>
  ? Answered<K>
  : Answered<K> extends { data: infer Data }
    ? Data
    : Answered<K>

type Returned<K extends Key> =
  Answered<K> extends { data: (infer Item)[]; meta?: unknown }
    ? 'meta' extends keyof Answered<K>
      ? Listing<Item, Answered<K>>
      : Promise<Result<K>>
    : Promise<Result<K>>

/** A function for an operation. Its input may be left out where nothing in it is required. */
export type Call<K extends Key> =
  Record<string, never> extends Input<K>
    ? (input?: Input<K>, options?: CallOptions) => Returned<K>
    : (input: Input<K>, options?: CallOptions) => Returned<K>

/** Operations by the names of the functions that stand for them. */
export interface Table {
  readonly [name: string]: Key | Table
}

/** The functions that stand for a table of operations. */
export type Face<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Key ? Call<Table[Name]> : Face<Table[Name]>
}

/** Any operation: `call('GET /users/{uid}', { uid: 'alice' })`. */
export type CallAny = <K extends Key>(key: K, ...rest: Parameters<Call<K>>) => Returned<K>

type Values = Readonly<Record<string, unknown>>

/** Operations that send a message. */
const sending = new Set<Key>(['POST /messages', 'POST /messages/{messageId}/thread', 'POST /bots/{uid}/messages'])

/** Lists that begin with the newest page, and go back from there. */
const newestFirst = new Set<Key>(['GET /notifications/v1/logs'])

/** @param newMuid makes the `muid` of a message that has none, so that it is stored once, however often it is sent */
export function createCall(send: Send, newMuid: () => string): CallAny {
  const once = async (key: Key, input: Values, options?: CallOptions) => {
    const named = sending.has(key) && input.muid === undefined ? { ...input, muid: newMuid() } : input
    return unwrap(await send(requestOf(key, named), options))
  }
  const call = (key: Key, input: Values = {}, options?: CallOptions) => {
    const ask = async (asked: Values) => (await once(key, asked, options)) as object
    if (key.startsWith('GET ')) return list(input, ask, newestFirst.has(key))
    return once(key, input, options)
  }
  return call as unknown as CallAny
}

/** Makes a function of each operation of a table. */
export function createFace<const Table extends object>(table: Table, call: CallAny): Face<Table> {
  const face = Object.entries(table).map(([name, value]) => [
    name,
    typeof value === 'string'
      ? (input: never, options: never) => call(value as Key, input, options)
      : createFace(value, call),
  ])
  return Object.fromEntries(face) as Face<Table>
}

/** @throws TypeError if a member of the path is missing, or no id: with `..` the address would be that of another operation */
export function requestOf(key: Key, input: Values): Request {
  const [method = '', address = ''] = key.split(' ')
  const [template = '', names] = address.split('?')
  const rest = new Map(Object.entries(input))
  const take = (name: string) => {
    const value = rest.get(name)
    rest.delete(name)
    return value
  }
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = take(name)
    if (value === undefined || value === '') throw new TypeError(`${key}: ${name} is missing`)
    if (value === '.' || value === '..') throw new TypeError(`${key}: ${name} cannot be ${value}`)
    return encodeURIComponent(String(value))
  })
  const asked = method === 'GET' ? [...rest.keys()] : (names?.split(',') ?? [])
  return {
    method,
    path: withQuery(
      path,
      asked.map((name) => [name, take(name)]),
    ),
    ...(method !== 'GET' && rest.size > 0 && { body: Object.fromEntries(rest) }),
    // A message with a muid is stored once, however often it is sent.
    isRepeatable: method === 'GET' || (method === 'POST' && typeof input.muid === 'string'),
  }
}

/** What is undefined is left out. An array is one parameter, its values separated by commas. */
export function withQuery(path: string, parameters: ReadonlyArray<readonly [name: string, value: unknown]>): string {
  const query = parameters.flatMap(([name, value]) =>
    value === undefined ? [] : `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`,
  )
  return query.length > 0 ? `${path}?${query.join('&')}` : path
}

function unwrap(answer: unknown): unknown {
  const isEntity = typeof answer === 'object' && answer !== null && 'data' in answer && !('meta' in answer)
  return isEntity ? answer.data : answer
}
