import type { Operation } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { routes } from '../../server/src/routes.ts'
import { furnish, type Ids, type Sample, samples } from '../../server/test/http/samples.ts'
import { pathOf, queryOf } from '../../server/test/http/watched.ts'
import { type CallAny, createServerClient, type Fetch } from '../src/index.ts'
// @ts-expect-error: a program, without types
import { print } from '../tools/print-types.mjs'
import { createClientWorld } from './support.ts'

const operations: readonly Operation[] = routes.map(({ operation }) => operation)
/** What is printed up to the calls of the admin API. */
const [printed = ''] = (print() as string).split('export interface AdminCalls')
const keys = [...printed.matchAll(/^ {2}'([A-Z]+ .*)': \{$/gm)].map(([, key]) => key as string)

/** The name of an operation in the client. */
function keyOf({ method, path }: Operation): string {
  const place = `${method} ${path}`.replaceAll(/\{\w+\}/g, '{}')
  const found = keys.filter((key) => key.replace(/\?.*/, '').replaceAll(/\{\w+\}/g, '{}') === place)
  if (found.length !== 1) throw new Error(`${place} is ${found.length} times in the client`)
  return found[0]!
}

/** Parameters of the path, query and body, as the client takes them. */
function inputOf(operation: Operation, { params = {}, query = {}, body = {} }: Sample): object {
  const renamed = keyOf(operation).includes('{messageId}') && !operation.path.includes('{messageId}')
  const { id, ...others } = params
  return { ...others, ...(id !== undefined && { [renamed ? 'messageId' : 'id']: id }), ...query, ...body }
}

/** Calls that know no types: the samples have none. */
type AnyCall = (key: string, input: object, options: object) => Promise<unknown>

const named = new Proxy({}, { get: (_, name) => `a-${String(name)}` }) as Ids

describe('Every operation', () => {
  it.each(operations.map((operation) => [operation.id, operation] as const))(
    '%s is asked for as declared',
    async (id, operation) => {
      const asked: { method: string; url: string; body: unknown; as: string | undefined }[] = []
      const fetch: Fetch = async (url, { method, headers, body }) => {
        const json = typeof body === 'string' ? JSON.parse(body) : undefined
        asked.push({ method, url: url.replace('http://service/v3', ''), body: json, as: headers.onBehalfOf })
        return { status: 200, headers: { get: () => null }, text: async () => '{"data":[]}' }
      }
      const call = createServerClient({ url: 'http://service', apiKey: 'key', fetch })
        .call as CallAny as unknown as AnyCall
      const sample = samples[id]!(named)
      await call(keyOf(operation), inputOf(operation, sample), sample.as === undefined ? {} : { onBehalfOf: sample.as })
      const body = sample.body === undefined || Object.keys(sample.body).length === 0 ? undefined : sample.body
      const sends = body !== undefined && id.startsWith('send-') ? { muid: expect.any(String), ...body } : body
      const [{ url, ...rest }] = asked as [(typeof asked)[number]]
      expect(asked).toHaveLength(1)
      expect(rest).toEqual({ method: operation.method, body: sends, as: sample.as })
      const expected = new URL(`http://service${pathOf(operation, sample.params)}${queryOf(sample.query)}`)
      const sent = new URL(`http://service${url}`)
      expect(sent.pathname).toBe(expected.pathname)
      expect(Object.fromEntries(sent.searchParams)).toEqual(Object.fromEntries(expected.searchParams))
    },
  )

  it('that reads answers what the service answers', async () => {
    const world = await createClientWorld()
    const ids = await furnish(world)
    for (const operation of operations.filter(({ method }) => method === 'GET')) {
      const sample = samples[operation.id]!(ids)
      if (sample.token !== undefined) continue
      const as = sample.as === undefined ? {} : { as: sample.as }
      const { body } = await world.get(pathOf(operation, sample.params) + queryOf(sample.query), as)
      const call = world.server.call as CallAny as unknown as AnyCall
      const answer = await call(keyOf(operation), inputOf(operation, sample), { onBehalfOf: sample.as })
      // Times that go on meanwhile are not compared, nor is the place in the log, which all apps move on.
      const shape = (value: unknown) =>
        JSON.stringify(value)
          .replaceAll(/\d{10,13}/g, 'time')
          .replace(/"(after|cursor)":"\d+"/, '"$1":"place"')
      const isList = Array.isArray(body.data) && body.meta !== undefined
      expect(shape(answer), operation.id).toBe(shape(isList || body.meta !== undefined ? body : body.data))
    }
  })
})
