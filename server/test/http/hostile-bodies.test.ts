import { limits, type Operation } from '@parley/contract'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import type { TSchema } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/routes.ts'
import { inLongSuite } from '../gate/needs.ts'
import type { Answer } from '../support/world.ts'
import { createFurnisher } from './copies.ts'
import { bodiesLike, hasNul, hostileValues, membersOf, nest, withMember } from './hostile-values.ts'
import { chatAreas } from './refusals.ts'
import { furnish, furnishChat, type Sample, samples } from './samples.ts'
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
/** `npm run test:long` tries everything on everything; otherwise each member gets a share, another one for each. */
const isLong = inLongSuite.isMet
const share = isLong ? 1 : 8
const shareOfValues = isLong ? 1 : 12
const runs = isLong ? 200 : 3

const takers = routes.map((route) => route.operation).filter((operation) => operation.body !== undefined)
/** Those whose bodies hold records that are checked one by one. */
const holdRecords = new Set(
  routes.filter(({ options }) => options.takesRecords === true).map(({ operation }) => operation.id),
)
const watch = watchAnswers()
const ajv = new Ajv({ strict: false })
let service: Service

beforeAll(async () => {
  service = await startParley({ routes: watch.routes })
})
afterAll(() => service.parley.close())

function shareOf<Item>(items: readonly Item[], turn: number, one = share): readonly Item[] {
  return items.filter((_, i) => (i + turn) % one === 0)
}

/** Nearly all of these bodies are refused, and change nothing. */
const nextWorld = createFurnisher(4)

/** One operation, called with any body. */
async function stage(operation: Operation) {
  const { world, ids } = await nextWorld(chatAreas.includes(operation.area) ? furnishChat : furnish)
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

/** What a member that is missing or wrong is refused with, where the contract has a code for it. */
const codesOfMembers = ['ERR_EMPTY_RECEIVER', 'ERR_INVALID_MESSAGE_DATA']

function expectBadRequest(answer: Answer, status = 400): { path: string; message: string }[] {
  expectContractAnswer(answer)
  expect(answer.status, JSON.stringify(answer.body)).toBe(status)
  expect(['ERR_BAD_REQUEST', ...codesOfMembers]).toContain(answer.body.error.code)
  return answer.body.error.details
}

const noObjects = ['null', '[]', '[{}]', '"text"', '5', 'true', '""', '1e400']
const noJson = ['{', '{"a":}', "{'a':1}", '{"a":1}x', 'undefined', 'NaN', '\0', '{"a":"\n"}', ' ', '\ufeff\ufeff{}']
const forPrototypes = [
  '{"__proto__":{"a":1}}',
  '{"a":{"__proto__":1}}',
  '{"\\u005f_proto__":1}',
  '{"constructor":{"prototype":{"a":1}}}',
]
const tooDeep = [
  JSON.stringify({ deep: nest(40, (inner) => ({ a: inner })) }),
  `{"deep":${'['.repeat(60_000)}${']'.repeat(60_000)}}`,
]
const otherTypes = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/vnd.api+json',
  'application/jsonx',
  '',
  'nonsense',
  'multipart/mixed; boundary=x',
  '/',
  ';;;',
  'text/html; charset=',
]

describe.each(takers.map((operation, turn) => [operation.id, operation, turn] as const))(
  '%s',
  (_id, operation, turn) => {
    const schema = operation.body as TSchema
    const isValid = ajv.compile(schema)
    let staged: Awaited<ReturnType<typeof stage>>

    beforeAll(async () => {
      staged = await stage(operation)
    })

    it('refuses what is no object, no JSON, or too deep, and what does not say that it is JSON', async () => {
      const { send } = staged
      for (const text of shareOf(noObjects, turn)) {
        expect(expectBadRequest(await send(text))).toEqual([{ path: 'body', message: 'must be object' }])
      }
      for (const text of shareOf(noJson, turn)) {
        expect(expectBadRequest(await send(text))).toEqual([
          { path: 'body', message: expect.stringMatching(/^is not valid JSON/) },
        ])
      }
      for (const text of shareOf(forPrototypes, turn)) {
        expect(expectBadRequest(await send(text))).toEqual([
          { path: expect.stringMatching(/(__proto__|constructor)$/), message: 'is not allowed' },
        ])
      }
      for (const text of shareOf(tooDeep, turn)) {
        expect(expectBadRequest(await send(text))[0]?.message).toMatch(/^is nested deeper than 32/)
      }
      for (const type of shareOf(otherTypes, turn)) {
        expect(expectBadRequest(await send('{"a":1}', type), 415)).toEqual([
          { path: 'headers/content-type', message: 'must be application/json' },
        ])
      }
    })

    it('takes any value at any member without a 500, and names the member that is wrong', async () => {
      const { sample, send } = staged
      const members = [...new Set(membersOf(schema).map(({ path }) => path[0] as string))]
      const cases = membersOf(schema).flatMap(({ path }, i) =>
        shareOf(hostileValues, turn + i, shareOfValues).map((value) => ({ path, value })),
      )
      await inParallel(cases, async ({ path, value }) => {
        const body = withMember(sample, path, value)
        const answer = await send(JSON.stringify(body))
        expectContractAnswer(answer, operation)
        const at = ['body', ...path].join('/')
        if (hasNul(value) && typeof value === 'object' && holdRecords.has(operation.id)) {
          // Records are refused one by one.
          expect(answer.status).toBe(200)
          const outcomes: Array<{ success: boolean }> = Object.values(answer.body.data)
          expect(outcomes.map(({ success }) => success)).toEqual([false])
        } else if (hasNul(value)) {
          const [detail] = expectBadRequest(answer)
          expect(detail?.message).toBe('contains a NUL character')
          expect(detail?.path.startsWith(at)).toBe(true)
        } else if (!isValid(body)) {
          const paths = expectBadRequest(answer).map((detail) => detail.path)
          // What it stands in may lack others that belong there.
          const around = path.length > 1 ? `body/${path[0]}` : at
          const isNamed = paths.some((named) => `${named}/`.startsWith(`${around}/`) || at.startsWith(`${named}/`))
          expect(isNamed, `${at}: ${JSON.stringify(value)} is refused for ${paths.join(', ')}`).toBe(true)
        } else if (/^ERR_(BAD_REQUEST|EMPTY_|INVALID_)/.test(answer.body.error?.code)) {
          // Some are refused for what they lack beside them.
          const named = JSON.stringify(answer.body.error)
          expect(members.filter((member) => named.includes(member))).not.toEqual([])
        }
      })
      expect(watch.flaws.splice(0)).toEqual([])
    })

    it('takes random bodies without a 500', async () => {
      const { sample, send } = staged
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
  },
)

describe('a body', () => {
  const createUser = takers.find(({ id }) => id === 'create-user') as Operation

  it('may begin with a byte order mark', async () => {
    const { send, sample } = await stage(createUser)
    expect((await send(`\ufeff${JSON.stringify(sample)}`)).status).toBe(200)
  })

  it('may name its type in any case, with parameters', async () => {
    const { send, sample } = await stage(createUser)
    const types = ['Application/JSON', 'application/json; charset=utf-8', 'application/json;odata=verbose']
    for (const [n, type] of types.entries()) {
      expect((await send(JSON.stringify({ ...sample, uid: `typed-${n}` }), type)).status).toBe(200)
    }
  })

  it('that is empty counts as absent, whatever its type', async () => {
    const { send } = await stage(createUser)
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded', '']) {
      const paths = expectBadRequest(await send('', type)).map(({ path }) => path)
      expect(paths).toEqual(['body/uid', 'body/name'])
      expect(expectBadRequest(await send(undefined, type)).map(({ path }) => path)).toEqual(paths)
    }
  })

  it('with thousands of flaws costs no more than one', async () => {
    const { send } = await stage(takers.find(({ id }) => id === 'deactivate-users') as Operation)
    const details = expectBadRequest(await send(JSON.stringify({ uidsToDeactivate: Array(9_000).fill(1) })))
    expect(details).toHaveLength(1)
  })

  it('has a limited number of members, however small it is', async () => {
    const { send } = await stage(takers.find(({ id }) => id === 'update-role') as Operation)
    const refusal = [{ path: 'body', message: 'has more than 10000 members and items' }]
    const small = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [i, 1]))
    expect(expectBadRequest(await send(JSON.stringify({ metadata: small })), 413)).toEqual(refusal)
    expect(expectBadRequest(await send(`{"metadata":{"a":[${Array(200_000).fill('1')}]}}`), 413)).toEqual(refusal)
    const fitting = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [i, 1]))
    expect((await send(JSON.stringify({ metadata: fitting }))).status).toBe(200)
  })

  it('names every flaw of a short one, up to twenty', async () => {
    const { send } = await stage(createUser)
    const flaws = { uid: 1, name: '', avatar: 'x', tags: [1, 2], metadata: [], withAuthToken: 'yes' }
    const paths = expectBadRequest(await send(JSON.stringify(flaws))).map(({ path }) => path)
    expect(paths).toEqual([
      'body/uid',
      'body/name',
      'body/avatar',
      'body/metadata',
      'body/tags/0',
      'body/tags/1',
      'body/withAuthToken',
    ])
    const many = { uid: 'x', name: 'x', tags: Array(25).fill(1) }
    expect(expectBadRequest(await send(JSON.stringify(many)))).toHaveLength(20)
  })

  it('is quoted in a refusal, but not at length', async () => {
    const { send } = await stage(createUser)
    const answer = await send(`{"${'k'.repeat(100_000)}": "\\u0000"}`)
    expect(expectBadRequest(answer)[0]?.path).toMatch(/^body\/k{100,300}…$/)
    expect(JSON.stringify(answer.body).length).toBeLessThan(3000)
  })

  it('is limited: 128 kB for most operations, 1 MB for roles, 4 MB for lists of terms, 16 MB for imports', async () => {
    const sizes = [
      ['create-user', 128 * 1024],
      ['send-message', 128 * 1024],
      ['update-role', 1024 * 1024],
      ['create-rule-keyword', 4 * 1024 * 1024],
      ['import-users', 16 * 1024 * 1024],
    ] as const
    const declared = takers.map((operation) => operation.bodyLimit ?? limits.bodyBytes.json)
    expect(new Set(declared)).toEqual(new Set(sizes.map(([, size]) => size)))
    for (const [id, size] of sizes) {
      const { send } = await stage(takers.find((taker) => taker.id === id) as Operation)
      const body = (length: number) => `{"a":"${'x'.repeat(length - 8)}"}`
      expect((await send(body(size))).status).not.toBe(413)
      expect(expectBadRequest(await send(body(size + 1)), 413)).toEqual([
        { path: 'body', message: `has more than the ${size} bytes that are taken here` },
      ])
    }
  })
})
