import fc from 'fast-check'
import type { TSchema } from 'typebox'

/** Makes a chain of objects, or of lists, so many levels deep. */
export function nest(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = wrap(value)
  return value
}

/** What breaks services: wrong types, operators of query languages, ends of ranges, text that stores refuse. */
export const hostileValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  10 ** 20,
  '',
  ' ',
  'true',
  '-1',
  '1e3',
  '99999999999999999999',
  'x'.repeat(20_000),
  '😀'.repeat(101),
  'a\0b',
  '\ud800',
  '\udc00\ud800x',
  "'; drop table users; --",
  '%00%s%n{{7*7}}',
  '../../etc/passwd',
  'constructor',
  '__proto__',
  [],
  [null],
  [[]],
  [{}],
  ['a', 1, null],
  ['a\0b'],
  ['\ud800'],
  {},
  { $ne: 1 },
  { $gt: '' },
  { length: 1e9 },
  { toString: 1, valueOf: 1, hasOwnProperty: 1 },
  { toJSON: null },
  { constructor: 1 },
  { 'a\0b': 1 },
  { '\ud800': '\udfff' },
  { '': { '': '' } },
  nest(40, (inner) => [inner]),
  nest(40, (inner) => ({ a: inner })),
]

/** A member that a schema declares, at any depth; `0` stands for the items of a list. */
export interface DeclaredMember {
  readonly path: readonly string[]
}

interface JsonSchema {
  readonly properties?: Record<string, JsonSchema>
  readonly items?: JsonSchema
}

export function membersOf(schema: TSchema): DeclaredMember[] {
  const walk = (at: JsonSchema, path: readonly string[]): DeclaredMember[] => [
    ...Object.entries(at.properties ?? {}).flatMap(([name, property]) => [
      { path: [...path, name] },
      ...walk(property, [...path, name]),
    ]),
    ...(at.items === undefined ? [] : [{ path: [...path, '0'] }, ...walk(at.items, [...path, '0'])]),
  ]
  return walk(schema as JsonSchema, [])
}

/** A copy of the body with the member at the path replaced; what lies on the way is made. */
export function withMember(body: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value
  if (name === '0') return [withMember(Array.isArray(body) ? body[0] : undefined, rest, value)]
  const object = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {}
  return { ...object, [name]: withMember((object as Record<string, unknown>)[name], rest, value) }
}

/** Does any text or key in it have a NUL character? */
export function hasNul(value: unknown): boolean {
  return JSON.stringify(value)?.includes('\\u0000') ?? false
}

/** Bodies near the declared ones: some members as in the sample, some hostile, some at random. */
export function bodiesLike(schema: TSchema, sample: Record<string, unknown>): fc.Arbitrary<unknown> {
  const names = Object.keys((schema as JsonSchema).properties ?? {})
  const member = (name: string) =>
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(sample[name]) },
      { weight: 2, arbitrary: fc.constantFrom(...hostileValues) },
      { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }) },
    )
  return fc.record(Object.fromEntries(names.map((name) => [name, member(name)])), { requiredKeys: [] })
}
