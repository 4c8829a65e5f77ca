import type { ErrorDetail } from '@parley/contract'
import { ApiError } from '@parley/contract'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'

/**
 * One strict validator for every part of a request: nothing is coerced, since operator objects and numbers where a
 * string was meant are how peers were broken. Queries are converted by their own reader beforehand.
 */
const ajv = new Ajv({ allErrors: true, strict: false, coerceTypes: false, useDefaults: false })

const maxDetails = 20

/** Compiles a schema to a check that throws 400 `ERR_BAD_REQUEST` naming every field that is wrong. */
export function compileCheck(part: 'params' | 'query' | 'body', schema: object): (value: unknown) => void {
  const validate: ValidateFunction = ajv.compile(schema)
  return (value) => {
    if (validate(value)) return
    const details = (validate.errors ?? []).slice(0, maxDetails).map((error) => describe(part, error))
    throw badRequest(details)
  }
}

/** The 400 for a request whose fields are wrong; `devMessage` names the first few. */
export function badRequest(details: readonly ErrorDetail[]): ApiError {
  const devMessage = details
    .slice(0, 3)
    .map(({ path, message }) => `${path} ${message}`)
    .join('; ')
  return new ApiError('ERR_BAD_REQUEST', devMessage, details)
}

function describe(part: string, error: ErrorObject): ErrorDetail {
  const path = [part, ...error.instancePath.split('/').slice(1).map(unescapePointer)]
  const params = error.params as Record<string, unknown>
  if (error.keyword === 'required')
    return { path: [...path, String(params.missingProperty)].join('/'), message: 'is required' }
  if (error.keyword === 'additionalProperties') {
    return { path: [...path, String(params.additionalProperty)].join('/'), message: 'is not known here' }
  }
  if (error.keyword === 'enum') {
    return { path: path.join('/'), message: `must be one of ${(params.allowedValues as unknown[]).join(', ')}` }
  }
  return { path: path.join('/'), message: error.message ?? 'is not valid' }
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
}

const maxDepth = 32

/**
 * Walks a parsed body: refuses what is nested too deep and text with NUL characters (400), and makes the rest storable
 * by replacing broken surrogates. Changes the value in place.
 */
export function sanitizeBody(value: unknown, path = 'body', depth = 0): unknown {
  if (typeof value === 'string') return sanitizeText(value, path)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth) throw badRequest([{ path, message: `is nested deeper than ${maxDepth} levels` }])
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = sanitizeBody(value[i], `${path}/${i}`, depth + 1)
    return value
  }
  const object = value as Record<string, unknown>
  for (const key of Object.keys(object)) {
    const clean = sanitizeText(key, path)
    const member = sanitizeBody(object[key], `${path}/${clean}`, depth + 1)
    if (clean !== key) delete object[key]
    object[clean] = member
  }
  return value
}

function sanitizeText(text: string, path: string): string {
  if (text.includes('\0')) throw badRequest([{ path, message: 'contains a NUL character' }])
  return text.isWellFormed() ? text : text.toWellFormed()
}
