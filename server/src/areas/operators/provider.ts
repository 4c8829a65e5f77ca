import { createHash } from 'node:crypto'
import { type JWTPayload, jwtVerify } from 'jose'
import { Agent, type Dispatcher, request } from 'undici'
import { createKeySet, KeysUnavailable, signatureAlgorithms } from '../../chat/credentials/key-set.ts'
import { isSafeAddress, type OidcSettings } from '../../config/oidc.ts'
import type { Log } from '../../log.ts'
import { providerUnavailable, signInRefused } from './errors.ts'

/** One way to the provider's page and back. */
export interface Attempt {
  readonly redirectUri: string
  readonly state: string
  readonly nonce: string
  /** The secret of PKCE (RFC 7636). */
  readonly verifier: string
}

/** What the provider led back with. */
export interface Return {
  readonly code: string
  /** Who says so (RFC 9207), where the provider does. */
  readonly iss?: string | undefined
}

/** Who signed in at the provider, as it says. */
export interface Person {
  readonly issuer: string
  readonly subject: string
  /** In lower case; undefined unless the provider has verified it. */
  readonly email: string | undefined
  readonly name: string | undefined
}

/** The OpenID Connect provider of this deployment. */
export interface SignInProvider {
  readonly issuer: string
  /** Its host, for people. */
  readonly name: string
  /** The page of the provider to go to. @throws 503 `ERR_SIGN_IN_PROVIDER_UNAVAILABLE` */
  addressOf(attempt: Attempt): Promise<string>
  /** @throws 401 `ERR_SIGN_IN_REFUSED`, 503 `ERR_SIGN_IN_PROVIDER_UNAVAILABLE` */
  redeem(attempt: Attempt, from: Return): Promise<Person>
  close(): Promise<void>
}

/** Any answer of the provider must be there by then. */
const patienceMs = 5_000
const mostBytes = 256 * 1024
/** What the provider says of itself is asked for again after so long. */
const metadataMs = 3_600_000
/** Clocks differ by so much ... */
const clockSeconds = 60
/** ... and an ID token is used at once. */
const oldestToken = '10 minutes'

/** What is used of the provider's metadata (OpenID Connect Discovery 1.0). */
interface Metadata {
  readonly authorization: string
  readonly token: string
  readonly keys: string
  readonly userInfo: string | undefined
  /** Whether the client's secret goes in the body: where the provider does not take it in the header. */
  readonly secretInBody: boolean
  readonly namesIssuer: boolean
}

type Members = Readonly<Record<string, unknown>>

/** What goes wrong at the provider; the reason is for the log. */
class ProviderFailure extends Error {}
/** What the provider led back with is not to be trusted; the reason is for the log. */
class Refused extends Error {}

export function createSignInProvider({ issuer, clientId, clientSecret }: OidcSettings, log: Log): SignInProvider {
  const agent = new Agent({ connections: 8, maxResponseSize: mostBytes, connect: { timeout: patienceMs } })

  const ask = async (url: string, options: Partial<Dispatcher.RequestOptions> = {}) => {
    try {
      const { statusCode: status, body } = await request(url, {
        ...{ method: 'GET', dispatcher: agent, headersTimeout: patienceMs, bodyTimeout: patienceMs },
        ...(options as object),
        headers: { accept: 'application/json', ...(options.headers as Record<string, string> | undefined) },
        signal: AbortSignal.timeout(patienceMs),
      })
      return { status, members: readMembers(await body.text()) }
    } catch (error) {
      throw new ProviderFailure(`${new URL(url).pathname}: ${error instanceof Error ? error.message : error}`)
    }
  }
  const read = async (url: string, headers?: Record<string, string>): Promise<Members> => {
    const { status, members } = await ask(url, headers && { headers })
    if (status === 200 && members !== undefined) return members
    throw new ProviderFailure(`${new URL(url).pathname} answered ${status}${members ? '' : ', and no JSON'}`)
  }

  let known: { metadata: Metadata; at: number } | undefined
  const discover = async (): Promise<Metadata> => {
    if (known !== undefined && performance.now() < known.at + metadataMs) return known.metadata
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const metadata = readMetadata(await read(address), issuer)
    known = { metadata, at: performance.now() }
    return metadata
  }
  const keys = createKeySet(async () => read((await discover()).keys))

  /** Exchanges the code for tokens. */
  const exchange = async (metadata: Metadata, { redirectUri, verifier }: Attempt, code: string) => {
    const form = new URLSearchParams({
      ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier },
      ...(metadata.secretInBody && { client_id: clientId, client_secret: clientSecret }),
    })
    const { status, members } = await ask(metadata.token, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(!metadata.secretInBody && { authorization: basicOf(clientId, clientSecret) }),
      },
      body: form.toString(),
    })
    if (status >= 400 && status < 500 && members !== undefined) {
      throw new Refused(`the provider did not take the code: ${String(members.error).slice(0, 100)}`)
    }
    if (status !== 200 || members === undefined) throw new ProviderFailure(`its token endpoint answered ${status}`)
    return members
  }

  const verify = async (idToken: unknown, nonce: string): Promise<JWTPayload & { sub: string }> => {
    if (typeof idToken !== 'string') throw new ProviderFailure('it gave no ID token')
    try {
      const { payload } = await jwtVerify(idToken, keys, {
        ...{ algorithms: signatureAlgorithms, issuer, audience: clientId },
        ...{ requiredClaims: ['exp', 'iat', 'sub'], clockTolerance: clockSeconds, maxTokenAge: oldestToken },
      })
      const { azp, aud, sub } = payload
      if (payload.nonce !== nonce) throw new Refused('the nonce is another')
      if (azp === undefined ? Array.isArray(aud) && aud.length > 1 : azp !== clientId) {
        throw new Refused('it is for another client')
      }
      if (typeof sub !== 'string' || sub === '' || sub.length > 255) throw new Refused('it names nobody')
      return { ...payload, sub }
    } catch (error) {
      if (error instanceof KeysUnavailable) throw new ProviderFailure(String(error.cause))
      throw new Refused(`the ID token: ${error instanceof Error ? error.message : error}`)
    }
  }

  /** The address may stand in the ID token, or only where the access token opens it. */
  const claimsOf = async (metadata: Metadata, claims: JWTPayload, accessToken: unknown): Promise<Members> => {
    if (claims.email !== undefined || metadata.userInfo === undefined || typeof accessToken !== 'string') return claims
    const more = await read(metadata.userInfo, { authorization: `Bearer ${accessToken}` })
    if (more.sub !== claims.sub) throw new Refused('the user info is about somebody else')
    return { ...claims, ...more }
  }

  /** Says to the caller which of the two it was, and why to the log. */
  const explained = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof Refused) {
        log.warn({ issuer, reason: error.message }, 'a sign-in of an operator by OpenID Connect was refused')
        throw signInRefused()
      }
      if (!(error instanceof ProviderFailure)) throw error
      log.warn({ issuer, reason: error.message }, 'the OpenID Connect provider did not answer as it should')
      throw providerUnavailable()
    }
  }

  return {
    issuer,
    name: new URL(issuer).host,
    addressOf: (attempt) =>
      explained(async () => {
        const address = new URL((await discover()).authorization)
        const parameters = {
          ...{ response_type: 'code', client_id: clientId, scope: 'openid email profile' },
          ...{ redirect_uri: attempt.redirectUri, state: attempt.state, nonce: attempt.nonce },
          ...{ code_challenge: challengeOf(attempt.verifier), code_challenge_method: 'S256' },
        }
        for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value)
        return address.href
      }),
    redeem: (attempt, { code, iss }) =>
      explained(async () => {
        const metadata = await discover()
        if (iss === undefined ? metadata.namesIssuer : iss !== issuer) throw new Refused('another issuer led back')
        const { id_token: idToken, access_token: accessToken } = await exchange(metadata, attempt, code)
        const claims = await verify(idToken, attempt.nonce)
        const { email, email_verified: isVerified, name } = await claimsOf(metadata, claims, accessToken)
        return {
          issuer,
          subject: claims.sub,
          email: isVerified === true && typeof email === 'string' ? email.trim().toLowerCase() : undefined,
          name: typeof name === 'string' ? name.replaceAll(/\p{C}/gu, '').trim().slice(0, 100) || undefined : undefined,
        }
      }),
    close: () => agent.destroy(),
  }
}

/** @throws ProviderFailure for metadata of another issuer, or with addresses that secrets must not go to */
function readMetadata(metadata: Members, issuer: string): Metadata {
  if (metadata.issuer !== issuer) {
    throw new ProviderFailure(`it calls itself ${JSON.stringify(metadata.issuer)}: set OIDC_ISSUER to exactly that`)
  }
  const addressOf = (name: string) => {
    const address = metadata[name]
    if (typeof address === 'string' && isSafeAddress(address)) return address
    throw new ProviderFailure(`its ${name} is not an https address`)
  }
  const methods = metadata.token_endpoint_auth_methods_supported
  const takes = (method: string) => Array.isArray(methods) && methods.includes(method)
  return {
    authorization: addressOf('authorization_endpoint'),
    token: addressOf('token_endpoint'),
    keys: addressOf('jwks_uri'),
    userInfo: metadata.userinfo_endpoint === undefined ? undefined : addressOf('userinfo_endpoint'),
    secretInBody: takes('client_secret_post') && !takes('client_secret_basic'),
    namesIssuer: metadata.authorization_response_iss_parameter_supported === true,
  }
}

/** An object of JSON; undefined for anything else. */
function readMembers(text: string): Members | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as Members) : undefined
  } catch {
    return undefined
  }
}

function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}

/** Both parts are encoded as in forms first (RFC 6749, 2.3.1). */
function basicOf(id: string, secret: string): string {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`
}
