import type { Operation } from '@parley/contract'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import type { TSchema } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/routes.ts'
import { type Answer, createWorld, type World } from '../support/world.ts'
import { bodiesLike, hasNul, hostileValues, membersOf, nest, withMember } from './hostile-values.ts'
import { furnish, type Ids, type Sample, samples } from './samples.ts'
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

/** Another seed makes other bodies; a failure names the one that found it. */
const seed = Number(process.env.FUZZ_SEED ?? 20_261_120)
const runs = Number(process.env.FUZZ_RUNS ?? 25)

const takers = routes.map((route) => route.operation).filter((operation) => operation.body !== undefined)
const watch = watchAnswers()
const ajv = new Ajv({ strict: false })
let service: Service

beforeAll(async () => {
  service = await startParley({ routes: watch.routes })
})
afterAll(() => service.parley.close())

/** One operation in a world of its own, called with any body. */
async function stage(operation: Operation) {
  const world: World = await createWorld()
  const ids: Ids = await furnish(world)
  const sample = samples[operation.id]?.(ids) as Sample
  const url = `${service.url}/v3${pathOf(operation, sample.params)}${queryOf(sample.query)}`
  const credential: Record<string, string> =
    sample.token === undefined ? { apikey: world.apiKey } : { authtoken: sample.token }
  const headers = {
    appid: world.app.name,
    ...credential,
    ...(sample.as !== undefined && { onbehalfof: sample.as }),
  }
  return {
    sample: sample.body ?? {},
    send: (body: string | Buffer | undefined, type: string | undefined = 'application/json'): Promise<Answer> =>
      ask(url, {
        method: operation.method,
        headers: { ...headers, ...(type !== '' && { 'content-type': type }) },
        ...(body !== undefined && { body }),
      }),
  }
}

function expectBadRequest(answer: Answer, status = 400): { path: string; message: string }[] {
  expectContractAnswer(answer)
  expect(answer.status, JSON.stringify(answer.body)).toBe(status)
  expect(answer.body.error.code).toBe('ERR_BAD_REQUEST')
  return answer.body.error.details
}

describe.each(takers.map((operation) => [operation.id, operation] as const))('%s', (_id, operation) => {
  const schema = operation.body as TSchema
  const isValid = ajv.compile(schema)

  it('takes any value at any member without a 500, and names the member that is wrong', async () => {
    const { sample, send } = await stage(operation)
    const cases = membersOf(schema).flatMap(({ path }) => hostileValues.map((value) => ({ path, value })))
    await inParallel(cases, async ({ path, value }) => {
      const body = withMember(sample, path, value)
      const answer = await send(JSON.stringify(body))
      expectContractAnswer(answer, operation)
      const at = ['body', ...path].join('/')
      if (hasNul(value)) {
        expect(expectBadRequest(answer)[0]?.message).toBe('contains a NUL character')
        expect(answer.body.error.details[0].path.startsWith(at)).toBe(true)
      } else if (!isValid(body)) {
        const paths = expectBadRequest(answer).map((detail) => detail.path)
        expect(paths.some((named) => named === at || named.startsWith(`${at}/`) || at.startsWith(`${named}/`))).toBe(
          true,
        )
      }
    })
    expect(watch.flaws.splice(0)).toEqual([])
  })

  it('takes random bodies without a 500', async () => {
    const { sample, send } = await stage(operation)
    await fc.assert(
      fc.asyncProperty(bodiesLike(schema, sample), async (body) => {
        const answer = await send(JSON.stringify(body))
        expectContractAnswer(answer, operation)
        if (!isValid(body)) expectBadRequest(answer)
      }),
      { seed, numRuns: runs },
    )
    expect(watch.flaws.splice(0)).toEqual([])
  })

  it('refuses what is no object, no JSON, or too much', async () => {
    const { send } = await stage(operation)
    for (const text of ['null', '[]', '[{}]', '"text"', '5', 'true']) {
      expect(expectBadRequest(await send(text))).toEqual([{ path: 'body', message: 'must be object' }])
    }
    for (const text of [
      '{',
      '{"a":}',
      "{'a':1}",
      '{"a":1}x',
      'undefined',
      'NaN',
      '\0',
      '\ufeff{}',
      '{"a":"\n"}',
      ' ',
    ]) {
      const [detail] = expectBadRequest(await send(text))
      expect(detail?.path).toBe('body')
      expect(detail?.message).toMatch(/^is not valid JSON/)
    }
    for (const text of ['{"__proto__":{"a":1}}', '{"a":{"__proto__":1}}', '{"\\u005f_proto__":1}']) {
      expect(expectBadRequest(await send(text))[0]).toMatchObject({ path: /__proto__$/, message: 'is not allowed' })
    }
    expect(expectBadRequest(await send('{"constructor":{"prototype":{"a":1}}}'))[0]?.path).toBe('body/constructor')
    const deep = JSON.stringify({ deep: nest(40, (inner) => ({ a: inner })) })
    expect(expectBadRequest(await send(deep))[0]?.message).toMatch(/^is nested deeper than 32/)
    const abyss = `{"deep":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    expect(expectBadRequest(await send(abyss))[0]?.message).toMatch(/^is nested deeper than 32/)
  })

  it('refuses what does not say that it is JSON', async () => {
    const { send } = await stage(operation)
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/vnd.api+json',
      'application/jsonx',
      '',
    ]
    for (const type of [...types, 'nonsense', 'multipart/mixed; boundary=x', '/', ';;;', 'text/html; charset=']) {
      const details = expectBadRequest(await send('{"a":1}', type), 415)
      expect(details).toEqual([{ path: 'headers/content-type', message: 'must be application/json' }])
    }
    // Whatever it says about nothing at all.
    const empty = await send(undefined, 'text/plain')
    expectContractAnswer(empty, operation)
    expect(empty.status).not.toBe(415)
  })
})
