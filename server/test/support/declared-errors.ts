import type { Operation } from '@parley/contract'
import { codesOf } from '../../src/http/reference/openapi.ts'
import { routes } from '../../src/routes.ts'
import type { Answer } from './world.ts'

const operations = routes.map(({ operation }) => ({ operation, pattern: patternOf(operation) }))

function patternOf({ path }: Operation): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

/** Codes of requests that are no calls of an operation, and those of tokens where none opens it. */
const others = ['ERR_API_NOT_FOUND', 'AUTH_ERR_EMPTY_AUTH_TOKEN', 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND']

/** An error that an operation answers is one that the reference says it can answer. */
export function requireDeclared(method: string, path: string, { status, body }: Answer): void {
  const code = body?.error?.code
  if (status === 200 || code === undefined || others.includes(code)) return
  const [place = ''] = path.split('?')
  const fits = operations.filter(({ operation, pattern }) => operation.method === method && pattern.test(place))
  const found = fits.find(({ operation }) => operation.path === place) ?? fits[0]
  if (found === undefined || codesOf(found.operation).includes(code)) return
  const { id, area } = found.operation
  throw new Error(
    `${id} answers ${code} and does not declare it: add it to its \`errors\` in contract/src/areas (${area}). It said: ${body.error.devMessage}`,
  )
}
