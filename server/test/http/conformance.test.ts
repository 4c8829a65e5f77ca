import type { Operation } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerOf, bodyOf } from '../../src/http/reference/openapi.ts'
import { routes } from '../../src/routes.ts'
import { type Answer, send, type World } from '../support/world.ts'
import { createCopier } from './copies.ts'
import type { Furnished } from './in-order.ts'
import { chatAreas } from './refusals.ts'
import { answerToSample } from './sample-call.ts'
import { furnish, type Ids, samples } from './samples.ts'
import {
  ask,
  closed,
  expectContractAnswer,
  flawsIn,
  inParallel,
  pathOf,
  queryOf,
  type Service,
  startParley,
  watchAnswers,
} from './watched.ts'

const operations = routes.map((route) => route.operation)
const watch = watchAnswers()
let service: Service
let world: World
let ids: Ids
let copy: () => Promise<Furnished>

beforeAll(async () => {
  service = await startParley({ routes: watch.routes })
  copy = createCopier(furnish, service)
  ;({ world, ids } = await copy())
})
afterAll(() => service.parley.close())

/** Sends the operation's sample with just these headers beside `appId`. */
function call(operation: Operation, named: Ids, headers: Record<string, string>): Promise<Answer> {
  const sample = samples[operation.id]?.(named)
  const path = pathOf(operation, sample?.params) + queryOf(sample?.query)
  return send(service.url, operation.method, path, sample?.body, headers)
}

function refusalOf(answer: Answer): string {
  expectContractAnswer(answer)
  return `${answer.status} ${answer.body.error?.code}`
}

const actorOf = (operation: Operation, named: Ids): Record<string, string> => {
  const as = samples[operation.id]?.(named).as
  return as === undefined ? {} : { onbehalfof: as }
}

describe('the declared operations', () => {
  it('have ids, and methods with paths, of their own', () => {
    const places = operations.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length)
    expect(new Set(places).size).toBe(places.length)
  })

  it('name the parameters of their paths, all of them', () => {
    for (const { id, path, params } of operations) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
      expect(Object.keys(params.properties).sort(), id).toEqual(named.sort())
    }
  })

  it('are opened to authOnly keys only where the contract says so', () => {
    const opened = operations.filter(({ access }) => access.authOnly === true).map(({ id }) => id)
    expect(opened.sort()).toEqual(['create-authtoken', 'create-user', 'update-user'])
  })
})

describe.each(operations.map((operation) => [operation.id, operation] as const))('%s', (id, operation) => {
  // Of the areas of chat, answers.test.ts makes it, and keeps the answer.
  if (!chatAreas.includes(operation.area)) {
    it('has a sample call, which succeeds with just what is declared', async () => {
      // What only reads leaves the world as it is for the next.
      await answerToSample(operation, operation.method === 'GET' ? { world, ids } : await copy(), watch)
    })
  }

  if (operation.plain !== undefined) {
    it('is called by its sample as the reference shows it, and answers so', async () => {
      const { world: mine, ids: named } = operation.method === 'GET' ? { world, ids } : await copy()
      const { body } = samples[id]?.(named) ?? {}
      if (body !== undefined) expect(flawsIn(body, bodyOf(operation))).toBe('')
      const app = { appid: mine.app.name, apikey: mine.apiKey, ...actorOf(operation, named) }
      const answer = await call(operation, named, app)
      expect(flawsIn(answer.body, closed(answerOf(operation)))).toBe('')
    })
  }

  it('refuses who may not call it', async () => {
    const app = { appid: world.app.name }
    const actor = actorOf(operation, ids)
    const unknown = 'ab'.repeat(20)
    const refused = async (headers: Record<string, string>) => refusalOf(await call(operation, ids, headers))

    const expected: [Record<string, string>, string][] = [
      [{ ...app, ...actor }, '401 AUTH_ERR_EMPTY_APIKEY'],
      [{ ...app, ...actor, apikey: ' ' }, '401 AUTH_ERR_EMPTY_APIKEY'],
      [{ ...app, authtoken: '' }, '401 AUTH_ERR_EMPTY_AUTH_TOKEN'],
      [{ ...app, ...actor, apikey: unknown }, '401 AUTH_ERR_APIKEY_NOT_FOUND'],
      [{ ...app, authtoken: `alice_1700000000${'a'.repeat(30)}` }, '401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND'],
      [{ appid: 'no-such-app', apikey: world.apiKey }, '401 AUTH_ERR_INVALID_APPID'],
      // The key of another app is no key here.
      [{ appid: 'parley', apikey: world.apiKey }, '401 AUTH_ERR_APIKEY_NOT_FOUND'],
      // A key that is wrong is not made good by a token that is right.
      [{ ...app, apikey: unknown, authtoken: ids.authToken }, '401 AUTH_ERR_APIKEY_NOT_FOUND'],
    ]
    if (operation.access.authOnly !== true) {
      expected.push([{ ...app, ...actor, apikey: world.authKey }, '403 AUTH_ERR_NO_ACCESS'])
    }
    if (operation.access.user !== true) expected.push([{ ...app, authtoken: ids.authToken }, '403 AUTH_ERR_NO_ACCESS'])
    const answers = await Promise.all(expected.map(([headers]) => refused(headers)))
    expect(answers).toEqual(expected.map(([, refusal]) => refusal))
  })

  it('tells the caller before it looks at the request', async () => {
    const path = pathOf(operation, samples[id]?.(ids).params)
    const headers = { appid: world.app.name, apikey: 'ab'.repeat(20), 'content-type': 'application/json' }
    expect(refusalOf(await send(service.url, operation.method, path, '{"broken', headers))).toBe(
      '401 AUTH_ERR_APIKEY_NOT_FOUND',
    )
  })

  if (operation.onBehalfOf !== 'ignored') {
    it('wants an acting user who exists', async () => {
      const headers = { appid: world.app.name, apikey: world.apiKey }
      if (operation.onBehalfOf === 'required') {
        const answer = await call(operation, ids, headers)
        expect(refusalOf(answer)).toBe('400 ERR_BAD_REQUEST')
        expect(answer.body.error.details).toEqual([{ path: 'headers/onBehalfOf', message: 'is required' }])
      }
      const actors = ['nobody', ids.erin, 'not a uid', '__proto__']
      const answers = await Promise.all(actors.map((onbehalfof) => call(operation, ids, { ...headers, onbehalfof })))
      expect(answers.map(refusalOf)).toEqual(actors.map(() => '404 ERR_UID_NOT_FOUND'))
    })
  }

  it('answers below /v3, below /v3.0 and without either', async () => {
    const headers = { appid: world.app.name, apikey: 'ab'.repeat(20) }
    const path = pathOf(operation, samples[id]?.(ids).params)
    const codeBelow = async (prefix: string) =>
      (await ask(`${service.url}${prefix}${path}`, { method: operation.method, headers })).body.error.code
    expect(await Promise.all(['/v3', '/v3.0', ''].map(codeBelow))).toEqual(Array(3).fill('AUTH_ERR_APIKEY_NOT_FOUND'))
    expect(await Promise.all(['/v4', '/v3/v3.0'].map(codeBelow))).toEqual(Array(2).fill('ERR_API_NOT_FOUND'))
  })
})

describe('what is not declared', () => {
  it('is a 404: other methods at the paths of operations', async () => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']
    const headers = { appid: world.app.name, apikey: world.apiKey }
    const calls = operations.flatMap((operation) => methods.map((method) => ({ operation, method })))
    const declaredAt = operations.map(({ method, path }) => ({
      method,
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    }))
    let checked = 0
    await inParallel(calls, async ({ operation, method }) => {
      const path = pathOf(operation, samples[operation.id]?.(ids).params)
      const declared = method === 'HEAD' ? 'GET' : method
      if (declaredAt.some((other) => other.method === declared && other.pattern.test(path))) return
      const answer = await ask(`${service.url}${path}`, { method, headers })
      expect(answer.status, `${method} ${path}`).toBe(404)
      if (method !== 'HEAD') expect(refusalOf(answer)).toBe('404 ERR_API_NOT_FOUND')
      checked++
    })
    expect(checked).toBeGreaterThan(100)
  })

  it.each(['/', '', '/nothing', '/users/', '/groups//members', '/users/alice/nothing', '/Users', '/users/alice/'])(
    'is a 404, with and without a key, whatever is sent along: %s',
    async (path) => {
      for (const headers of [{}, { appid: world.app.name, apikey: world.apiKey }]) {
        for (const [body, type] of [
          ['{"broken', 'application/json'],
          ['text', 'text/plain'],
        ] as const) {
          const answer = await send(service.url, 'POST', path, body, { ...headers, 'content-type': type })
          expect(refusalOf(answer)).toBe('404 ERR_API_NOT_FOUND')
          expect(answer.body.error.devMessage).toContain('POST')
        }
      }
    },
  )
})
