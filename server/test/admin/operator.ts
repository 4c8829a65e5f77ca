import { randomBytes } from 'node:crypto'
import { createOwnerLink } from '../../src/areas/operators/index.ts'
import type { Context } from '../../src/context.ts'
import { ask } from '../http/watched.ts'
import { dataOf } from '../support/chat.ts'
import type { Answer } from '../support/world.ts'

export const password = 'correct horse battery'

/** Somebody who calls the admin API: by the cookie that it gave them, as a page of its own origin. */
export class Visitor {
  readonly url: string
  cookie: string | undefined
  token: string | undefined

  constructor(url: string) {
    this.url = url
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await ask(`${this.url}/admin/v1${path}`, {
      method,
      headers: {
        ...(this.token === undefined && { origin: this.url }),
        ...(this.cookie !== undefined && { cookie: this.cookie }),
        ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    this.#keep([answer.headers['set-cookie'] ?? []].flat())
    return answer
  }

  /** Cookies by their names, as a browser has them. */
  #keep(given: readonly string[]): void {
    const kept = new Map(this.cookie?.split('; ').map((pair) => pair.split('=', 2) as [string, string]))
    for (const line of given) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=', 2)
      if (value === '') kept.delete(name)
      else kept.set(name, value)
    }
    this.cookie = [...kept].map(([name, value]) => `${name}=${value}`).join('; ') || undefined
  }

  get = (path: string, headers?: Record<string, string>) => this.call('GET', path, undefined, headers)
  post = (path: string, body: unknown = {}, headers?: Record<string, string>) => this.call('POST', path, body, headers)
  put = (path: string, body: unknown = {}) => this.call('PUT', path, body)
  delete = (path: string, body?: unknown) => this.call('DELETE', path, body)
}

type Service = { readonly url: string; readonly context: Context }

export const newEmail = () => `${randomBytes(8).toString('hex')}@example.com`

/** An owner of all apps, signed in. */
export async function createOwner({ url, context }: Service, email = newEmail()): Promise<Visitor> {
  const owner = new Visitor(url)
  const token = await createOwnerLink(context)
  dataOf(await owner.post('/setup', { token, email, name: 'Olga', password }))
  return owner
}

/** Somebody whom an owner invited, signed in. */
export async function createOperator(owner: Visitor, grants: object, email = newEmail()): Promise<Visitor> {
  const { token } = dataOf(await owner.post('/invitations', { email, ...grants }))
  const visitor = new Visitor(owner.url)
  dataOf(await visitor.post('/invitations/accept', { token, name: 'Otto', password }))
  return visitor
}

/** What a visitor sees of themselves. */
export async function meOf(visitor: Visitor) {
  return dataOf(await visitor.get('/session'))
}
