import {
  ApiError,
  ErrorBodySchema,
  type ErrorCode,
  errors,
  governanceOf,
  type Operation,
  rightOf,
} from '@parley/contract'
import type { FastifyInstance } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import type { Route } from '../../call.ts'
import type { Context } from '../../context.ts'
import { version } from '../../version.ts'
import { serveStatic } from '../static.ts'
import { type CallExample, type Examples, noExamples, readExamples } from './examples.ts'
import { areas, guideOf } from './guide.ts'
import { nameSchemas } from './named-schemas.ts'

/** `GET /openapi.json`, made from the declarations. */
export function registerOpenApi(server: FastifyInstance, context: Context, routes: readonly Route[]): void {
  // Made when somebody asks for it: a start need not wait.
  let content: Buffer | undefined
  const write = () => {
    const operations = routes.map((route) => route.operation)
    return Buffer.from(JSON.stringify(nameSchemas(describeApi(operations, context.config.appId, readExamples()))))
  }
  serveStatic(server, {
    ...{ url: '/openapi.json', operation: 'openapi', type: 'application/json' },
    content: () => (content ??= write()),
  })
}

/** The OpenAPI 3.1 document of the declared operations. */
export function describeApi(
  operations: readonly Operation[],
  defaultApp: string,
  examples: Examples = noExamples,
): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations) {
    const item = paths[operation.path] ?? {}
    item[operation.method.toLowerCase()] = describeOperation(operation, examples.operations[operation.id])
    paths[operation.path] = item
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley',
      version,
      description: guideOf(defaultApp),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/v3' }],
    tags: Object.entries(areas).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'apikey' },
        authToken: { type: 'apiKey', in: 'header', name: 'authToken' },
        jwt: { type: 'apiKey', in: 'header', name: 'Authorization' },
      },
      schemas: { Error: ErrorBodySchema },
      examples: errorExamples(operations.flatMap(codesOf)),
    },
    security: [{ apiKey: [] }],
  }
}

/** Codes that any operation can answer. */
export const generalErrors = [
  'AUTH_ERR_INVALID_APPID',
  'AUTH_ERR_EMPTY_APIKEY',
  'AUTH_ERR_APIKEY_NOT_FOUND',
  'AUTH_ERR_NO_ACCESS',
  'ERR_BAD_REQUEST',
  'ERR_TOO_MANY_REQUESTS',
  'ERR_EXCEPTION',
  'ERR_MISSION_FAILED',
] as const

/** Every code that an operation can answer. */
export function codesOf(operation: Operation): readonly ErrorCode[] {
  const ofTokens = ['AUTH_ERR_EMPTY_AUTH_TOKEN', 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND'] as const
  return [
    ...new Set([
      ...generalErrors,
      ...(operation.access.user === true ? ofTokens : []),
      ...(operation.onBehalfOf === 'ignored' ? [] : (['ERR_UID_NOT_FOUND'] as const)),
      ...operation.errors,
      ...(governanceOf(operation.id) === undefined ? [] : (['ERR_PERMISSION_DENIED'] as const)),
    ]),
  ]
}

/** Each of the codes, once. */
export function errorExamples(codes: readonly ErrorCode[]): object {
  return Object.fromEntries([...new Set(codes)].sort().map((code) => [code, { value: new ApiError(code).toBody() }]))
}

function describeOperation(operation: Operation, example: CallExample | undefined): object {
  const { params, query, body, as } = example?.request ?? {}
  const schema = bodyOf(operation)
  return {
    ...headOf(operation),
    ...(operation.deprecated === true && { deprecated: true }),
    'x-operator-right': rightOf(operation),
    parameters: [
      ...parametersOf('path', operation.params, params),
      ...parametersOf('query', operation.query, query),
      ...(operation.headers === undefined ? [] : parametersOf('header', operation.headers)),
      ...(operation.onBehalfOf === 'ignored' ? [] : [actorHeader(operation, as)]),
      {
        name: 'appId',
        in: 'header',
        required: false,
        schema: { type: 'string' },
        description: 'App ID; only needed if the host name does not contain it',
      },
    ],
    ...(operation.body && {
      requestBody: {
        content: {
          'application/json': { schema, ...(body !== undefined && { example: body }) },
          ...(operation.takesFiles === true && { 'multipart/form-data': { schema: formOf(operation.body) } }),
          ...(operation.readsFile && {
            'multipart/form-data': { schema: textFormOf(operation.body, operation.readsFile.field) },
          }),
        },
        required: operation.needsBody === true || isRequired(schema),
      },
    }),
    responses: {
      200: successOf(answerOf(operation), example),
      ...refusalsOf(codesOf(operation), operation.body !== undefined),
    },
    security: [
      { apiKey: [] },
      ...(operation.access.user === true ? [{ authToken: [] }] : []),
      ...(operation.access.jwt === true ? [{ jwt: [] }] : []),
    ],
  }
}

/** What an operation is called, and what it does. */
export function headOf({
  id,
  area,
  summary,
  description,
}: Pick<Operation, 'id' | 'summary' | 'description'> & { area: string }) {
  return { operationId: id, tags: [area], summary, ...(description !== undefined && { description }) }
}

/** The answer of success. */
export function successOf(schema: TSchema, example?: Pick<CallExample, 'answer'>): object {
  return {
    description: 'Success',
    content: { 'application/json': { schema, ...(example && { example: example.answer }) } },
  }
}

/** The answers that refuse, by their status. */
export function refusalsOf(codes: readonly ErrorCode[], hasBody: boolean): object {
  const byStatus = new Map<number, Set<ErrorCode>>()
  for (const code of codes) {
    const { status } = errors[code]
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code))
  }
  if (hasBody) for (const status of [413, 415]) byStatus.set(status, new Set(['ERR_BAD_REQUEST']))
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: [...codes].map((code) => `\`${code}\``).join(', '),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            examples: Object.fromEntries([...codes].map((code) => [code, { $ref: `#/components/examples/${code}` }])),
          },
        },
      },
    ]),
  )
}

export function parametersOf(
  where: 'path' | 'query' | 'header',
  schema: TObject,
  example: Readonly<Record<string, string>> = {},
): object[] {
  const required = new Set((schema as { required?: string[] }).required ?? [])
  return Object.entries(schema.properties as Record<string, TSchema>).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || required.has(name),
    schema: property,
    ...(example[name] !== undefined && { example: readAs(property, example[name]) }),
    ...((property as { description?: string }).description !== undefined && {
      description: (property as { description?: string }).description,
    }),
    ...((property as { type?: string }).type === 'array' && { style: 'form', explode: false }),
  }))
}

/** What a text in an address says, by the schema of its parameter. */
function readAs(schema: TSchema, text: string): unknown {
  switch ((schema as { type?: string }).type) {
    case 'boolean':
      return text === '1' || text === 'true'
    case 'integer':
    case 'number':
      return Number(text)
    case 'array':
      return text.split(',')
    default:
      return text
  }
}

function actorHeader(operation: Operation, example: string | undefined): object {
  return {
    name: 'onBehalfOf',
    in: 'header',
    required: operation.onBehalfOf === 'required' && operation.access.user !== true,
    schema: { type: 'string' },
    ...(example !== undefined && { example }),
    description: 'uid of the acting user; sent with an API key',
  }
}

/** The schema of the usual request. */
export const bodyOf = ({ body, plain }: Operation): TSchema | undefined => plain?.body ?? body

/** The schema of the usual answer. */
export const answerOf = ({ answer, plain }: Operation): TSchema => plain?.answer ?? answer

export function isRequired(body: TSchema | undefined): boolean {
  const { required = [], minProperties = 0 } = (body ?? {}) as { required?: string[]; minProperties?: number }
  return required.length > 0 || minProperties > 0
}

/** A form of the same fields, with a file for the one that holds a text. */
function textFormOf(body: TSchema, field: string): object {
  const { properties } = body as { properties?: object }
  const file = { type: 'string', contentMediaType: 'text/csv', description: 'A file' }
  return { ...body, properties: { ...properties, [field]: file } }
}

/** The body as a form: objects and lists among its fields are JSON text, and any number of fields are files. */
function formOf(body: TSchema): object {
  return {
    ...body,
    additionalProperties: { type: 'string', contentMediaType: 'application/octet-stream', description: 'A file' },
  }
}
