import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Operation } from '@parley/contract'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/routes.ts'
import { createOwner } from '../admin/operator.ts'
import { inLongSuite } from '../gate/needs.ts'
import { type Answer, createWorld, type World } from '../support/world.ts'
import { furnish, type Ids, samples } from './samples.ts'
import {
  ask,
  expectContractAnswer,
  inParallel,
  pathOf,
  queryOf,
  type Service,
  startParley,
  watchAnswers,
} from './watched.ts'

const seed = Number(process.env.FUZZ_SEED ?? 20_261_120)
/** `npm run test:long` tries everything on everything; otherwise each parameter gets a share, another one for each. */
const isLong = inLongSuite.isMet
const share = isLong ? 1 : 9
const runs = isLong ? 1000 : 40

const operations = routes.map((route) => route.operation)
const watch = watchAnswers()
let service: Service
let world: World
let ids: Ids

beforeAll(async () => {
  service = await startParley({ routes: watch.routes })
  world = await createWorld()
  ids = await furnish(world)
})
afterAll(() => service.parley.close())

function shareOf<Item>(items: readonly Item[], turn: number): readonly Item[] {
  return items.filter((_, i) => (i + turn) % share === 0)
}

interface Changes {
  readonly path?: string
  readonly query?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** The sample call of an operation with another path, query, headers or body. */
function call(operation: Operation, { path, query, headers, body }: Changes): Promise<Answer> {
  const sample = samples[operation.id]?.(ids)
  const sent = body ?? (sample?.body === undefined ? undefined : JSON.stringify(sample.body))
  return ask(
    `${service.url}/v3${path ?? pathOf(operation, sample?.params)}${query === undefined ? queryOf(sample?.query) : `?${query}`}`,
    {
      method: operation.method,
      headers: {
        appid: world.app.name,
        apikey: world.apiKey,
        ...(sample?.as !== undefined && { onbehalfof: sample.as }),
        ...(sent !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent !== undefined && { body: sent }),
    },
  )
}

/** As they stand in the address. */
const hostileQueryValues = [
  '',
  'x',
  '-1',
  '0',
  '1.5',
  '1e9',
  '1000000000',
  '9007199254740993',
  '99999999999999999999',
  'true',
  'null',
  '%5Bobject%20Object%5D',
  '%00',
  'a%00b',
  '%ff',
  '%ED%A0%80',
  '%zz',
  '%',
  '%F0%9F%98%80',
  "a'b%22c",
  '%27%20or%201=1--',
  'x'.repeat(5000),
  ',',
  ',,a,',
  'a,'.repeat(1500),
  '%25_',
  '+',
  '__proto__',
  '0x10',
  'Infinity',
]

describe('a query', () => {
  const parameters = operations
    .filter(({ method }) => method === 'GET')
    .flatMap((operation) => Object.keys(operation.query.properties).map((name) => ({ operation, name })))

  it('with any value of any parameter gets no 500, and a wrong one is named', async () => {
    const cases = parameters.flatMap(({ operation, name }, turn) =>
      shareOf(hostileQueryValues, turn).map((value) => ({ operation, name, value })),
    )
    expect(cases.length).toBeGreaterThan(300)
    await inParallel(cases, async ({ operation, name, value }) => {
      const others = Object.entries(samples[operation.id]?.(ids).query ?? {}).filter(([other]) => other !== name)
      const needed = queryOf(Object.fromEntries(others)).replace('?', '&')
      const answer = await call(operation, { query: `${encodeURIComponent(name)}=${value}${needed}` })
      expectContractAnswer(answer, operation)
      if (answer.status === 400) expect(JSON.stringify(answer.body.error)).toContain(name)
      if (value.includes('%00')) expect(answer.body.error.details[0].message).toBe('contains a NUL character')
    })
    expect(watch.flaws.splice(0)).toEqual([])
  })

  it('may repeat parameters and use brackets in any way without a 500', async () => {
    const forms = (name: string) => [
      `${name}=1&${name}=2`,
      `${name}[]=1&${name}[]=2`,
      `${name}[0]=1`,
      `${name}[a]=1&${name}[b]=2`,
      `${name}[$ne]=1`,
      `${name}[__proto__][x]=1`,
      `${name}`,
      `&&&=${name}&=`,
      `${name}=1&${name}[]=2&${name.toUpperCase()}=3`,
    ]
    const cases = parameters.flatMap(({ operation, name }, turn) =>
      shareOf(forms(encodeURIComponent(name)), turn).map((query) => ({ operation, query })),
    )
    await inParallel(cases, async ({ operation, query }) =>
      expectContractAnswer(await call(operation, { query }), operation),
    )
    expect(watch.flaws.splice(0)).toEqual([])
  })

  it('reads lists joined by commas, repeated, or with brackets', async () => {
    const listed = async (query: string) =>
      (await world.get(`/users?${query}`)).body.data.map((user: { uid: string }) => user.uid)
    for (const query of [
      'uids=alice,bob',
      'uids=alice&uids=bob',
      'uids[]=alice&uids[]=bob',
      'uids%5B%5D=bob,alice,,',
    ]) {
      expect(await listed(query)).toEqual(['alice', 'bob'])
    }
  })

  it('knows perPage in both spellings, and booleans in all four', async () => {
    for (const query of ['perPage=2', 'per_page=2', 'PERPAGE=2']) {
      expect((await world.get(`/users?${query}`)).body.meta.pagination.per_page).toBe(2)
    }
    for (const [value, uids] of Object.entries({ 1: ['erin'], true: ['erin'] })) {
      expect((await world.get(`/users?onlyDeactivated=${value}`)).body.data).toMatchObject(uids.map((uid) => ({ uid })))
    }
    for (const value of ['0', 'false', '']) {
      expect((await world.get(`/users?onlyDeactivated=${value}`)).body.data).toHaveLength(5)
    }
    expect((await world.get('/users?onlyDeactivated=yes')).body.error.details).toEqual([
      { path: 'query/onlyDeactivated', message: 'must be boolean' },
    ])
  })

  it('of parameters that nobody knows is ignored', async () => {
    expect((await world.get('/users?nonsense=1&a[b]=c&__proto__=1&constructor=2')).status).toBe(200)
  })

  it('at random gets no 500', async () => {
    const lists = operations.filter(({ method, query }) => method === 'GET' && Object.keys(query.properties).length > 0)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...lists).chain((operation) =>
          fc.record({
            operation: fc.constant(operation),
            query: fc.array(
              fc.tuple(
                fc.constantFrom(...Object.keys(operation.query.properties)),
                fc.oneof(
                  fc.constantFrom(...hostileQueryValues),
                  fc.constantFrom('1', '5', 'true', 'append', 'prepend', 'name', ids?.messageId ?? '1', '1700000000'),
                  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed())),
                ),
              ),
              { maxLength: 6 },
            ),
          }),
        ),
        async ({ operation, query }) => {
          const text = query.map(([name, value]) => `${encodeURIComponent(name)}=${value}`).join('&')
          expectContractAnswer(await call(operation, { query: text }), operation)
        },
      ),
      { seed, numRuns: runs },
    )
    expect(watch.flaws.splice(0)).toEqual([])
  })
})

/** As they stand in the address. */
const hostileSegments = [
  '%00',
  'a%00b',
  '%ff',
  '%ED%A0%80',
  '%zz',
  '%',
  'x'.repeat(101),
  'x'.repeat(600),
  'x'.repeat(8000),
  '%F0%9F%98%80'.repeat(50),
  'a%2Fb',
  '..%2F..%2Fetc%2Fpasswd',
  '%2e%2e',
  '%20',
  '%25',
  '%27%20or%201=1--',
  '0',
  '-1',
  '1.5',
  '1e3',
  '9007199254740993',
  '99999999999999999999',
  'NaN',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  'toString',
  ':id',
  '*',
  ';',
  'a?b'.replace('?', '%3F'),
  'group_',
  '_user_',
  'a_user_',
]

describe('a path', () => {
  it('with any id gets no 500: an impossible one is as unknown as any other', async () => {
    const cases = operations.flatMap((operation, i) =>
      Object.keys(operation.params.properties).flatMap((name, j) =>
        shareOf(hostileSegments, i + j).map((segment) => ({ operation, name, segment })),
      ),
    )
    expect(cases.length).toBeGreaterThan(300)
    await inParallel(cases, async ({ operation, name, segment }) => {
      const params = samples[operation.id]?.(ids).params ?? {}
      const path = operation.path.replace(/\{(\w+)\}/g, (_, other: string) =>
        other === name ? segment : encodeURIComponent(params[other] ?? ''),
      )
      const answer = await call(operation, { path })
      expectContractAnswer(answer, /%(zz|ff|ED|$)/.test(segment) ? undefined : operation)
      if (segment.includes('%00'))
        expect(answer.body.error.details[0]).toEqual({ path: `params/${name}`, message: 'contains a NUL character' })
      else if (/%(zz|ff|ED|$)/.test(segment))
        expect(answer.body.error.details).toEqual([{ path: 'url', message: 'is not valid' }])
    })
    expect(watch.flaws.splice(0)).toEqual([])
  })

  it('gets no 500 with any id in the addresses of files and of operators, either', async () => {
    const owner = await createOwner({ url: service.url, context: service.parley.context })
    const app = world.app.name
    const asOperator = { cookie: owner.cookie ?? '', origin: service.url }
    const places: Array<(segment: string) => readonly [string, string, Record<string, string>?]> = [
      ...['GET', 'POST'].flatMap((method) => [
        (segment: string) => [method, `/media/${segment}/x/y`] as const,
        (segment: string) => [method, `/media/${app}/${segment}/y`] as const,
        (segment: string) => [method, `/media/${app}/x/${segment}`] as const,
      ]),
      ...[
        (segment: string) => `/apps/${segment}`,
        (segment: string) => `/apps/${segment}/users`,
        (segment: string) => `/apps/${app}/users/${segment}`,
        (segment: string) => `/apps/${app}/users/${segment}/sessions`,
      ].map((pathOf) => (segment: string) => ['GET', `/admin/v1${pathOf(segment)}`, asOperator] as const),
      (segment) => ['DELETE', `/admin/v1/apps/${app}/users/alice/sessions/${segment}`, asOperator],
      (segment) => ['DELETE', `/admin/v1/operators/${segment}`, asOperator],
    ]
    const cases = places.flatMap((place) => hostileSegments.map(place))
    await inParallel(cases, async ([method, path, headers = {}]) => {
      const { status, body } = await ask(`${service.url}${path}`, { method, headers })
      expect(status, `${method} ${path}: ${JSON.stringify(body)}`).toBeGreaterThanOrEqual(400)
      expect(status, `${method} ${path}: ${JSON.stringify(body)}`).toBeLessThan(500)
    })
  })

  it('takes ids in any case', async () => {
    expect((await world.get('/users/ALICE')).body.data.uid).toBe('alice')
    expect((await world.get('/groups/Team', { as: 'ALICE' })).body.data.guid).toBe('team')
  })
})

describe('headers', () => {
  const hostile = [
    'x'.repeat(7000),
    '{"$ne":1}',
    '__proto__',
    'constructor',
    '\xff\xfe',
    "' or 1=1--",
    'a, b',
    ',',
    'null',
    '%00',
  ]

  it('with any value get no 500', async () => {
    const names = [
      'apikey',
      'authtoken',
      'onbehalfof',
      'appid',
      'host',
      'accept',
      'resource',
      'sdk',
      'x-forwarded-for',
      'x-forwarded-host',
      'x-request-id',
      'accept-version',
      'range',
      'if-none-match',
      'content-encoding',
      'cookie',
    ]
    const cases = names.flatMap((name, turn) => shareOf(hostile, turn).map((value) => ({ name, value })))
    const targets = operations.filter(({ id }) =>
      ['list-users', 'send-message', 'get-group', 'create-user'].includes(id),
    )
    await inParallel(cases, async ({ name, value }) => {
      for (const operation of targets) {
        expectContractAnswer(await call(operation, { headers: { [name]: value } }))
      }
    })
  })

  it('have names in any case', async () => {
    const headers = { AppId: world.app.name, apiKey: world.apiKey, onBehalfOf: 'Alice' }
    expect((await ask(`${service.url}/v3/me`, { headers })).body.data.uid).toBe('alice')
  })

  it('do not count onBehalfOf beside a token', async () => {
    const headers = { appid: world.app.name, authtoken: ids.authToken, onbehalfof: 'bob' }
    expect((await ask(`${service.url}/v3/me`, { headers })).body.data.uid).toBe('alice')
  })
})

describe('a form', () => {
  const files = (names: readonly string[], size: number) =>
    names
      .map(
        (name) =>
          `--x\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n${'x'.repeat(size)}\r\n`,
      )
      .join('')

  const takesForms = ({ takesFiles, readsFile }: (typeof operations)[number]) =>
    takesFiles === true || readsFile !== undefined
  const takers = operations.filter(takesForms)
  const part = (name: string, content: string, more = '') =>
    `--x\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`
  const fields = part('receiver', 'bob') + part('receiverType', 'user') + part('type', 'image')
  const file = part('file', 'GIF89a', '; filename="a.gif"\r\ncontent-type: image/gif')
  const forms = [
    '',
    '--x--\r\n',
    '--x\r\n',
    fields,
    `${fields}${file}`,
    `${fields}${file.slice(0, -4)}`,
    `${fields}--x\r\ncontent-disposition: form-data\r\n\r\nno name\r\n--x--\r\n`,
    `${part('__proto__', '1')}--x--\r\n`,
    `${part('constructor', '1')}--x--\r\n`,
    `${part('data', '{broken')}--x--\r\n`,
    `${part('data', '{"__proto__":1}')}--x--\r\n`,
    `${fields}${part('data', '"text"')}--x--\r\n`,
    `${fields}${part('text', 'a\0b')}--x--\r\n`,
    `${fields}${part('muid', 'a\0b')}${file}--x--\r\n`,
    `${fields}${part('tags', '[1')}${file}--x--\r\n`,
    `${part('f', 'x').repeat(60)}--x--\r\n`,
    `${fields}${file.repeat(12)}--x--\r\n`,
    `${fields}${part('file', 'x', `; filename="${'../'.repeat(20)}etc/passwd"`)}--x--\r\n`,
    `${fields}${part('file', '', '; filename=""')}--x--\r\n`,
    `${fields}${part('data', 'x'.repeat(70_000))}--x--\r\n`,
    'not a form at all',
    '\0\0\0',
  ]

  it('that is broken in any way gets no 500', async () => {
    expect(takers.map(({ id }) => id)).toContain('send-message')
    await inParallel(forms, async (body) => {
      for (const operation of takers) {
        const path = pathOf(operation, samples[operation.id]?.(ids).params)
        for (const type of [
          'multipart/form-data; boundary=x',
          'multipart/form-data',
          'multipart/form-data; boundary=y',
        ]) {
          const headers = { appid: world.app.name, apikey: world.apiKey, onbehalfof: 'alice', 'content-type': type }
          expectContractAnswer(await ask(`${service.url}${path}`, { method: operation.method, headers, body }))
        }
      }
    })
  })

  it('is none without a body, whatever the type says', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    for (const operation of operations.filter(({ method, body }) => method === 'GET' && body === undefined)) {
      expect((await call(operation, { headers })).status, operation.id).not.toBe(415)
    }
  })

  it('is a 415 where no files are taken', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    for (const operation of operations.filter((one) => one.body !== undefined && !takesForms(one))) {
      expect((await call(operation, { headers, body: '--x--\r\n' })).status, operation.id).toBe(415)
    }
  })

  it('keeps the order of its files', async () => {
    const names = ['a.txt', 'b.txt', 'c.txt', 'd.txt']
    const body = `${fields}${files(names.slice(0, 1), 300_000)}${files(names.slice(1), 10)}--x--\r\n`
    const headers = { appid: world.app.name, apikey: world.apiKey, 'content-type': 'multipart/form-data; boundary=x' }
    const answer = await ask(`${service.url}/messages`, { method: 'POST', headers, body })
    expect(answer.body.data.data.attachments.map((file: { name: string }) => file.name)).toEqual(names)
  })

  it('that is refused leaves its connection fit for the next request', async () => {
    const { hostname, port } = new URL(service.url)
    const form = `${fields}${part('data', '{broken')}${files(['a.bin'], 200_000)}--x--\r\n`
    const head = `host: x\r\nappid: ${world.app.name}\r\napikey: ${world.apiKey}\r\n`
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST /messages HTTP/1.1\r\n${head}content-type: multipart/form-data; boundary=x\r\ncontent-length: ${form.length}\r\n\r\n${form}`,
    )
    socket.write(`GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    const answers = await text(socket)
    expect(answers).toMatch(/^HTTP\/1.1 400 .*body\/data must be JSON.*HTTP\/1.1 200 .*"ok"/s)
  })
})
