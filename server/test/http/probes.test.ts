import net from 'node:net'
import { validate } from '@scalar/openapi-parser'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { answerOf } from '../../src/http/reference/openapi.ts'
import { routes } from '../../src/routes.ts'
import { startService } from '../support/service.ts'
import { createWorld, type World } from '../support/world.ts'
import { ask, expectContractAnswer, type Service, startParley } from './watched.ts'

let service: Service
let world: World

beforeAll(async () => {
  service = await startParley()
  world = await createWorld()
})
afterAll(() => service.parley.close())

/** A way to the test database that can be cut. */
async function openPass() {
  const { host, port, ...rest } = inject('connection')
  const ends = new Set<net.Socket>()
  let cut = false
  const pass = net.createServer((near) => {
    if (cut) return near.destroy()
    const far = host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host)
    for (const end of [near, far]) {
      ends.add(end)
      end.on('error', () => end.destroy())
      end.on('close', () => {
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => pass.listen(0, '127.0.0.1', resolve))
  return {
    connection: { ...rest, host: '127.0.0.1', port: (pass.address() as net.AddressInfo).port },
    cut() {
      cut = true
      for (const end of ends) end.destroy()
    },
    mend() {
      cut = false
    },
    close: () => pass.close(),
  }
}

describe('the probes', () => {
  it('say that the process lives and can serve, to GET and HEAD', async () => {
    await expect.poll(async () => (await ask(`${service.url}/ready`)).body.jobs).toBe('running')
    expect((await ask(`${service.url}/health`)).body).toEqual({ status: 'ok' })
    expect((await ask(`${service.url}/ready`)).body).toEqual({
      status: 'ready',
      database: 'reachable',
      migrated: true,
      jobs: 'running',
    })
    expect((await ask(`${service.url}/ready`, { method: 'HEAD' })).status).toBe(200)
  })

  it('tell when the database is away, and when it is back; operations answer 503 with Retry-After meanwhile', async () => {
    const pass = await openPass()
    const cutOff = await startParley({
      connection: { ...pass.connection, connectionTimeoutMillis: 1_500 },
      databasePatienceMs: 1_500,
    })
    const headers = { appid: world.app.name, apikey: world.apiKey }
    const statusOf = async (path: string) => (await ask(`${cutOff.url}${path}`, { headers })).status
    expect([await statusOf('/ready'), await statusOf('/users')]).toEqual([200, 200])
    pass.cut()
    await expect.poll(() => statusOf('/ready')).toBe(503)
    expect(await statusOf('/health')).toBe(200)
    const away = await ask(`${cutOff.url}/users`, { headers })
    expect(away.status).toBe(503)
    expect(away.headers['retry-after']).toBe('2')
    expect(away.body.error).toMatchObject({ code: 'ERR_MISSION_FAILED', source: 'chat-api' })
    pass.mend()
    await expect.poll(() => statusOf('/ready')).toBe(200)
    expect(await statusOf('/users')).toBe(200)
    await cutOff.parley.close()
    pass.close()
  })
})

describe('what is not of the contract', () => {
  // A proxy that keeps `/metrics` from the public side need not know every prefix.
  const own = [
    '/metrics',
    '/ready',
    '/health',
    '/docs',
    '/docs/',
    '/docs/start.js',
    '/demo',
    '/openapi.json',
    '/asyncapi.json',
  ]

  it('answers without a prefix only', async () => {
    for (const path of own) {
      expect((await ask(`${service.url}${path}`)).status, path).toBe(200)
      for (const prefixed of [`/v3${path}`, `/v3.0${path}`, `/v3${path.replace('e', '%65')}`]) {
        const answer = await ask(`${service.url}${prefixed}`)
        expectContractAnswer(answer)
        expect(answer.body.error?.code, prefixed).toBe('ERR_API_NOT_FOUND')
      }
    }
  })

  it('answers HEAD as it answers GET, without the body', async () => {
    for (const path of [...own, '/docs/reference.js']) {
      const got = await ask(`${service.url}${path}`)
      const head = await ask(`${service.url}${path}`, { method: 'HEAD' })
      expect([head.status, head.body], path).toEqual([200, ''])
      expect(head.headers['content-type'], path).toBe(got.headers['content-type'])
    }
  })

  it('is kept by browsers, which ask whether it has changed, and compressed for those who take that', async () => {
    for (const path of [
      '/',
      '/docs',
      '/docs/reference.js',
      '/demo/main.js',
      '/demo/main.css',
      '/openapi.json',
      '/asyncapi.json',
    ]) {
      const plain = await ask(`${service.url}${path}`)
      const etag = String(plain.headers.etag)
      expect(plain.headers, path).toMatchObject({ 'cache-control': 'no-cache', vary: 'accept-encoding' })
      expect(etag, path).toMatch(/^W\/"\S+"$/)
      for (const known of [etag, '*', `"other", ${etag}`, etag.slice(2)]) {
        const again = await ask(`${service.url}${path}`, { headers: { 'if-none-match': known } })
        expect([again.status, again.body], path).toEqual([304, ''])
        expect(again.headers.etag).toBe(etag)
      }
      expect((await ask(`${service.url}${path}`, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    }
  })

  it('is compressed for those who take that', async () => {
    const path = `${service.url}/docs/reference.js`
    const plain = await fetch(path, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    const length = Number(plain.headers.get('content-length'))
    const text = await plain.text()
    expect(Buffer.byteLength(text)).toBe(length)
    for (const accepted of ['br', 'gzip, deflate, br', 'gzip;q=0.5, br;q=0.9']) {
      const packed = await fetch(path, { headers: { 'accept-encoding': accepted } })
      expect(packed.headers.get('content-encoding'), accepted).toBe('br')
      expect(Number(packed.headers.get('content-length'))).toBeLessThan(length / 3)
      expect(await packed.text()).toBe(text)
    }
    for (const accepted of ['gzip', 'br;q=0', 'brotli']) {
      const answer = await fetch(path, { headers: { 'accept-encoding': accepted } })
      expect(answer.headers.get('content-encoding'), accepted).toBeNull()
      await answer.text()
    }
  })

  it('leads a browser from its root to the pages that there are', async () => {
    const { status, headers, body } = await ask(`${service.url}/`)
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    const addresses = [...body.matchAll(/<a href="([^"]+)"/g)].map((match) => match[1])
    expect(addresses).toEqual(['demo', 'docs', 'console', 'openapi.json', 'asyncapi.json'])
    for (const address of addresses) expect((await ask(`${service.url}/${address}`)).status).toBe(200)
    expect((await ask(`${service.url}/v3/`)).status).toBe(404)
    expect((await ask(`${service.url}/`, { method: 'POST' })).status).toBe(404)
  })

  it('leads nobody to a console that is off, elsewhere, or not for everybody', async () => {
    for (const settings of [{ CONSOLE: 'off' }, { ADMIN_PORT: '9101' }, { ADMIN_ALLOW: '10.0.0.0/8' }]) {
      const { parley, url } = await startService(settings)
      expect((await ask(`${url}/`)).body, JSON.stringify(settings)).not.toContain('href="console"')
      await parley.close()
    }
  })

  it('is served under a name that begins alike to nobody', async () => {
    expect((await ask(`${service.url}/v3metrics`)).status).toBe(404)
  })
})

describe('operations', () => {
  it('answer HEAD where they answer GET, with the same status and length and without the body', async () => {
    const headers = { appid: world.app.name, apikey: world.apiKey }
    for (const path of [
      '/users',
      '/v3/users?perPage=1',
      '/v3/users/nobody',
      '/v3/users?perPage=x',
      '/groups',
      '/v3/roles',
    ]) {
      const got = await ask(`${service.url}${path}`, { headers })
      const head = await ask(`${service.url}${path}`, { method: 'HEAD', headers })
      expect([head.status, head.body], path).toEqual([got.status, ''])
      for (const name of ['content-type', 'content-length']) expect(head.headers[name], path).toBe(got.headers[name])
    }
    expect((await ask(`${service.url}/v3/users`, { method: 'HEAD' })).status).toBe(401)
    expect((await ask(`${service.url}/v3/nothing`, { method: 'HEAD', headers })).status).toBe(404)
  })

  it('that are unknown are named as they were asked for', async () => {
    const named = async (method: string, path: string) =>
      (await ask(`${service.url}${path}`, { method })).body.error.devMessage
    expect(await named('POST', '/v3/v3/webhooks')).toContain('POST /v3/v3/webhooks.')
    expect(await named('GET', '/v3.0/nothing?secret=1')).toMatch(/GET \/v3\.0\/nothing\.$/)
    expect(await named('GET', '/v3/metrics')).toContain('GET /v3/metrics.')
    expect(await named('PATCH', '/v3/users')).toContain('PATCH /v3/users.')
  })
})

describe('METRICS_PORT', () => {
  it('has the metrics on a port of their own, and on no other', async () => {
    const apart = await startParley({ environment: { METRICS_PORT: '9100', REQUIRE_HTTPS: 'true' } })
    try {
      expect((await ask(`${apart.url}/metrics`)).status).toBe(404)
      const url = await apart.parley.metricsHttp?.listen({ host: '127.0.0.1', port: 0 })
      const answer = await ask(`${url}/metrics`)
      expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0.0.4/)
      expect(answer.body).toContain('process_resident_memory_bytes')
      for (const path of ['/health', '/users', '/v3/metrics']) {
        expect((await ask(`${url}${path}`)).body.error?.code, path).toBe('ERR_API_NOT_FOUND')
      }
    } finally {
      await apart.parley.close()
    }
  })
})

interface Sample {
  readonly name: string
  readonly labels: Record<string, string>
  readonly value: number
}

/** Reads the text format of Prometheus; throws at a line that is none of it. */
function parseMetrics(text: string): { samples: Sample[]; types: Map<string, string> } {
  const samples: Sample[] = []
  const types = new Map<string, string>()
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const type = /^# TYPE (\w+) (counter|gauge|histogram|summary)$/.exec(line)
    if (type !== null) types.set(type[1] as string, type[2] as string)
    else if (!/^# HELP \w+ \S/.test(line)) {
      const match = /^([a-zA-Z_:][\w:]*)(?:\{((?:\w+="[^"\\]*",?)*)\})? ([-+\d.e]+|\+Inf|NaN)$/i.exec(line)
      if (match === null) throw new Error(`no metric: ${line}`)
      const labels = Object.fromEntries([...(match[2] ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, k, v]) => [k, v]))
      samples.push({ name: match[1] as string, labels, value: Number(match[3]) })
    }
  }
  return { samples, types }
}

describe('the metrics', () => {
  const read = async () => {
    const answer = await ask(`${service.url}/metrics`)
    expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0.0.4/)
    return parseMetrics(answer.body)
  }

  it('can be read by Prometheus: each with a type', async () => {
    const { samples, types } = await read()
    for (const { name } of samples) {
      expect([name, name.replace(/_(bucket|sum|count)$/, '')].some((base) => types.has(base))).toBe(true)
    }
  })

  it('count requests by operation and status, and time them', async () => {
    const headers = { appid: world.app.name, apikey: world.apiKey }
    const countOf = async (operation: string, status: string) =>
      (await read()).samples.find(
        ({ name, labels }) =>
          name === 'parley_http_request_duration_seconds_count' &&
          labels.operation === operation &&
          labels.status === status,
      )?.value ?? 0
    const before = await countOf('get-user', '404')
    for (let i = 0; i < 3; i++) await ask(`${service.url}/users/nobody-${i}`, { headers })
    await expect.poll(() => countOf('get-user', '404')).toBe(before + 3)
    await ask(`${service.url}/nothing/${Math.random()}`)
    await expect.poll(() => countOf('unknown', '404')).toBeGreaterThan(0)
    const { samples } = await read()
    const ofUsers = samples.filter(({ labels }) => labels.operation === 'get-user')
    expect(ofUsers.find(({ labels }) => labels.le === '+Inf')?.value).toBeGreaterThanOrEqual(3)
  })

  it('count requests with authOnly keys, refused ones too, by operation and status', async () => {
    const countOf = async (operation: string, status: string) =>
      (await read()).samples.find(
        ({ name, labels }) =>
          name === 'parley_auth_only_key_requests_total' && labels.operation === operation && labels.status === status,
      )?.value ?? 0
    const before = [await countOf('create-user', '200'), await countOf('list-users', '403')] as [number, number]
    const headers = { appid: world.app.name, apikey: world.authKey, 'content-type': 'application/json' }
    await ask(`${service.url}/users`, { method: 'POST', headers, body: '{"uid":"by-auth-key","name":"A"}' })
    await ask(`${service.url}/users`, { headers })
    await ask(`${service.url}/users`, { headers: { ...headers, apikey: world.apiKey } })
    await expect.poll(() => countOf('create-user', '200')).toBe(before[0] + 1)
    await expect.poll(() => countOf('list-users', '403')).toBe(before[1] + 1)
    expect(await countOf('list-users', '200')).toBe(0)
  })

  it('have no label that clients can make up', async () => {
    const { samples } = await read()
    const named = new Set(samples.flatMap(({ labels }) => (labels.operation === undefined ? [] : [labels.operation])))
    const known = [
      'health',
      'ready',
      'metrics',
      'front',
      'docs',
      'demo',
      'console',
      'openapi',
      'asyncapi',
      'media',
      'malformed',
      'unknown',
    ]
    for (const operation of named) expect([...routes.map((route) => route.operation.id), ...known]).toContain(operation)
  })

  it('tell of the connection pool, the batches of the writer and the lag of the event loop', async () => {
    const headers = { appid: world.app.name, apikey: world.apiKey, 'content-type': 'application/json' }
    for (const uid of ['ann', 'ben']) {
      await ask(`${service.url}/users`, { method: 'POST', headers, body: JSON.stringify({ uid, name: uid }) })
    }
    const body = JSON.stringify({ receiver: 'ben', receiverType: 'user', data: { text: 'hi' } })
    const sent = await ask(`${service.url}/messages`, {
      method: 'POST',
      headers: { ...headers, onbehalfof: 'ann' },
      body,
    })
    expect(sent.status).toBe(200)
    const { samples } = await read()
    const figureOf = (name: string, labels: Record<string, string> = {}) =>
      samples.find((one) => one.name === name && Object.entries(labels).every(([k, v]) => one.labels[k] === v))?.value
    for (const state of ['total', 'idle', 'waiting']) {
      expect(figureOf('parley_database_pool_connections', { state })).toBeGreaterThanOrEqual(0)
    }
    expect(figureOf('parley_message_batch_size_count')).toBeGreaterThanOrEqual(1)
    expect(figureOf('nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0)
    expect(figureOf('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
  })
})

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const { body } = await ask(`${service.url}/openapi.json`)
    expect(body.openapi).toBe('3.1.0')
    expect(await validate(body)).toMatchObject({ valid: true, version: '3.1', errors: [] })
  })

  it('has every operation with its parameters, and schemas that are JSON Schema 2020-12', async () => {
    const { body } = await ask(`${service.url}/openapi.json`)
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    for (const { operation } of routes) {
      const described = body.paths[operation.path][operation.method.toLowerCase()]
      expect(described.operationId).toBe(operation.id)
      const inPath = described.parameters.filter((parameter: { in: string }) => parameter.in === 'path')
      expect(inPath.map(({ name }: { name: string }) => name).sort()).toEqual(
        [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort(),
      )
      expect(Object.keys(described.responses)).toEqual(
        expect.arrayContaining(['200', '400', '401', '403', '500', '503']),
      )
      const schemas = [
        described.responses['200'].content['application/json'].schema,
        ...Object.values(described.requestBody?.content ?? {}).map((content) => (content as { schema: object }).schema),
        ...described.parameters.map(({ schema }: { schema: object }) => schema),
      ]
      for (const schema of schemas) expect(ajv.validateSchema(schema), JSON.stringify(ajv.errors)).toBe(true)
    }
  })

  it('has a name for each thing, and each of them once', async () => {
    const { body } = await ask(`${service.url}/openapi.json`)
    const { schemas } = body.components
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining([
        'Conversation',
        'Error',
        'Group',
        'Message',
        'ModerationRule',
        'PageMeta',
        'User',
        'Webhook',
      ]),
    )
    const texts = new Map(Object.entries(schemas).map(([name, schema]) => [JSON.stringify(schema), name]))
    expect(texts.size).toBe(Object.keys(schemas).length)
    const repeated: string[] = []
    const look = (value: unknown, path: string) => {
      if (typeof value !== 'object' || value === null) return
      const name = texts.get(JSON.stringify(value))
      if (name !== undefined && path !== `/components/schemas/${name}`) repeated.push(path)
      for (const [key, inner] of Object.entries(value)) look(inner, `${path}/${key}`)
    }
    look(body, '')
    expect(repeated).toEqual([])
  })

  it('says the same as the declarations once its names are followed', async () => {
    const { body } = await ask(`${service.url}/openapi.json`)
    const follow = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value
      if (Array.isArray(value)) return value.map(follow)
      if ('$ref' in value) return follow(body.components.schemas[String(value.$ref).split('/').at(-1) as string])
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, follow(inner)]))
    }
    // A declaration writes members of any name as a pattern, which generators do not read.
    const asShown = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value
      if (Array.isArray(value)) return value.map(asShown)
      const { patternProperties, ...others } = value as { patternProperties?: Record<string, unknown> }
      const shown = Object.entries(others).map(([key, inner]) => [key, asShown(inner)])
      if (patternProperties !== undefined) shown.push(['additionalProperties', asShown(patternProperties['^.*$'])])
      return Object.fromEntries(shown)
    }
    for (const { operation } of routes) {
      const described = body.paths[operation.path][operation.method.toLowerCase()]
      const { schema } = described.responses['200'].content['application/json']
      expect(follow(schema), operation.id).toEqual(asShown(JSON.parse(JSON.stringify(answerOf(operation)))))
    }
  })
})

describe('the reference page', () => {
  it('loads nothing but what this service has, and browsers see to it', async () => {
    for (const page of ['/docs', '/docs/']) {
      const { status, headers, body } = await ask(`${service.url}${page}`)
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      expect(headers['content-security-policy']).toContain("default-src 'self'")
      expect(headers['content-security-policy']).not.toMatch(/https?:|\*|unsafe-eval/)
      expect(body).not.toMatch(/https?:|\/\//)
      const addresses = [...body.matchAll(/(?:src|href|data-openapi)="([^"]+)"/g)].map((match) => match[1])
      expect(addresses).toHaveLength(5)
      for (const address of addresses.filter((one) => !one.startsWith('data:'))) {
        const { protocol, host, pathname } = new URL(address, `${service.url}${page}`)
        expect((await ask(`${protocol}//${host}${pathname}`)).status, `${page} ${address}`).toBe(200)
      }
    }
  })

  it('switches off what would call other hosts', async () => {
    const { body } = await ask(`${service.url}/docs/start.js`)
    const settings = JSON.parse(/\.\.\.(\{.*\}) \}\)/.exec(body)?.[1] ?? '{}')
    expect(settings).toMatchObject({ telemetry: false, withDefaultFonts: false, agent: { disabled: true } })
    expect(body).not.toMatch(/https?:/)
  })
})
