import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dataOf, refusal } from '../support/chat.ts'
import { startService } from '../support/service.ts'
import { createWorld } from '../support/world.ts'
import { createOwner, newEmail, password, Visitor } from './operator.ts'
import { newPerson, TestProvider } from './provider.ts'

let provider: TestProvider

beforeAll(async () => {
  provider = await new TestProvider().start()
})
afterAll(() => provider?.stop())
beforeEach(() => provider.beHonest())

describe('a provider that does not answer as it should', () => {
  const unavailable = '503 ERR_SIGN_IN_PROVIDER_UNAVAILABLE'
  /** A service that has not asked the provider anything yet. */
  const withOwn = async (work: (guest: Visitor) => Promise<void>, environment = provider.environment) => {
    const own = await startService(environment)
    try {
      await work(new Visitor(own.url))
    } finally {
      await own.parley.close()
    }
  }
  const beginning = async (guest: Visitor) => refusal(await guest.post('/sign-in/provider'))

  it('is away', async () => {
    const gone = { ...provider.environment, OIDC_ISSUER: 'http://localhost:9' }
    await withOwn(async (guest) => {
      const answer = await guest.post('/sign-in/provider')
      expect(refusal(answer)).toBe(unavailable)
      expect(answer.headers['retry-after']).toBeDefined()
      // Nobody is kept from their password by that.
      const email = newEmail()
      await createOwner(await createWorld(), email)
      dataOf(await guest.post('/session', { email, password }))
    }, gone)
  })

  it('is slow', async () => {
    provider.instead = () => true
    await withOwn(async (guest) => expect(await beginning(guest)).toBe(unavailable))
  })

  it.each<[string, (path: string) => string | undefined]>([
    ['no JSON', () => '<html>'],
    ['a list', () => '[]'],
    ['nothing', () => ''],
    ['more than anybody reads', () => `{"issuer":"${'x'.repeat(300_000)}"}`],
  ])('says of itself %s', async (_, text) => {
    provider.instead = (path, response) => {
      response.end(text(path))
      return true
    }
    await withOwn(async (guest) => expect(await beginning(guest)).toBe(unavailable))
  })

  it.each<[string, object]>([
    ['that it is another', { issuer: 'https://evil.example.com' }],
    ['that its tokens are in the open', { token_endpoint: 'http://evil.example.com/token' }],
    ['that its keys are in a file', { jwks_uri: 'file:///etc/passwd' }],
    ['that its page is a script', { authorization_endpoint: 'javascript:alert(1)' }],
  ])('says of itself %s', async (_, metadata) => {
    provider.metadata = { ...metadata }
    await withOwn(async (guest) => expect(await beginning(guest)).toBe(unavailable))
  })

  it.each<[string, string, number, string]>([
    ['/token', '<html>', 200, unavailable],
    ['/token', '{}', 200, unavailable],
    ['/token', '{}', 500, unavailable],
    ['/token', '{"error":"invalid_client"}', 401, '401 ERR_SIGN_IN_REFUSED'],
    ['/token', '', 302, unavailable],
    ['/jwks', '{"keys":"none"}', 200, unavailable],
    ['/jwks', '', 500, unavailable],
  ])('answers %s with %j and %i', async (path, text, status, said) => {
    await withOwn(async (guest) => {
      const back = await provider.lead(guest, newPerson())
      provider.instead = (asked, response) => {
        if (asked !== path) return false
        response.writeHead(status, { location: 'http://localhost:9/' }).end(text)
        return true
      }
      expect(refusal(await guest.post('/session/provider', back))).toBe(said)
    })
  })
})
