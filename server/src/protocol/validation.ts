import { badRequest, type ErrorCode, type ErrorDetail, errorCodesKey, limits } from '@parley/contract'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { bodyTooLarge } from './errors.ts'

/**
 * One strict validator for every part of a request: nothing is coerced, since operator objects and numbers where a
 * string was meant are how peers were broken. Queries are converted by their own reader beforehand. Schemas are our own, and tests
 * look at them: a check of each would be among the dearest things that a first request waits for.
 */
const settings = {
  strict: false,
  coerceTypes: false,
  useDefaults: false,
  verbose: true,
  validateSchema: false,
} as const
/** Stops at the first flaw, so that a body with a million of them costs no more than one. */
const quick = new Ajv({ ...settings, allErrors: false })
/** Finds every flaw, to name them all. */
const thorough = new Ajv({ ...settings, allErrors: true })

const maxDetails = 20
/** Items of lists in a body up to which all its flaws are looked for. */
const maxItemsForAll = 1000

/**
 * Makes a check by a schema that throws 400 naming the fields that are wrong, up to 20. The schema is compiled when the
 * first value is checked: all of them take a third of a start, and a service is rarely asked for most of them.
 */
export function compileCheck(
  part: 'query' | 'params' | 'headers' | 'body' | 'frame',
  schema: object,
): (value: unknown) => void {
  let validate: ValidateFunction | undefined
  let validateAll: ValidateFunction | undefined
  return (value) => {
    validate ??= quick.compile(schema)
    if (validate(value)) return
    let flaws = validate.errors ?? []
    if (countItems(value, maxItemsForAll) < maxItemsForAll) {
      validateAll ??= thorough.compile(schema)
      validateAll(value)
      flaws = validateAll.errors ?? flaws
    }
    const named = withoutBranches(flaws).slice(0, maxDetails)
    throw badRequest(
      named.map((flaw) => describe(part, flaw)),
      named[0] && codeOf(named[0]),
    )
  }
}

/** The code that the schema gives a flaw, if any. */
function codeOf({ keyword, parentSchema }: ErrorObject): ErrorCode | undefined {
  return (parentSchema?.[errorCodesKey] as Record<string, ErrorCode> | undefined)?.[keyword]
}

function countItems(value: unknown, enough: number): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  for (const member of Object.values(value)) {
    count += 1 + countItems(member, enough - count)
    if (count >= enough) break
  }
  return count
}

/** Of a value that fits none of several schemas, only that is said, not also why it does not fit each of them. */
function withoutBranches(flaws: readonly ErrorObject[]): ErrorObject[] {
  const unions = flaws.filter(({ keyword }) => keyword === 'anyOf')
  return flaws.filter(({ schemaPath }) => !unions.some((union) => schemaPath.startsWith(`${union.schemaPath}/`)))
}

function describe(part: string, flaw: ErrorObject): ErrorDetail {
  const path = [part, ...flaw.instancePath.split('/').slice(1).map(unescapePointer)].join('/')
  const params = flaw.params as Record<string, unknown>
  switch (flaw.keyword) {
    case 'required':
      return { path: `${path}/${params.missingProperty}`, message: 'is required' }
    case 'additionalProperties':
      return { path: `${path}/${params.additionalProperty}`, message: 'is not known here' }
    case 'enum':
      return { path, message: `must be one of ${(params.allowedValues as unknown[]).join(', ')}` }
    case 'anyOf':
      return { path, message: `must be: ${flaw.parentSchema?.description ?? 'one of several forms'}` }
    default:
      return { path, message: flaw.message ?? 'is not valid' }
  }
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
}

const maxDepth = 32

/**
 * Walks a parsed body or query: refuses what is nested too deep, text with NUL characters, and members that reach for
 * the prototype of an object (400); makes the rest storable by replacing broken surrogates. Changes the value in place.
 * @param path where the value stands in the request: `body`, `query`
 */
export function sanitize(value: unknown, path: string): unknown {
  return sanitizeWithin(value, { trail: [path], membersLeft: limits.bodyMembers })
}

/** Where a walk stands. The path is put together only where there is something to say of it: nearly all values are sound. */
interface Walk {
  /** Names of the members down to the value at hand. */
  readonly trail: Array<string | number>
  /** How many more members and items there may be. */
  membersLeft: number
}

function sanitizeWithin(value: unknown, walk: Walk): unknown {
  if (typeof value === 'string') return sanitizeText(value, walk)
  if (typeof value !== 'object' || value === null) return value
  const { trail } = walk
  if (trail.length > maxDepth) throw flawAt(walk, `is nested deeper than ${maxDepth} levels`)
  if (Array.isArray(value)) {
    countMembers(walk, value.length)
    for (let i = 0; i < value.length; i++) {
      trail.push(i)
      const item = sanitizeWithin(value[i], walk)
      if (item !== value[i]) value[i] = item
      trail.pop()
    }
    return value
  }
  const object = value as Record<string, unknown>
  const keys = Object.keys(object)
  countMembers(walk, keys.length)
  for (const key of keys) {
    const clean = sanitizeText(key, walk)
    const sent = object[key]
    trail.push(clean)
    if (reachesForPrototype(clean, sent)) throw flawAt(walk, 'is not allowed')
    const member = sanitizeWithin(sent, walk)
    trail.pop()
    if (clean !== key) delete object[key]
    // To write a member that is as it was costs more than all the rest of a look at it.
    if (clean !== key || member !== sent) object[clean] = member
  }
  return value
}

function flawAt({ trail }: Walk, message: string) {
  return badRequest([{ path: trail.join('/'), message }])
}

/** What is walked member by member must not keep everybody else waiting. */
function countMembers(walk: Walk, count: number): void {
  walk.membersLeft -= count
  if (walk.membersLeft < 0) throw bodyTooLarge(`has more than ${limits.bodyMembers} members and items`)
}

/**
 * Walks a body whose members hold records that are mended and checked one by one (data import): those are left as they are,
 * all else is sanitized.
 * @param members the names of those members
 */
export function sanitizeRecords(body: unknown, members: readonly string[]): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return sanitize(body, 'body')
  const sent = Object.entries(body)
  const holdsRecords = ([name, value]: [string, unknown]) => members.includes(name) && typeof value === 'object'
  const others = sanitize(Object.fromEntries(sent.filter((member) => !holdsRecords(member))), 'body')
  return { ...(others as object), ...Object.fromEntries(sent.filter(holdsRecords)) }
}

function reachesForPrototype(key: string, member: unknown): boolean {
  if (key === '__proto__') return true
  return key === 'constructor' && typeof member === 'object' && member !== null && Object.hasOwn(member, 'prototype')
}

function sanitizeText(text: string, walk: Walk): string {
  if (text.includes('\0')) throw flawAt(walk, 'contains a NUL character')
  return text.isWellFormed() ? text : text.toWellFormed()
}
