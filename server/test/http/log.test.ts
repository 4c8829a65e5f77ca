import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Route } from '../../src/call.ts'
import { createLog } from '../../src/log.ts'
import { routes } from '../../src/routes.ts'
import { createWorld, type World } from '../support/world.ts'
import { furnish, type Ids, samples } from './samples.ts'
import { ask, pathOf, queryOf, type Service, startParley } from './watched.ts'

const token = `alice_1700000000${'5e'.repeat(15)}`

/** The real routes, one of which fails with an error that holds all that must not be seen. */
const breakable: Route[] = routes.map((route) => ({
  ...route,
  handle: async (call, context) => {
    if ('broken' in call.query || call.params.uid === 'broken') {
      const cause = new Error(`the token was ${token}`)
      throw Object.assign(new Error(`no luck with ${'ab'.repeat(20)}`, { cause }), {
        detail: 'Key (uid)=(secret detail)',
      })
    }
    return route.handle(call, context)
  },
}))

let service: Service
let world: World
let ids: Ids

beforeAll(async () => {
  service = await startParley({ routes: breakable, environment: { LOG_LEVEL: 'trace' } })
  world = await createWorld()
  ids = await furnish(world)
})
afterAll(() => service.parley.close())

interface Line {
  readonly level: number
  readonly time: string
  readonly msg: string
  readonly operation?: string
  readonly method?: string
  readonly status?: number
  readonly ms?: number
  readonly requestId?: string
  readonly app?: string
  readonly caller?: string
  readonly key?: string
  readonly uid?: string
  readonly address?: string
  readonly err?: { type: string; message: string; stack: string; cause?: { message: string } }
}

const fingerprint = (key: string) => service.parley.context.secrets.digest(key).toString('hex').slice(0, 8)

const linesOf = (requestId: unknown): Line[] =>
  service.lines.map((line) => JSON.parse(line) as Line).filter((line) => line.requestId === requestId)

/** The line of a request is written once its answer is through. */
async function lineOf(answer: { headers: Record<string, unknown> }): Promise<Line> {
  const id = answer.headers['x-request-id']
  await expect.poll(() => linesOf(id).filter(({ msg }) => msg === 'request')).toHaveLength(1)
  return linesOf(id).find(({ msg }) => msg === 'request') as Line
}

describe('the log', () => {
  it('has one line for each request, with operation, status, duration and request id', async () => {
    const headers = { appid: world.app.name, apikey: world.apiKey }
    const who = { app: world.app.name, caller: 'fullAccess', key: fingerprint(world.apiKey) }
    const cases: [string, string, number, string, object?][] = [
      ['GET', '/v3/users/alice', 200, 'get-user', who],
      ['GET', '/users/nobody', 404, 'get-user', who],
      ['DELETE', '/v3.0/groups/nothing', 404, 'delete-group', who],
      ['POST', '/users', 400, 'create-user', who],
      ['GET', '/nothing', 404, 'unknown'],
      ['GET', '/users/%zz', 400, 'unknown'],
      ['GET', '/health', 200, 'health'],
      ['GET', '/openapi.json', 200, 'openapi'],
      ['GET', '/docs', 200, 'docs'],
    ]
    for (const [method, path, status, operation, asker] of cases) {
      const answer = await ask(`${service.url}${path}`, { method, headers })
      expect(answer.status).toBe(status)
      const line = await lineOf(answer)
      expect(line).toEqual({
        level: 30,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        msg: 'request',
        operation,
        method,
        status,
        ms: expect.any(Number),
        requestId: answer.headers['x-request-id'],
        address: '127.0.0.1',
        ...asker,
      })
      expect(line.ms).toBeGreaterThanOrEqual(0)
    }
  })

  it('says who asked: the app, the kind of caller, the user, and the start of the digest of a key', async () => {
    const app = world.app.name
    const key = fingerprint(world.apiKey)
    const cases: [Record<string, string>, object][] = [
      [{ apikey: world.apiKey.toUpperCase() }, { app, caller: 'fullAccess', key }],
      [{ apikey: world.authKey }, { app, caller: 'authOnly', key: fingerprint(world.authKey) }],
      [
        { apikey: world.apiKey, onbehalfof: 'ALICE' },
        { app, caller: 'fullAccess', uid: 'alice', key },
      ],
      [
        { apikey: world.apiKey, onbehalfof: 'nobody' },
        { app, caller: 'fullAccess', uid: 'nobody', key },
      ],
      [{ authtoken: ids.authToken }, { app, caller: 'token', uid: 'alice' }],
      [{ apikey: 'wrong' }, { app }],
      [{ authtoken: token }, { app }],
      [{}, { app }],
      [{ appid: 'none', apikey: world.apiKey }, {}],
    ]
    for (const [headers, asker] of cases) {
      const line = await lineOf(await ask(`${service.url}/users`, { headers: { appid: app, ...headers } }))
      const { app: named, caller, key: fingerprinted, uid } = line
      expect({ app: named, caller, key: fingerprinted, uid }).toEqual(asker)
    }
  })

  it('has the address of the client as trusted proxies say it, unless it is not to be kept', async () => {
    const forwarded = { headers: { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' } }
    expect((await lineOf(await ask(`${service.url}/health`, forwarded))).address).toBe('127.0.0.1')
    const cases: [Record<string, string>, string | undefined][] = [
      [{ TRUST_PROXY: 'loopback' }, '198.51.100.7'],
      [{ KEEP_CLIENT_ADDRESSES: 'false' }, undefined],
    ]
    for (const [environment, address] of cases) {
      const other = await startParley({ environment: { LOG_LEVEL: 'info', ...environment } })
      await ask(`${other.url}/health`, forwarded)
      await expect.poll(() => other.lines.filter((line) => line.includes('"operation":"health"'))).toHaveLength(1)
      const line = other.lines.find((one) => one.includes('"operation":"health"')) as string
      expect((JSON.parse(line) as Line).address).toBe(address)
      await other.parley.close()
    }
  })

  it('does not believe request ids that clients send', async () => {
    const answer = await ask(`${service.url}/health`, { headers: { 'x-request-id': 'mine', 'request-id': 'mine' } })
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{12}-[0-9a-z]+$/)
  })

  it('has faults with their stack, of which the client sees nothing', async () => {
    const answer = await ask(`${service.url}/users/broken`, {
      headers: { appid: world.app.name, apikey: world.apiKey },
    })
    expect(answer.status).toBe(500)
    expect(answer.body).toEqual({
      error: {
        code: 'ERR_EXCEPTION',
        message: 'Something went wrong. Please try again.',
        devMessage: 'Something went wrong. Please try again.',
        source: 'chat-api',
      },
    })
    expect((await lineOf(answer)).status).toBe(500)
    const fault = linesOf(answer.headers['x-request-id']).find(({ level }) => level === 50)
    expect(fault?.err?.message).toBe('no luck with [redacted]')
    expect(fault?.err?.cause?.message).toBe('the token was alice_[redacted]')
    expect(fault?.err?.stack).toContain('log.test.ts')
    expect(JSON.stringify(fault)).not.toContain('secret detail')
  })

  it('never has a key, a token or a password, whatever was called and however it went', async () => {
    const secrets = new Set([world.apiKey, world.authKey, ids.apiKey, ids.authToken, token, 'pass-word-of-the-group'])
    for (const { operation } of routes) {
      const sample = samples[operation.id]?.(ids) ?? {}
      const body = sample.body && {
        ...sample.body,
        ...('password' in sample.body && { password: 'pass-word-of-the-group' }),
      }
      const answer = await ask(`${service.url}/v3${pathOf(operation, sample.params)}${queryOf(sample.query)}`, {
        method: operation.method,
        headers: {
          appid: world.app.name,
          ...(sample.token === undefined ? { apikey: world.apiKey } : { authtoken: sample.token }),
          ...(sample.as !== undefined && { onbehalfof: sample.as }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      for (const [secret] of JSON.stringify(answer.body ?? '').matchAll(/[0-9a-f]{40}/g)) secrets.add(secret)
      if (operation.id === 'create-group') expect(answer.status).toBe(200)
    }
    // Where they do not belong.
    const { apiKey } = world
    const app = { appid: world.app.name }
    const stray: [string, Record<string, string>?, string?][] = [
      [`/nothing/${apiKey}?apikey=${apiKey}`],
      [`/users/%zz/${apiKey}`],
      [`/users?apikey=${apiKey}&page=${apiKey}`, { ...app, apikey: apiKey }],
      [`/users/${apiKey}`, { ...app, apikey: apiKey, onbehalfof: apiKey }],
      ['/users', { appid: apiKey, apikey: apiKey.toUpperCase() }],
      ['/users', { ...app, apikey: apiKey.slice(1) }],
      ['/users', { ...app, authtoken: token }],
      ['/users', { ...app, apikey: apiKey, 'content-type': apiKey }, apiKey],
      ['/users', { ...app, apikey: apiKey, 'content-type': 'application/json' }, `{"uid": "${apiKey}`],
      ['/users', { ...app, apikey: apiKey, 'content-type': 'application/json' }, `{"uid": "${apiKey}\\u0000"}`],
      ['/users/broken', { ...app, apikey: apiKey }],
    ]
    for (const [path, headers = {}, body] of stray) {
      await ask(`${service.url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers,
        ...(body && { body }),
      })
    }
    await lineOf(await ask(`${service.url}/health`))
    const text = service.lines.join('').toLowerCase()
    expect(secrets.size).toBeGreaterThan(6)
    for (const secret of secrets) expect(text).not.toContain(secret.toLowerCase().slice(-24))
    expect(service.lines.length).toBeGreaterThan(routes.length)
    // Nothing had to be blotted out but in the faults that were made for it, and a key that stood in place of a uid.
    const blotted = service.lines.filter((line) => line.includes('[redacted]'))
    expect(blotted.every((line) => /no luck with|"uid":"\[redacted\]"/.test(line))).toBe(true)
  })

  it('blots out what looks like a secret in anything that is logged', () => {
    const lines: string[] = []
    const log = createLog('info', { write: (line) => void lines.push(line) })
    log.info({ nested: { key: 'AB'.repeat(20) } }, `token ${token}`)
    log.warn({ err: 'no error at all' }, 'odd')
    expect(lines[0]).toContain('"nested":{"key":"[redacted]"}')
    expect(lines[0]).toContain('"msg":"token alice_[redacted]"')
    expect(JSON.parse(lines[1] as string).err).toEqual({ message: 'no error at all' })
  })

  it('is silent below its level', async () => {
    const quiet = await startParley({ environment: { LOG_LEVEL: 'warn' } })
    await ask(`${quiet.url}/health`)
    await quiet.parley.close()
    expect(quiet.lines).toEqual([])
  })
})
