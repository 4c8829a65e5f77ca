/** Where operators can sign in by OpenID Connect. */
export interface OidcSettings {
  /** As the provider writes it in its tokens. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
}

const names = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const

/** The three go together. Whoever sets them trusts the address, so it is not held against those that apps may not have called. */
export function readOidc(value: (name: string) => string | undefined, problems: string[]): OidcSettings | undefined {
  const [issuer, clientId, clientSecret] = names.map(value)
  const missing = names.filter((name) => value(name) === undefined)
  if (missing.length === names.length) return undefined
  for (const name of missing) problems.push(`${name} is missing: ${names.join(', ')} go together`)
  if (issuer !== undefined && !isAddressOfProvider(issuer)) {
    problems.push(
      `OIDC_ISSUER must be an address such as https://accounts.example.com, without ? and #; http is for localhost alone. It is "${issuer}"`,
    )
  }
  if (!issuer || !clientId || !clientSecret) return undefined
  return { issuer, clientId, clientSecret }
}

/** Secrets go there: over TLS, or not beyond this machine. */
export function isSafeAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, host, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLocalHost(host))
}

function isAddressOfProvider(text: string): boolean {
  return isSafeAddress(text) && !/[?#\s]/.test(text)
}

/** Is this, with its port or without, a name of the machine itself? */
export function isLocalHost(host: string): boolean {
  return /^(?:localhost|[a-z0-9-]+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(host)
}
