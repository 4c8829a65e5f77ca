import { createHmac, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Parley } from '../../src/app.ts'
import { codeAt } from '../../src/areas/operators/totp.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { startService } from '../support/service.ts'
import { createWorld, type World } from '../support/world.ts'
import { createOperator, createOwner, meOf, newEmail, password, Visitor } from './operator.ts'
import { client, Guest, newPerson, type Person, TestProvider } from './provider.ts'

let provider: TestProvider
let parley: Parley
let world: World
let owner: Visitor

beforeAll(async () => {
  provider = await new TestProvider().start()
  const service = await startService({ ...provider.environment, TRUST_PROXY: 'true' })
  parley = service.parley
  world = await createWorld(service)
  owner = await createOwner(world)
})
afterAll(async () => {
  await parley?.close()
  await provider?.stop()
})
beforeEach(() => provider.beHonest())

/** From an address of their own: wrong attempts of one are not those of another. */
const newGuest = () => new Guest(world.url)

const invite = (email: string, grants: object = { role: 'moderator', apps: [world.app.name] }) =>
  owner.post('/invitations', { email, ...grants })

const goThere = (guest: Visitor, person: Person, path?: string, body?: object) =>
  provider.lead(guest, person, path, body)

async function signInAs(person: Person, guest: Visitor = newGuest()) {
  return guest.post('/session/provider', await goThere(guest, person))
}

const attempt = async (person: Person) => {
  const answer = await signInAs(person)
  return answer.status === 200 ? 'in' : refusal(answer)
}

/** Somebody invited, who has signed in once. */
async function createPerson(grants?: object) {
  const person = newPerson()
  dataOf(await invite(person.email as string, grants))
  const guest = newGuest()
  dataOf(await signInAs(person, guest))
  return { person, guest, me: await meOf(guest) }
}

describe('signing in by OpenID Connect', () => {
  it('is not there unless it is set up', async () => {
    const without = await createWorld()
    const guest = new Visitor(without.url)
    expect(dataOf(await guest.get('/sign-in/provider'))).toEqual({})
    expect(refusal(await guest.post('/sign-in/provider'))).toBe('404 ERR_NO_SIGN_IN_PROVIDER')
    const state = `sign-in.${'a'.repeat(43)}`
    expect(refusal(await guest.post('/session/provider', { state, code: 'c' }))).toBe('404 ERR_NO_SIGN_IN_PROVIDER')
    const signedIn = await createOwner(without)
    expect(refusal(await signedIn.post('/link', { password }))).toBe('404 ERR_NO_SIGN_IN_PROVIDER')
    expect(dataOf(await newGuest().get('/sign-in/provider'))).toEqual({
      issuer: provider.issuer,
      name: new URL(provider.issuer).host,
    })
  })

  it('makes the account of somebody invited, with what the invitation gives', async () => {
    const person = newPerson('Paula.Person@Example.COM'.replace('Paula', randomBytes(6).toString('hex')))
    dataOf(await invite((person.email as string).toLowerCase(), { role: 'moderator', apps: [world.app.name] }))
    const guest = newGuest()
    const begun = await guest.post('/sign-in/provider', { returnTo: '/apps/x/users?q=a%20b' })
    expect(String(begun.headers['set-cookie'])).toMatch(
      /^parley-sign-in=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=600$/,
    )
    const back = await provider.visit(dataOf(begun).address, person)
    expect(`${back.origin}${back.pathname}`).toBe(`${world.url}/console/sign-in`)
    const answer = await guest.post('/session/provider', Object.fromEntries(back.searchParams))
    const me = dataOf(answer)
    expect(me).toMatchObject({
      ...{ email: person.email?.toLowerCase(), name: 'Paula', role: 'moderator', apps: [world.app.name] },
      ...{ hasPassword: false, hasTotp: false, issuer: provider.issuer, returnTo: '/apps/x/users?q=a%20b' },
    })
    const cookies = [answer.headers['set-cookie']].flat()
    expect(cookies).toContainEqual(
      expect.stringMatching(/^parley-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    )
    expect(cookies).toContainEqual(expect.stringMatching(/^parley-sign-in=; .*Max-Age=0$/))
    expect(guest.cookie).toMatch(/^parley-console=[\w-]{43}$/)
    dataOf(await guest.get(`/apps/${world.app.name}/users`))
    // The invitation is used, and the account is listed with its provider.
    const open = dataOf(await owner.get('/invitations')).map(({ email }: { email: string }) => email)
    expect(open).not.toContain(me.email)
    expect(dataOf(await owner.get('/operators'))).toContainEqual(
      expect.objectContaining({ id: me.id, issuer: provider.issuer }),
    )
    const log = dataOf(await owner.get(`/audit-log?target=${me.id}&targetType=operator`))
    expect(log).toMatchObject([
      { action: 'operator_signed_in', details: { issuer: provider.issuer } },
      { action: 'operator_linked', details: { issuer: provider.issuer } },
      { action: 'operator_created', details: { role: 'moderator' } },
    ])
    expect(JSON.stringify(log)).not.toContain(person.sub)
  })

  it('knows somebody by their sub afterwards, whatever their address', async () => {
    const { person, me } = await createPerson()
    const guest = newGuest()
    dataOf(await signInAs({ sub: person.sub, email: newEmail(), email_verified: false }, guest))
    expect(await meOf(guest)).toMatchObject({ id: me.id, email: person.email })
    // Somebody else to whom the provider gave the address later is somebody else.
    expect(await attempt({ ...newPerson(person.email), email_verified: true })).toBe('403 ERR_NOT_INVITED')
  })

  it.each(['ES256', 'EdDSA'] as const)('takes tokens that are signed by %s', async (alg) => {
    provider.signing = { alg }
    await createPerson()
  })

  it('reads the address where the access token opens it', async () => {
    provider.metadata = { userinfo_endpoint: `${provider.issuer}/userinfo` }
    provider.tellsLater = (person) => person
    const own = await startService(provider.environment)
    const person = newPerson()
    dataOf(await invite(person.email as string))
    const guest = new Visitor(own.url)
    const other = newPerson()
    dataOf(await invite(other.email as string))
    provider.tellsLater = (asked) => ({ ...asked, sub: 'somebody else' })
    expect(refusal(await signInAs(other, guest))).toBe('401 ERR_SIGN_IN_REFUSED')
    provider.tellsLater = (asked) => asked
    expect(dataOf(await signInAs(person, guest))).toMatchObject({ email: person.email })
    await own.parley.close()
  })

  it('shows its secret in the body where the provider wants it there', async () => {
    provider.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] }
    const own = await startService(provider.environment)
    const person = newPerson()
    dataOf(await invite(person.email as string))
    expect(dataOf(await signInAs(person, new Visitor(own.url)))).toMatchObject({ email: person.email })
    await own.parley.close()
  })
})

describe('whoever comes without an invitation', () => {
  it('becomes no operator', async () => {
    expect(await attempt(newPerson())).toBe('403 ERR_NOT_INVITED')
    const invited = newEmail()
    dataOf(await invite(invited))
    expect(await attempt(newPerson(`x${invited}`))).toBe('403 ERR_NOT_INVITED')
    expect(await attempt({ sub: 'no-address' })).toBe('403 ERR_NOT_INVITED')
  })

  it('cannot use an address that the provider has not verified', async () => {
    const email = newEmail()
    dataOf(await invite(email))
    for (const verified of [false, undefined, 'true', 1, null]) {
      expect(await attempt({ ...newPerson(email), email_verified: verified })).toBe('403 ERR_NOT_INVITED')
    }
    expect(await attempt(newPerson(email))).toBe('in')
  })

  it('cannot use an invitation that has expired, was withdrawn or was used', async () => {
    const [expired, withdrawn, used] = [newEmail(), newEmail(), newEmail()]
    dataOf(await invite(expired))
    await world.context.database.run(sql`update operator_links set expires_at = 1 where email = ${expired}`)
    const { id } = dataOf(await invite(withdrawn))
    dataOf(await owner.delete(`/invitations/${id}`))
    const { token } = dataOf(await invite(used))
    dataOf(await newGuest().post('/invitations/accept', { token, name: 'Otto', password }))
    for (const email of [expired, withdrawn, used]) {
      expect(await attempt(newPerson(email)), email).toBe('403 ERR_NOT_INVITED')
    }
  })

  it('gets one account, of two who come at the same time', async () => {
    const email = newEmail()
    dataOf(await invite(email))
    const [one, other] = [newGuest(), newGuest()]
    const backs = [await goThere(one, newPerson(email)), await goThere(other, newPerson(email))]
    const answers = await Promise.all([one, other].map((guest, i) => guest.post('/session/provider', backs[i])))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403])
  })
})

describe('an account that is disabled or deleted', () => {
  it('does not come in', async () => {
    const { person, me } = await createPerson()
    dataOf(await owner.put(`/operators/${me.id}`, { disabled: true }))
    expect(await attempt(person)).toBe('403 ERR_OPERATOR_DISABLED')
    const [entry] = dataOf(await owner.get(`/audit-log?target=${me.id}&targetType=operator`))
    expect(entry).toMatchObject({ action: 'operator_sign_in_refused' })
    dataOf(await owner.put(`/operators/${me.id}`, { disabled: false }))
    expect(await attempt(person)).toBe('in')
    dataOf(await owner.delete(`/operators/${me.id}`))
    expect(await attempt(person)).toBe('403 ERR_NOT_INVITED')
    dataOf(await invite(person.email as string, { role: 'support' }))
    expect(await attempt(person)).toBe('in')
  })
})

describe('an ID token', () => {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const now = () => Math.floor(Date.now() / 1000)
  type Lie = Partial<Pick<TestProvider, 'claims' | 'signing' | 'idToken'>>
  const lies: [string, Lie][] = [
    ['with another nonce', { claims: (claims) => ({ ...claims, nonce: 'x'.repeat(43) }) }],
    ['without a nonce', { claims: ({ nonce, ...claims }) => claims }],
    ['of another issuer', { claims: (claims) => ({ ...claims, iss: 'https://evil.example.com' }) }],
    ['for another client', { claims: (claims) => ({ ...claims, aud: 'other' }) }],
    ['for several clients, of another', { claims: (claims) => ({ ...claims, aud: [client.id, 'x'], azp: 'x' }) }],
    ['for several clients, of none', { claims: (claims) => ({ ...claims, aud: [client.id, 'x'] }) }],
    ['that was given to another client', { claims: (claims) => ({ ...claims, azp: 'other' }) }],
    ['that has expired', { claims: (claims) => ({ ...claims, iat: now() - 400, exp: now() - 100 }) }],
    ['that does not expire', { claims: ({ exp, ...claims }) => claims }],
    ['that is old', { claims: (claims) => ({ ...claims, iat: now() - 3600 }) }],
    ['of tomorrow', { claims: (claims) => ({ ...claims, iat: now() + 86_400, exp: now() + 90_000 }) }],
    ['without a time', { claims: ({ iat, ...claims }) => claims }],
    ['about nobody', { claims: ({ sub, ...claims }) => claims }],
    ['about an empty name', { claims: (claims) => ({ ...claims, sub: '' }) }],
    ['signed by another key', { signing: { forged: true } }],
    ['with a key that is not there', { signing: { header: { kid: 'not-there' } } }],
    ['signed by an algorithm that is not taken', { signing: { alg: 'PS256' } }],
    ['that brings its own key', { signing: { forged: true, header: { jku: 'http://127.0.0.1:9/', kid: 'mine' } } }],
    ['without a signature', { idToken: (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.` }],
    [
      "signed by the client's secret",
      {
        idToken: (claims) => {
          const signed = `${encode({ alg: 'HS256' })}.${encode(claims)}`
          return `${signed}.${createHmac('sha256', client.secret).update(signed).digest('base64url')}`
        },
      },
    ],
    ['that is none', { idToken: () => 'a.b.c' }],
  ]

  it.each(lies)('%s is refused', async (_, lie) => {
    const email = newEmail()
    dataOf(await invite(email))
    Object.assign(provider, lie)
    expect(await attempt(newPerson(email))).toBe('401 ERR_SIGN_IN_REFUSED')
  })

  it('of a new key is taken, and a key that is not there is asked for once a minute', async () => {
    const own = await new TestProvider().start()
    const service = await startService(own.environment)
    const there = await createWorld(service)
    const keysAsked = () => own.asked.filter((path) => path === '/jwks').length
    const attemptThere = async () => {
      const guest = new Visitor(there.url)
      const { address } = dataOf(await guest.post('/sign-in/provider'))
      const back = Object.fromEntries((await own.visit(address, newPerson())).searchParams)
      return refusal(await guest.post('/session/provider', back))
    }
    // The token is right, and whose it is does not matter here.
    const [right, wrong] = ['403 ERR_NOT_INVITED', '401 ERR_SIGN_IN_REFUSED']
    expect([await attemptThere(), await attemptThere(), keysAsked()]).toEqual([right, right, 1])
    await own.rotate()
    expect([await attemptThere(), keysAsked()]).toEqual([right, 2])
    own.signing = { header: { kid: 'not-there' } }
    expect([await attemptThere(), await attemptThere(), keysAsked()]).toEqual([wrong, wrong, 2])
    own.signing = {}
    expect([await attemptThere(), keysAsked()]).toEqual([right, 2])
    await service.parley.close()
    await own.stop()
  })
})

describe('the way to the provider and back', () => {
  it('is gone once', async () => {
    const { person } = await createPerson()
    const guest = newGuest()
    const begun = dataOf(await guest.post('/sign-in/provider'))
    const cookie = guest.cookie
    const back = Object.fromEntries((await provider.visit(begun.address, person)).searchParams)
    const other = newGuest()
    other.cookie = cookie
    const answers = await Promise.all([guest, other].map((one) => one.post('/session/provider', back)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
    guest.cookie = cookie
    expect(refusal(await guest.post('/session/provider', back))).toBe('404 ERR_SIGN_IN_NOT_FOUND')
    // The code alone, with a state of today, is of no use either.
    const next = await goThere(guest, person)
    expect(refusal(await guest.post('/session/provider', { ...next, code: back.code }))).toBe('401 ERR_SIGN_IN_REFUSED')
  })

  it('is of the browser in which it began', async () => {
    const attacker = newGuest()
    const { person } = await createPerson()
    const back = await goThere(attacker, person)
    const victim = newGuest()
    expect(refusal(await victim.post('/session/provider', back))).toBe('404 ERR_SIGN_IN_NOT_FOUND')
    dataOf(await victim.post('/sign-in/provider'))
    expect(refusal(await victim.post('/session/provider', back))).toBe('404 ERR_SIGN_IN_NOT_FOUND')
    // It is not used up by that.
    dataOf(await attacker.post('/session/provider', back))
    const forged = await newGuest().post('/session/provider', back, { origin: 'https://evil.example.com' })
    expect(refusal(forged)).toBe('403 ERR_PERMISSION_DENIED')
  })

  it('is of a state that was given, as it was given, for ten minutes', async () => {
    const { person } = await createPerson()
    const guest = newGuest()
    const back = await goThere(guest, person)
    const cookie = guest.cookie
    const answer = async (state: string) => {
      guest.cookie = cookie
      return refusal(await guest.post('/session/provider', { ...back, state }))
    }
    expect(await answer(`sign-in.${'a'.repeat(43)}`)).toBe('404 ERR_SIGN_IN_NOT_FOUND')
    expect(await answer('other')).toBe('400 ERR_BAD_REQUEST')
    await world.context.database.run(sql`update operator_sign_ins set expires_at = 1`)
    expect(await answer(back.state as string)).toBe('404 ERR_SIGN_IN_NOT_FOUND')
  })

  it('ends where the provider is another, or does not say who it is though it always does', async () => {
    const { person } = await createPerson()
    const guest = newGuest()
    const back = await goThere(guest, person)
    const mixedUp = await guest.post('/session/provider', { ...back, iss: 'https://evil.example.com' })
    expect(refusal(mixedUp)).toBe('401 ERR_SIGN_IN_REFUSED')
    provider.metadata = { authorization_response_iss_parameter_supported: true }
    const own = await startService(provider.environment)
    const there = new Visitor(own.url)
    const { iss, ...silent } = await goThere(there, person)
    expect(iss).toBe(provider.issuer)
    expect(refusal(await there.post('/session/provider', silent))).toBe('401 ERR_SIGN_IN_REFUSED')
    await own.parley.close()
  })

  it.each([
    'https://evil.example.com/',
    '//evil.example.com/',
    '/\\evil.example.com/',
    '\\\\evil.example.com',
    '/apps\n//evil.example.com',
    'javascript:alert(1)',
    '',
  ])('does not lead to %j afterwards', async (returnTo) => {
    expect(refusal(await newGuest().post('/sign-in/provider', { returnTo }))).toBe('400 ERR_BAD_REQUEST')
  })

  it('leads back to the host by which the page was opened, or to PUBLIC_URL', async () => {
    const at = async (headers: Record<string, string>) => {
      const { address } = dataOf(await newGuest().post('/sign-in/provider', {}, headers))
      return new URL(address).searchParams.get('redirect_uri')
    }
    expect(await at({ host: 'localhost:7', origin: 'http://localhost:7' })).toBe('http://localhost:7/console/sign-in')
    const open = { host: 'chat.example.com', origin: 'http://chat.example.com' }
    expect(refusal(await newGuest().post('/sign-in/provider', {}, open))).toBe('403 ERR_PERMISSION_DENIED')
    const own = await startService({ ...provider.environment, PUBLIC_URL: 'https://chat.example.com' })
    const guest = new Visitor(own.url)
    const begun = await guest.post('/sign-in/provider', {}, { origin: 'https://chat.example.com' })
    expect(new URL(dataOf(begun).address).searchParams.get('redirect_uri')).toBe(
      'https://chat.example.com/console/sign-in',
    )
    expect(String(begun.headers['set-cookie'])).toMatch(/^__Host-parley-sign-in=.*; Path=\/; .*Secure; Max-Age=600$/)
    await own.parley.close()
  })

  it('is begun again and again by one address only at the cost of what it began before', async () => {
    const { person } = await createPerson()
    const [guest, other] = [newGuest(), newGuest()]
    const elsewhere = await goThere(other, person)
    const first = await goThere(guest, person)
    const cookie = guest.cookie
    for (let i = 0; i < 20; i++) dataOf(await guest.post('/sign-in/provider'))
    guest.cookie = cookie
    expect(refusal(await guest.post('/session/provider', first))).toBe('404 ERR_SIGN_IN_NOT_FOUND')
    dataOf(await other.post('/session/provider', elsewhere))
  })

  it('makes whoever comes back wrongly again and again wait', async () => {
    const { person } = await createPerson()
    const guest = newGuest()
    const wrong = { state: `sign-in.${'b'.repeat(43)}`, code: 'c' }
    for (let i = 0; i < 6; i++) {
      expect(refusal(await guest.post('/session/provider', wrong))).toBe('404 ERR_SIGN_IN_NOT_FOUND')
    }
    const waits = await guest.post('/session/provider', wrong)
    expect(refusal(waits)).toBe('429 ERR_TOO_MANY_REQUESTS')
    expect(Number(waits.headers['retry-after'])).toBeGreaterThan(0)
    expect(await attempt(person)).toBe('in')
  })
})

describe('an account with a password', () => {
  it('is not opened by an address that is the same', async () => {
    const email = newEmail()
    await createOperator(owner, { role: 'support' }, email)
    const answer = await signInAs(newPerson(email))
    expect(refusal(answer)).toBe('403 ERR_NOT_INVITED')
    expect(answer.body.error.devMessage).toContain('link it')
  })

  it('is linked by whoever is signed in to it, and asks for no code then', async () => {
    const email = newEmail()
    const operator = await createOperator(owner, { role: 'support' }, email)
    const { id } = await meOf(operator)
    const { secret } = dataOf(await operator.post('/totp', { password }))
    dataOf(await operator.post('/totp/confirm', { code: codeAt(secret, Math.floor(Date.now() / 30_000)) }))
    const person = newPerson()
    expect(refusal(await operator.post('/link', { password: 'not it' }))).toBe('401 ERR_WRONG_PASSWORD')
    const back = await goThere(operator, person, '/link', { password })
    // It is no sign-in, and no link of anybody else.
    const nobody = newGuest()
    nobody.cookie = operator.cookie?.replace(/parley-console=[^;]+(; )?/, '')
    expect(refusal(await nobody.post('/session/provider', back))).toBe('404 ERR_SIGN_IN_NOT_FOUND')
    const other = await createOperator(owner, { role: 'support' })
    other.cookie = `${other.cookie}; ${/parley-sign-in=[^;]+/.exec(operator.cookie as string)?.[0]}`
    expect(refusal(await other.post('/link/confirm', back))).toBe('404 ERR_SIGN_IN_NOT_FOUND')
    dataOf(await operator.post('/link/confirm', back))
    expect(await meOf(operator)).toMatchObject({ issuer: provider.issuer, hasPassword: true })
    expect(refusal(await operator.post('/link', { password }))).toBe('409 ERR_IDENTITY_ALREADY_EXISTS')

    const guest = newGuest()
    dataOf(await signInAs(person, guest))
    expect(await meOf(guest)).toMatchObject({ id, email, hasTotp: true })
    // Whoever is linked with one account is not with another.
    const taken = await goThere(other, person, '/link', { password })
    expect(refusal(await other.post('/link/confirm', taken))).toBe('409 ERR_IDENTITY_ALREADY_EXISTS')

    expect(refusal(await operator.delete('/link', { password: 'not it' }))).toBe('401 ERR_WRONG_PASSWORD')
    dataOf(await operator.delete('/link', { password }))
    expect(refusal(await operator.delete('/link', { password }))).toBe('404 ERR_IDENTITY_NOT_FOUND')
    expect(await attempt(person)).toBe('403 ERR_NOT_INVITED')
    const log = dataOf(await owner.get(`/audit-log?target=${id}&targetType=operator`))
    expect(log.map(({ action }: { action: string }) => action)).toEqual(
      expect.arrayContaining(['operator_linked', 'operator_unlinked']),
    )
  })
})

describe('an account that was made by it', () => {
  it('has no password that could be guessed, or that ends the link', async () => {
    const { person, guest } = await createPerson()
    const { email } = await meOf(guest)
    expect(refusal(await newGuest().post('/session', { email, password }))).toBe('401 ERR_WRONG_PASSWORD')
    expect(refusal(await guest.delete('/link', { password }))).toBe('401 ERR_WRONG_PASSWORD')
    expect(await attempt(person)).toBe('in')
  })
})
