import type { Operation } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/routes.ts'
import type { World } from '../support/world.ts'
import { createCopier } from './copies.ts'
import type { Furnished } from './in-order.ts'
import { chatAreas } from './refusals.ts'
import { answerToSample } from './sample-call.ts'
import { furnishChat } from './samples.ts'
import { type Service, startParley, watchAnswers } from './watched.ts'

const operations = routes.map((route) => route.operation).filter(({ area }) => chatAreas.includes(area))

const watch = watchAnswers()
let service: Service
let copy: () => Promise<Furnished>
/** What only reads leaves the world as it is for the next. */
let shared: Furnished

beforeAll(async () => {
  service = await startParley({ routes: watch.routes })
  copy = createCopier(furnishChat, service)
  shared = await copy()
})
afterAll(() => service.parley.close())

async function answerOf(operation: Operation): Promise<unknown> {
  const furnished = operation.method === 'GET' ? shared : await copy()
  const { body } = await answerToSample(operation, furnished, watch)
  return withoutChance(body, furnished.world, idsIn(body, Object.values(furnished.ids)))
}

/** Rows of a list that are looked at; definitions of permissions have tests of their own. */
const mostRows = 8

/** Every id of a message or reaction in an answer, and of those that the call named. */
function idsIn(value: unknown, found: string[], name = ''): string[] {
  if (typeof value === 'string' && /(^id|Id)$/.test(name)) found.push(value)
  if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) idsIn(inner, found, key)
  }
  return found.filter((id) => /^[0-9]+$/.test(id))
}

/** An answer with names in place of what is other each time: times, ids of messages, tokens, keys, signatures, hosts. */
function withoutChance(value: unknown, world: World, ids: readonly string[]): unknown {
  const text = (sent: string) =>
    [...ids, world.app.name, new URL(world.url).host, new URL(world.url).port]
      .reduce(
        // Not the bounds of a repetition in a pattern, such as {1,64}.
        (said, chance) =>
          said.replaceAll(new RegExp(`(?<![\\w.{-]|,(?=\\d+\\}))${chance}(?![\\w-]|[.,]\\d)`, 'g'), '<chance>'),
        sent,
      )
      .replaceAll(`${world.app.name}_`, '<chance>_')
      .replaceAll(/_[0-9]{10}[0-9a-f]{30}/g, '_<token>')
      .replaceAll(/\b[0-9a-f]{24,64}\b/g, '<hex>')
      .replaceAll(/\bexpires=[0-9]+/g, 'expires=<time>')
      .replaceAll(/\bsignature=[\w-]+/g, 'signature=<signature>')
  const walk = (inner: unknown, name = ''): unknown => {
    if (typeof inner === 'number' && /(At|^sentAt|^settingsHashReceivedAt|^from|^to|^until)$/.test(name))
      return '<time>'
    if (typeof inner === 'number' && /Age$/.test(name)) return '<age>'
    if (typeof inner === 'string' && /^[0-9]{10}(\.[0-9]{15})?$/.test(inner) && /At$/.test(name)) return '<time>'
    // A place in the log of events, which all apps share.
    if (typeof inner === 'string' && /^[0-9]+$/.test(inner) && name === 'after') return '<place>'
    if (typeof inner === 'string') return /Count$/.test(name) ? inner : name === 'settingsHash' ? '<hash>' : text(inner)
    if (Array.isArray(inner)) {
      const shown = inner.slice(0, mostRows).map((item) => walk(item))
      return inner.length > mostRows ? [...shown, `and ${inner.length - mostRows} more`] : shown
    }
    if (typeof inner !== 'object' || inner === null) return inner
    return Object.fromEntries(Object.entries(inner).map(([key, member]) => [text(key), walk(member, key)]))
  }
  return walk(value)
}

/** JSON in few lines: what fits on one stands on one. */
function print(value: unknown, indent = ''): string {
  const line = JSON.stringify(value)
  if (line.length + indent.length <= 116 || typeof value !== 'object' || value === null) return line
  const isList = Array.isArray(value)
  const inner = Object.entries(value).map(([name, member]) => {
    const shown = print(member, `${indent}  `)
    return `${indent}  ${isList ? '' : `${JSON.stringify(name)}: `}${shown}`
  })
  return `${isList ? '[' : '{'}\n${inner.join(',\n')}\n${indent}${isList ? ']' : '}'}`
}

/**
 * Kept in `__snapshots__`, to be read beside the contract when they change: `npx vitest run server/test/http/answers.test.ts -u`.
 */
describe('the answer to the sample call, to the field:', () => {
  it.each(operations.map((operation) => [operation.id, operation] as const))('%s', async (_, operation) => {
    expect(print(await answerOf(operation))).toMatchSnapshot()
  })
})
