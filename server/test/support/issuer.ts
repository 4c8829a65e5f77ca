import { generateKeyPair as generateNodePair, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

type Key = {
  readonly kid: string
  readonly alg: string
  readonly privateKey: CryptoKey | KeyObject
  readonly published: JWK
}

const generateRsa = promisify(generateNodePair)

/** How a token is to be signed, if not as it should be. */
export interface Signing {
  readonly alg?: 'RS256' | 'ES256' | 'EdDSA' | 'PS256'
  /** By a key that is not published, under the name of one that is. */
  readonly forged?: boolean
  readonly header?: Record<string, unknown>
}

/** Who signs tokens: publishes keys over HTTP, and counts how often they are asked for. */
export class Issuer {
  /** Paths that were asked for, in order. */
  readonly asked: string[] = []
  /** Answers instead of what should; undefined: as it should. */
  instead: ((path: string, response: ServerResponse) => boolean) | undefined
  readonly #server: Server
  readonly #keys = new Map<string, Key>()
  #generation = 0

  constructor() {
    this.#server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost')
      this.asked.push(pathname)
      if (this.instead?.(pathname, response) === true) return
      void this.answer(pathname, request, response)
    })
  }

  /** Its address. Under this name it is of another site than the service, which tests call at 127.0.0.1. */
  issuer = ''

  async start(): Promise<this> {
    await this.rotate()
    this.#server.listen(0, 'localhost')
    await once(this.#server, 'listening')
    this.issuer = `http://localhost:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** Has other keys from now on. */
  async rotate(): Promise<void> {
    const generation = ++this.#generation
    // For both kinds of signatures that it can make: it takes a quarter of a second of a core.
    const rsa = await generateRsa('rsa', { modulusLength: 2048 })
    for (const alg of ['RS256', 'ES256', 'EdDSA', 'PS256']) {
      const { publicKey, privateKey } = /^[RP]S/.test(alg) ? rsa : await generateKeyPair(alg, { extractable: true })
      const kid = `${alg}-${generation}`
      this.#keys.set(alg, {
        kid,
        alg,
        privateKey,
        published: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' },
      })
    }
  }

  keySet() {
    return { keys: [...this.#keys.values()].map(({ published }) => published) }
  }

  async sign(
    claims: Record<string, unknown>,
    { alg = 'RS256', forged = false, header = {} }: Signing = {},
  ): Promise<string> {
    const { kid, privateKey } = this.#keys.get(alg) as Key
    const key = forged ? (await generateKeyPair(alg)).privateKey : privateKey
    return new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(key)
  }

  protected async answer(path: string, _request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (path === '/jwks') sendJson(response, this.keySet())
    else sendJson(response, { error: 'not_found' }, 404)
  }
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
