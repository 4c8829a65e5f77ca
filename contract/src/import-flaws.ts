import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { ErrorCode, ErrorDetail } from './errors.ts'
import { limits } from './limits.ts'
import { isWebAddress } from './web-address.ts'

/** One problem of an import record. `path` is relative to the record: `data/attachments/0/url`. */
export interface ImportFlaw extends ErrorDetail {
  /**
   * `ERR_IMPORT_INVALID_*_FORMAT` if the record has the wrong shape (not an object, a missing field, a wrong type, an
   * id that differs from its key), `ERR_IMPORT_INVALID_JOINEDAT` for an impossible join time, `ERR_BAD_REQUEST` if
   * the shape is right but a value is not.
   */
  readonly code: ErrorCode
}

/** How deeply a record may be nested. Deeper records are no chat history, and each level costs stack. */
const maxDepth = 32

/**
 * Reads a time in an import: epoch seconds of at most ten digits, as an integer or a decimal string.
 * Returns undefined for anything else.
 */
export function readEpochSeconds(value: unknown): number | undefined {
  if (typeof value === 'number')
    return Number.isInteger(value) && value >= 0 && value <= 9_999_999_999 ? value : undefined
  return typeof value === 'string' && /^[0-9]{1,10}$/.test(value) ? Number(value) : undefined
}

/**
 * Reads an optional time. 0 counts as absent, since many databases write it for "never": a message with
 * `deletedAt: 0` was not deleted in 1970.
 */
export function readOptionalTime(value: unknown): number | null {
  return value === undefined ? null : readEpochSeconds(value) || null
}

/** Creates the check for one kind of record: first its schema, then, if it matches, the further rules. */
export function makeRecordCheck<Schema extends TSchema, Context>(
  schema: Schema,
  format: ErrorCode,
  rules: (record: Static<Schema>, context: Context) => Iterable<ImportFlaw>,
): (record: unknown, context: Context) => ImportFlaw[] {
  const validator = Compile(schema)
  return (record, context) => {
    const unfit = findUnfit(record)
    if (unfit !== undefined) return [unfit]
    if (validator.Check(record)) {
      const found = rules(record, context)
      return Array.isArray(found) ? found : [...found]
    }
    const flaws = validator.Errors(record).flatMap((error) => toFlaws(error, schema, record, format))
    return flaws.length > 0 ? flaws : [{ code: format, path: '', message: 'must be a valid record of its kind' }]
  }
}

interface SchemaError {
  readonly keyword: string
  readonly schemaPath: string
  readonly instancePath: string
  readonly params: object
  readonly message: string
}

function toFlaws(error: SchemaError, schema: TSchema, record: unknown, format: ErrorCode): ImportFlaw[] {
  // The errors inside a union or a map only repeat what the error of the union or of the values says.
  if (/\/anyOf\/\d/.test(error.schemaPath) || error.keyword === 'additionalProperties') return []
  const path = error.instancePath.slice(1)
  const params = error.params as { requiredProperties?: string[]; allowedValues?: unknown[] }
  if (error.keyword === 'required') {
    return (params.requiredProperties ?? []).map((name) => missing(path === '' ? name : `${path}/${name}`, format))
  }
  if (error.keyword === 'type') return [{ code: format, path, message: error.message }]
  if (error.keyword === 'enum') {
    // A value that is not a string already has an error that says so.
    if (typeof follow(record, path) !== 'string') return []
    return [flaw(path, `must be one of ${(params.allowedValues ?? []).join(', ')}`)]
  }
  const description = (follow(schema, error.schemaPath.slice(2)) as { description?: string } | undefined)?.description
  const message = description === undefined ? error.message : `must be ${description}`
  if (error.keyword === 'anyOf') {
    const value = follow(record, path)
    const code = typeof value === 'string' || typeof value === 'number' ? 'ERR_BAD_REQUEST' : format
    return [{ code, path, message }]
  }
  return [{ code: 'ERR_BAD_REQUEST', path, message: error.keyword === 'pattern' ? message : error.message }]
}

/** The value at a JSON pointer without its leading slash. */
function follow(value: unknown, path: string): unknown {
  if (path === '') return value
  return path.split('/').reduce<unknown>((inner, part) => {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    return typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[name] : undefined
  }, value)
}

/**
 * Finds the first string with a NUL character (the database cannot store it), the first value that is nested too
 * deeply, or the first property that would change an object's prototype.
 */
function findUnfit(value: unknown, depth = 0): ImportFlaw | undefined {
  if (typeof value === 'string') return value.includes('\0') ? flaw('', 'must not contain a NUL character') : undefined
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > maxDepth) return flaw('', `must not be nested more than ${maxDepth} levels deep`)
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = findUnfit(value[i], depth + 1)
      if (found !== undefined) return within(String(i), found)
    }
    return undefined
  }
  // What was parsed has no members but its own; a list of their names would be made for each object of each record.
  for (const name in value) {
    const inner = (value as Record<string, unknown>)[name]
    if (name.includes('\0')) return flaw('', 'must not have a NUL character in a property name')
    if (reachesForPrototype(name, inner)) return flaw(name, 'is not allowed')
    const found = findUnfit(inner, depth + 1)
    if (found !== undefined) return within(name, found)
  }
  return undefined
}

function reachesForPrototype(name: string, inner: unknown): boolean {
  if (name === '__proto__') return true
  return name === 'constructor' && typeof inner === 'object' && inner !== null && Object.hasOwn(inner, 'prototype')
}

/** The right shape, but a wrong value. */
export function flaw(path: string, message: string): ImportFlaw {
  return { code: 'ERR_BAD_REQUEST', path, message }
}

export function missing(path: string, format: ErrorCode): ImportFlaw {
  return { code: format, path, message: 'is required' }
}

export function notInFuture(
  times: Record<string, unknown>,
  now: number,
  code: ErrorCode = 'ERR_BAD_REQUEST',
): ImportFlaw[] {
  const flaws: ImportFlaw[] = []
  // Each record of an import comes through here, and hardly any has a flaw.
  for (const path in times) addIfInFuture(flaws, path, times[path], now, code)
  return flaws
}

/** Adds a flaw to others where a time is in the future. */
export function addIfInFuture(
  flaws: ImportFlaw[],
  path: string,
  value: unknown,
  now: number,
  code: ErrorCode = 'ERR_BAD_REQUEST',
): void {
  const time = readEpochSeconds(value)
  if (time === undefined || time <= now + limits.importSecondsAhead) return
  flaws.push({ code, path, message: `must be at most ${limits.importSecondsAhead} seconds in the future` })
}

export function webAddresses(urls: Record<string, string | undefined>): ImportFlaw[] {
  return Object.entries(urls).flatMap(([path, url]) =>
    url === undefined || isWebAddress(url) ? [] : [flaw(path, 'must be a valid http or https URL')],
  )
}

/** Limits the size of a value: bytes of its JSON in UTF-8. */
export function atMostBytes(path: string, value: unknown, limit: number): ImportFlaw[] {
  if (value === undefined || isSurelyWithin(value, limit)) return []
  const text = JSON.stringify(value)
  if (text.length * 3 <= limit) return []
  const fits = text.length <= limit && new TextEncoder().encode(text).length <= limit
  return fits ? [] : [flaw(path, `must be at most ${limit} bytes of JSON`)]
}

/** Most is so short that it need not be written out to be measured: a character takes at most six bytes, escaped. */
function isSurelyWithin(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  let most = 2
  for (const name in value) {
    const inner = (value as Record<string, unknown>)[name]
    if (typeof inner !== 'string') return false
    most += (name.length + inner.length) * 6 + 6
    if (most > limit) return false
  }
  return true
}

/** Prefixes the paths of an embedded record's flaws with the name of the field that holds it. */
export function* under(name: string, flaws: Iterable<ImportFlaw>): Iterable<ImportFlaw> {
  for (const flaw of flaws) yield within(name, flaw)
}

function within(name: string, inner: ImportFlaw): ImportFlaw {
  return { ...inner, path: inner.path === '' ? name : `${name}/${inner.path}` }
}
