import { type AdminOperation, ErrorBodySchema, type ErrorCode } from '@parley/contract'
import type { FastifyInstance } from 'fastify'
import type { AdminRoute } from '../../areas/operators/index.ts'
import type { Context } from '../../context.ts'
import { apiNotFound } from '../../protocol/errors.ts'
import { version } from '../../version.ts'
import { nameSchemas } from '../reference/named-schemas.ts'
import { errorExamples, headOf, isRequired, parametersOf, refusalsOf, successOf } from '../reference/openapi.ts'
import { sendKept } from '../static.ts'
import { adminPrefix, isolate } from './gate.ts'

/** `GET /admin/v1/openapi.json`, made from the declarations. */
export function registerAdminOpenApi(
  server: FastifyInstance,
  { addresses }: Pick<Context, 'addresses'>,
  routes: readonly AdminRoute[],
): void {
  let content: Buffer | undefined
  const write = () =>
    Buffer.from(JSON.stringify(nameSchemas(describeAdminApi(routes.map(({ operation }) => operation)))))
  server.route({
    method: 'GET',
    url: `${adminPrefix}/openapi.json`,
    config: { operation: 'admin-openapi', withoutPrefix: true },
    handler: async (request, reply) => {
      if (!addresses.isAdmin(request.raw)) throw apiNotFound(request)
      isolate(reply)
      reply.type('application/json').header('cache-control', 'no-cache')
      content ??= write()
      return sendKept(request, reply, content)
    },
  })
}

const guide = `For operators of a deployment, and their scripts. Beside what is listed here, every operation of the public
contract (\`/openapi.json\`) is below \`/apps/{appId}\`, such as \`GET /apps/shop/users\`, for operators with the right that is named there as
\`x-operator-right\`.`

/** Codes that any operation of the admin API can answer. */
const generalErrors = [
  'ERR_BAD_REQUEST',
  'ERR_PERMISSION_DENIED',
  'ERR_TOO_MANY_REQUESTS',
  'ERR_EXCEPTION',
  'ERR_MISSION_FAILED',
] as const satisfies readonly ErrorCode[]

/** Every code that an operation can answer. */
export function adminCodesOf({ access, errors }: AdminOperation): readonly ErrorCode[] {
  return [
    ...new Set<ErrorCode>([...generalErrors, ...(access === 'anybody' ? [] : ['ERR_NO_AUTH' as const]), ...errors]),
  ]
}

/** The OpenAPI 3.1 document of the admin API. */
function describeAdminApi(operations: readonly AdminOperation[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations) {
    const item = paths[operation.path] ?? {}
    item[operation.method.toLowerCase()] = describeOperation(operation)
    paths[operation.path] = item
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley admin API',
      version,
      description: guide,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: adminPrefix }],
    tags: [...new Set(operations.map(({ area }) => area))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: '__Host-parley-console' },
        token: { type: 'http', scheme: 'bearer', description: 'Personal token of an operator' },
      },
      schemas: { Error: ErrorBodySchema },
      examples: errorExamples(operations.flatMap(adminCodesOf)),
    },
    security: [{ session: [] }, { token: [] }],
  }
}

function describeOperation(operation: AdminOperation): object {
  const { access, params, query, body, answer, sessionOnly } = operation
  return {
    ...headOf(operation),
    ...(access !== 'anybody' && access !== 'signedIn' && { 'x-operator-right': access }),
    parameters: [...parametersOf('path', params), ...parametersOf('query', query)],
    ...(body && { requestBody: { content: { 'application/json': { schema: body } }, required: isRequired(body) } }),
    responses: { 200: successOf(answer), ...refusalsOf(adminCodesOf(operation), body !== undefined) },
    ...(access === 'anybody' && { security: [] }),
    ...(sessionOnly === true && { security: [{ session: [] }] }),
  }
}
