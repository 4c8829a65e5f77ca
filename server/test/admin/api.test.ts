import { type AdminOperation, deploymentRights, operatorRights, rightsOfRoles } from '@parley/contract'
import { validate } from '@scalar/openapi-parser'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Parley } from '../../src/app.ts'
import { adminCodesOf } from '../../src/http/admin/openapi.ts'
import { adminRoutes, routes } from '../../src/routes.ts'
import { furnish, samples } from '../http/samples.ts'
import { ask, pathOf, queryOf, startParley } from '../http/watched.ts'
import { dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type Answer, createWorld, type World } from '../support/world.ts'
import { createOperator, createOwner, Visitor } from './operator.ts'
import { TestProvider } from './provider.ts'
import { type AdminSample, adminSamples, furnishAdmin } from './samples.ts'

const operations: readonly AdminOperation[] = adminRoutes.map(({ operation }) => operation)
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })

let world: World
let owner: Visitor
let provider: TestProvider
let parley: Parley
beforeAll(async () => {
  provider = await new TestProvider().start()
  const service = await startService(provider.environment)
  parley = service.parley
  world = await createWorld(service)
  owner = await createOwner(world)
})

afterAll(async () => {
  await parley?.close()
  await provider?.stop()
})

function addressOf({ path }: AdminOperation, { params = {} }: AdminSample): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? '999999999'))
}

const call = (visitor: Visitor, operation: AdminOperation, sample: AdminSample, headers?: Record<string, string>) =>
  visitor.call(operation.method, addressOf(operation, sample), sample.body, headers)

/** An answer of failure: declared, and in the shape of the contract. */
function refusalOf(operation: AdminOperation, answer: Answer): string {
  const said = refusal(answer)
  expect(adminCodesOf(operation)).toContain(answer.body.error.code)
  return said
}

describe.each(operations.map((operation) => [operation.id, operation] as const))('%s', (_, operation) => {
  it('answers its sample as declared', async () => {
    const mine = await furnishAdmin(world, provider)
    const sample = (await adminSamples[operation.id]?.(mine)) ?? {}
    const visitor = operation.access === 'anybody' ? new Visitor(world.url) : mine.owner
    visitor.cookie ??= sample.cookie
    const answer = await call(visitor, operation, sample)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    const check = ajv.compile(operation.answer)
    expect(check(answer.body), JSON.stringify(check.errors)).toBe(true)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
  })

  it('refuses whoever may not call it', async () => {
    if (operation.access === 'anybody') return expect(operation.sessionOnly).toBeUndefined()
    const sample: AdminSample = { params: { appId: world.app.name }, body: {} }
    const nobody = new Visitor(world.url)
    expect(refusalOf(operation, await call(nobody, operation, sample))).toBe('401 ERR_NO_AUTH')
    // Neither keys of apps nor tokens of their users are of use.
    const withKey = await call(nobody, operation, sample, { apikey: world.apiKey, appid: world.app.name })
    expect(refusalOf(operation, withKey)).toBe('401 ERR_NO_AUTH')
    const made = new Visitor(world.url)
    made.cookie = `parley-console=${'a'.repeat(43)}`
    expect(refusalOf(operation, await call(made, operation, sample))).toBe('401 ERR_NO_AUTH')
    if (operation.access === 'signedIn' || operation.access === 'look') return
    const support = await createOperator(owner, { role: 'support', apps: [world.app.name] })
    expect(refusalOf(operation, await call(support, operation, sample))).toBe('403 ERR_PERMISSION_DENIED')
  })

  if (operation.sessionOnly === true) {
    it('is not open to personal tokens', async () => {
      const script = new Visitor(world.url)
      const rights = Object.keys(operatorRights)
      script.token = (await owner.post('/tokens', { name: 'all', rights, days: 1 })).body.data.token
      const answer = await call(script, operation, { body: {} })
      expect(refusalOf(operation, answer)).toBe('403 ERR_PERMISSION_DENIED')
    })
  }

  if (operation.body !== undefined) {
    it('refuses what is no body of it', async () => {
      const visitor = operation.access === 'anybody' ? new Visitor(world.url) : owner
      const params = { appId: world.app.name }
      for (const body of [
        [],
        'text',
        7,
        { token: 1, name: [], email: {}, password: null, appId: [], of: 3, role: 'king' },
      ]) {
        const answer = await visitor.call(operation.method, addressOf(operation, { params }), body)
        const taken = [400, 404].includes(answer.status) || answer.status === 200
        expect(taken, JSON.stringify(answer.body)).toBe(true)
        if (answer.status !== 200) refusalOf(operation, answer)
        // All members of its body may be left out: an object of others is an empty one.
        if (answer.status === 200) expect(operation.body).not.toHaveProperty('required')
      }
    })
  }

  if (operation.path.includes('{appId}')) {
    it('answers an app of others as it does one that does not exist', async () => {
      const other = await createWorld()
      const theirs = await createOperator(owner, { role: 'owner', apps: [other.app.name] })
      const answers = await Promise.all(
        [world.app.name, 'no-such-app'].map((appId) => {
          const body = { of: '*', reason: 'Report 17' }
          return call(theirs, operation, { params: { appId }, ...(operation.body && { body }) })
        }),
      )
      // What only those of the whole deployment may do is refused before it is looked for the app.
      const isOfDeployment = (deploymentRights as readonly string[]).includes(operation.access)
      const expected = isOfDeployment ? '403 ERR_PERMISSION_DENIED' : '404 ERR_APP_NOT_FOUND'
      for (const answer of answers) expect(refusalOf(operation, answer)).toBe(expected)
      const [hidden, unknown] = answers.map(({ body }) => JSON.stringify(body.error))
      expect(hidden?.replaceAll(world.app.name, 'no-such-app')).toBe(unknown)
    })
  }
})

describe('the operations of the contract', () => {
  it('answer, of an app of others, as of one that does not exist', async () => {
    const other = await createWorld()
    const theirs = await createOperator(owner, { role: 'developer', apps: [other.app.name] })
    const anything = new Proxy({}, { get: (_, name) => `some-${String(name)}` }) as Parameters<
      NonNullable<(typeof samples)[string]>
    >[0]
    for (const { operation } of routes) {
      const { params, query, body } = samples[operation.id]?.(anything) ?? {}
      const path = `/apps/${world.app.name}${pathOf(operation, params)}${queryOf(query)}`
      const answer = await theirs.call(operation.method, path, body)
      expect(`${operation.id}: ${refusal(answer)}`).toBe(`${operation.id}: 404 ERR_APP_NOT_FOUND`)
    }
  })
})

describe('what people wrote', () => {
  it('is in no answer of any operation, as long as no reading is open', async () => {
    const mine = await createWorld()
    const ids = await furnish(mine)
    const said = await say(mine, ids.bob, ids.alice, 'the first secret')
    await sayInGroup(mine, ids.bob, ids.team, 'the second secret')
    await say(mine, ids.alice, ids.bob, 'the third secret', { quotedMessageId: said.id })
    dataOf(await mine.post(`/messages/${said.id}/thread`, { data: { text: 'the fourth secret' } }, { as: ids.alice }))
    dataOf(
      await mine.post('/moderation/rules', {
        ...{ id: 'leaks', name: 'Leaks', mode: 'shadow', action: ['flagMessage'] },
        conditions: [{ operand: 'text', category: 'length', value: 'greaterThan_1' }],
      }),
    )
    await mine.post('/moderation/rules/leaks/dry-run', {})
    await until(async () => dataOf(await mine.get('/moderation/rules/leaks/dry-run')).examples?.length > 0)
    const rows = await mine.context.database.run<{ text: string | null }>(sql`
      select distinct data ->> 'text' as text from messages where app_id = ${mine.app.appId}
    `)
    const written = rows.map(({ text }) => text ?? '').filter((text) => text.endsWith('secret'))
    expect(written.length).toBe(4)

    const reader = await createOwner(mine)
    const leaks: string[] = []
    const look = async (path: string, as: string | undefined) => {
      const answer = await reader.get(`/apps/${mine.app.name}${path}`, as === undefined ? {} : { onbehalfof: as })
      const text = JSON.stringify(answer.body)
      for (const one of written) if (text.includes(JSON.stringify(one))) leaks.push(`${path}: ${one}`)
      return answer.status
    }
    let answered = 0
    for (const { operation } of routes.filter(({ operation: { method } }) => method === 'GET')) {
      const { params, query, as } = samples[operation.id]?.(ids) ?? {}
      if ((await look(pathOf(operation, params) + queryOf(query), as)) === 200) answered++
    }
    await look('/moderation/rules/leaks/dry-run?examples=100', undefined)
    expect(answered).toBeGreaterThan(70)
    expect(leaks).toEqual([])
  })
})

describe('/admin/v1/openapi.json', () => {
  it('is valid OpenAPI 3.1, with every operation', async () => {
    const { body, headers } = await ask(`${world.url}/admin/v1/openapi.json`)
    expect(await validate(body)).toMatchObject({ valid: true, version: '3.1', errors: [] })
    expect(headers['access-control-allow-origin']).toBeUndefined()
    for (const operation of operations) {
      const described = body.paths[operation.path][operation.method.toLowerCase()]
      expect(described.operationId).toBe(operation.id)
      expect(Object.keys(described.responses)).toEqual(expect.arrayContaining(['200', '400', '403', '500', '503']))
    }
  })

  it('names rights that there are', async () => {
    const { body } = await ask(`${world.url}/admin/v1/openapi.json`)
    const named = [...JSON.stringify(body).matchAll(/"x-operator-right":"(\w+)"/g)].map(([, right]) => right)
    expect(named.length).toBeGreaterThan(10)
    expect(rightsOfRoles.owner).toEqual(expect.arrayContaining(named))
  })
})

describe('where the admin API and the console are', () => {
  const places = [
    '/admin/v1/session',
    '/admin/v1/openapi.json',
    '/admin/v1/apps/parley/users',
    '/console',
    '/console/apps',
  ]
  const statuses = (url: string) => Promise.all(places.map(async (place) => (await ask(url + place)).status))

  it('is nowhere with CONSOLE=off', async () => {
    const { parley, url } = await startParley({ environment: { CONSOLE: 'off' } })
    expect(await statuses(url)).toEqual([404, 404, 404, 404, 404])
    await parley.close()
  })

  it('is nowhere for networks that ADMIN_ALLOW does not name', async () => {
    const { parley, url } = await startParley({ environment: { ADMIN_ALLOW: '10.0.0.0/8' } })
    expect(await statuses(url)).toEqual([404, 404, 404, 404, 404])
    await parley.close()
    const allowed = await startParley({ environment: { ADMIN_ALLOW: 'loopback' } })
    expect(await statuses(allowed.url)).toEqual([401, 200, 401, 200, 200])
    await allowed.parley.close()
  })

  it('is on ADMIN_PORT alone, where that is set, and the rest of the API is not', async () => {
    const { parley, url } = await startParley({ environment: { ADMIN_PORT: '9' } })
    const admin = await parley.adminHttp!.listen({ host: '127.0.0.1', port: 0 })
    expect(await statuses(url)).toEqual([404, 404, 404, 404, 404])
    expect(await statuses(admin)).toEqual([401, 200, 401, 200, 200])
    expect((await ask(`${admin}/v3/users`)).status).toBe(404)
    expect((await ask(`${url}/v3/users`)).status).toBe(401)
    await parley.close()
  })
})
