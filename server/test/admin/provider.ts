import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JWTPayload } from 'jose'
import { dataOf } from '../support/chat.ts'
import { Issuer, type Signing, sendJson } from '../support/issuer.ts'
import { newEmail, Visitor } from './operator.ts'

/** Who sits before the provider's page. */
export interface Person {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: unknown
  readonly name?: string
}

interface Grant {
  readonly person: Person
  readonly redirectUri: string
  readonly nonce: string
  readonly challenge: string
}

export const client = { id: 'parley console', secret: 's3cret:/+&%' }

/** An OpenID Connect provider that holds its clients to the protocol, and lies where a test wants it to. */
export class TestProvider extends Issuer {
  person: Person = { sub: 'nobody' }
  /** Changes what an ID token says. */
  claims: (claims: JWTPayload) => JWTPayload = (claims) => claims
  signing: Signing = {}
  /** Gives this instead of a token that it has signed. */
  idToken: ((claims: JWTPayload) => string) | undefined
  metadata: Record<string, unknown> = {}
  /** Says who somebody is only where their access token opens it. */
  tellsLater: ((person: Person) => object) | undefined
  readonly #codes = new Map<string, Grant>()
  readonly #tokens = new Map<string, Person>()

  /** The settings of a service whose operators sign in here. */
  get environment() {
    return { OIDC_ISSUER: this.issuer, OIDC_CLIENT_ID: client.id, OIDC_CLIENT_SECRET: client.secret }
  }

  /** Signs in as a person on the page at this address. @returns where the provider leads back to */
  async visit(address: string, person: Person): Promise<URL> {
    this.person = person
    const answer = await fetch(address.replace('/authorize', '/continue'), { redirect: 'manual' })
    const location = answer.headers.get('location')
    if (location === null) throw new Error(`the provider does not lead back: ${answer.status} ${await answer.text()}`)
    return new URL(location)
  }

  /** Has a visitor begin, and sign in on the page. @returns what stands in the address when they are back */
  async lead(visitor: Visitor, person: Person, path = '/sign-in/provider', body: object = {}) {
    const { address } = dataOf(await visitor.post(path, body))
    return Object.fromEntries((await this.visit(address, person)).searchParams)
  }

  /** Does as it should again. */
  beHonest(): void {
    this.claims = (claims) => claims
    this.signing = {}
    this.idToken = undefined
    this.tellsLater = undefined
    this.metadata = {}
    this.instead = undefined
  }

  protected override async answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const query = new URL(request.url ?? '/', this.issuer).searchParams
    if (path === '/.well-known/openid-configuration') {
      sendJson(response, {
        issuer: this.issuer,
        authorization_endpoint: `${this.issuer}/authorize?tenant=a`,
        token_endpoint: `${this.issuer}/token`,
        jwks_uri: `${this.issuer}/jwks`,
        ...this.metadata,
      })
    } else if (path === '/authorize') {
      const next = `/continue?${query}`.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(`<!doctype html><title>Provider</title><a href="${next}">Continue</a>`)
    } else if (path === '/continue') {
      this.#leadBack(query, response)
    } else if (path === '/token') {
      await this.#giveTokens(request, response)
    } else if (path === '/userinfo') {
      const person = this.#tokens.get(request.headers.authorization?.replace('Bearer ', '') ?? '')
      if (person === undefined) sendJson(response, {}, 401)
      else sendJson(response, this.tellsLater?.(person) ?? person)
    } else {
      await super.answer(path, request, response)
    }
  }

  #leadBack(query: URLSearchParams, response: ServerResponse): void {
    const asked = Object.fromEntries(query)
    const isRight =
      asked.response_type === 'code' &&
      asked.client_id === client.id &&
      asked.tenant === 'a' &&
      asked.code_challenge_method === 'S256' &&
      /^[\w-]{43}$/.test(asked.code_challenge ?? '') &&
      (asked.nonce ?? '').length > 20 &&
      asked.scope?.split(' ').includes('openid')
    if (!isRight) {
      sendJson(response, { error: 'invalid_request', asked }, 400)
      return
    }
    const code = randomBytes(16).toString('hex')
    const { redirect_uri: redirectUri = '', nonce = '', code_challenge: challenge = '', state = '' } = asked
    this.#codes.set(code, { person: this.person, redirectUri, nonce, challenge })
    const back = new URL(redirectUri)
    back.search = new URLSearchParams({ code, state, iss: this.issuer }).toString()
    response.writeHead(302, { location: back.href }).end()
  }

  async #giveTokens(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()))
    const inHeader = Buffer.from(request.headers.authorization?.replace('Basic ', '') ?? '', 'base64')
      .toString()
      .split(':')
      .map((part) => decodeURIComponent(part.replaceAll('+', ' ')))
    const shown = request.headers.authorization === undefined ? [form.client_id, form.client_secret] : inHeader
    if (shown[0] !== client.id || shown[1] !== client.secret) {
      return sendJson(response, { error: 'invalid_client' }, 401)
    }
    const grant = this.#codes.get(form.code ?? '')
    this.#codes.delete(form.code ?? '')
    const proof = createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url')
    const isRight =
      form.grant_type === 'authorization_code' && grant?.redirectUri === form.redirect_uri && grant?.challenge === proof
    if (grant === undefined || !isRight) return sendJson(response, { error: 'invalid_grant' }, 400)
    const { person, nonce } = grant
    const now = Math.floor(Date.now() / 1000)
    const about = this.tellsLater === undefined ? person : { sub: person.sub }
    const claims = this.claims({ iss: this.issuer, aud: client.id, iat: now, exp: now + 300, nonce, ...about })
    const idToken = this.idToken?.(claims) ?? (await this.sign(claims, this.signing))
    const accessToken = randomBytes(16).toString('hex')
    this.#tokens.set(accessToken, person)
    sendJson(response, { access_token: accessToken, token_type: 'Bearer', id_token: idToken })
  }
}

/** Somebody whom the provider knows. */
export const newPerson = (email = newEmail()): Person => ({
  ...{ sub: randomBytes(8).toString('hex'), email, email_verified: true, name: 'Paula' },
})

/** A visitor whose proxy names an address of their own. */
export class Guest extends Visitor {
  readonly from = `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`

  override call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    return super.call(method, path, body, { 'x-forwarded-for': this.from, ...headers })
  }
}
