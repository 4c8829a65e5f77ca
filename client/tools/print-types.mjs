/**
 * Prints `client/src/contract.ts` out of the declarations of the contract: plain interfaces, which name no schema library.
 * `npm run client:types` writes the file; a test says when it is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as contract from '@parley/contract'

const file = join(import.meta.dirname, '../src/contract.ts')

/** @returns the text of `client/src/contract.ts` */
export function print() {
  const operations = Object.values(contract).filter(
    (value) => typeof value === 'object' && value !== null && 'answer' in value && 'path' in value,
  )
  const calls = callsOf(operations.filter((operation) => 'onBehalfOf' in operation))
  const adminCalls = callsOf(operations.filter((operation) => !('onBehalfOf' in operation)))
  const codes = Object.keys(contract.errors).map((code) => `\n  | '${code}'`)
  const interfaces = [...used.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text]) => `export interface ${name} ${text}\n`)
  return [
    '// Printed from the declarations of the contract by `npm run client:types`: not to be edited.\n',
    ...interfaces,
    `/** What an error can say is wrong. */\nexport type ErrorCode =${codes.join('')}\n`,
    `/**
 * Every operation, by method and path: what goes in, members of path, query and body side by side, and what is answered.
 * Names behind a question mark are sent in the query of an operation that has a body.
 */
export interface Calls {
${calls}}
`,
    `/** Every operation of the admin API, besides those of the contract that it has for each app. */
export interface AdminCalls {
${adminCalls}}
`,
  ].join('\n')
}

function callsOf(operations) {
  const sorted = operations.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const calls = sorted.map(
    (operation) => `${comment(describe(operation), 1)}  '${keyOf(operation)}': {
    input: ${typeOf(inputOf(operation), 2)}
    answer: ${typeOf(operation.plain?.answer ?? operation.answer, 2)}
  }
`,
  )
  return calls.join('')
}

/** `GET /users/{uid}`. Ids of messages are called so, since members of query and body are called `id`, too. */
export function keyOf({ method, path, query, body }) {
  const names = Object.keys(query.properties ?? {})
  const shown = names.length > 0 && method !== 'GET' ? `?${names.join(',')}` : ''
  if (method === 'GET' && body !== undefined) throw new Error(`${path}: a GET with a body`)
  return `${method} ${path.replace(/^(\/moderation)?\/messages\/\{id\}/, '$1/messages/{messageId}')}${shown}`
}

function inputOf({ params, path, query, body, plain }) {
  const inPath = Object.keys(params.properties ?? {}).map((name) =>
    name === 'id' && path.includes('/messages/{id}')
      ? ['messageId', params.properties.id]
      : [name, params.properties[name]],
  )
  const content = plain?.body ?? body
  return {
    type: 'object',
    properties: Object.fromEntries([
      ...inPath,
      ...Object.entries(query.properties ?? {}),
      ...Object.entries(content?.properties ?? {}),
    ]),
    required: [...inPath.map(([name]) => name), ...(query.required ?? []), ...(content?.required ?? [])],
  }
}

function describe({ summary, description }) {
  return description === undefined ? `${summary}.` : `${summary}. ${description}`
}

/** The schemas that the contract exports, by their text: what is written alike is the same thing. */
const names = new Map()
for (const [name, schema] of Object.entries(contract)) {
  const isObject = schema?.type === 'object' && Object.keys(schema.properties ?? {}).length > 0
  if (!isObject || /(Params|Query|Body|Schema|In)$/.test(name)) continue
  const text = JSON.stringify(schema)
  if (!names.has(text)) names.set(text, name)
}

/** What is printed of the schemas that have names. */
const used = new Map()

function typeOf(schema, depth) {
  const name = names.get(JSON.stringify(schema))
  if (name === undefined) return inlineTypeOf(schema, depth)
  if (!used.has(name)) {
    used.set(name, '')
    used.set(name, inlineTypeOf(schema, 0))
  }
  return name
}

function inlineTypeOf(schema, depth) {
  if (schema.enum !== undefined) return schema.enum.map((value) => literal(value)).join(' | ')
  if ('const' in schema) return literal(schema.const)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return [...new Set(choices.map((choice) => typeOf(choice, depth)))].join(' | ')
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => inlineTypeOf({ ...schema, type }, depth)).join(' | ')
  }
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'null':
      return schema.type
    case 'integer':
      return 'number'
    case 'array': {
      const item = typeOf(schema.items ?? {}, depth)
      return item.includes(' | ') ? `(${item})[]` : `${item}[]`
    }
    case 'object':
      return objectType(schema, depth)
    case undefined:
      return 'unknown'
    default:
      throw new Error(`cannot print ${JSON.stringify(schema)}`)
  }
}

function objectType(schema, depth) {
  const members = Object.entries(schema.properties ?? {})
  if (members.length === 0) {
    const { additionalProperties: others } = schema
    const values = Object.values(schema.patternProperties ?? {})[0] ?? (typeof others === 'object' ? others : undefined)
    if (values !== undefined) return `Record<string, ${typeOf(values, depth)}>`
    return others === true ? 'Record<string, unknown>' : 'object'
  }
  const inside = '  '.repeat(depth + 1)
  const required = new Set(schema.required ?? [])
  const lines = members.map(([name, member]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`
    const said = member.description === undefined ? '' : comment(member.description, depth + 1)
    return `${said}${inside}${key}${required.has(name) ? '' : '?'}: ${typeOf(member, depth + 1)}\n`
  })
  if (schema.additionalProperties === true) lines.push(`${inside}[other: string]: unknown\n`)
  return `{\n${lines.join('')}${'  '.repeat(depth)}}`
}

function literal(value) {
  return typeof value === 'string' ? `'${value}'` : String(value)
}

function comment(text, depth) {
  return `${'  '.repeat(depth)}/** ${text.replaceAll('*/', '*\\/')} */\n`
}

if (process.argv[1] === import.meta.filename) {
  const text = print()
  if (text !== readFileSync(file, { encoding: 'utf8', flag: 'a+' })) writeFileSync(file, text)
}
