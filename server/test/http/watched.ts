import os from 'node:os'
import path from 'node:path'
import { ErrorBodySchema, errors, type Operation } from '@parley/contract'
import { Ajv, type ValidateFunction } from 'ajv'
import { Agent } from 'undici'
import { expect, inject } from 'vitest'
import { buildParley, type Parley } from '../../src/app.ts'
import type { Route } from '../../src/call.ts'
import { readConfig } from '../../src/config/index.ts'
import { codesOf } from '../../src/http/reference/openapi.ts'
import type { TlsMaterial } from '../../src/http/server.ts'
import { createLog } from '../../src/log.ts'
import { routes } from '../../src/routes.ts'
import type { ConnectionSettings } from '../../src/store/connection.ts'
import { databasePatienceMs, testMasterKey, testSettings } from '../support/service.ts'
import type { Answer } from '../support/world.ts'

export interface Service {
  readonly parley: Parley
  readonly url: string
  /** Every line of the log, as written. */
  readonly lines: string[]
}

export interface ServiceOptions {
  readonly environment?: Record<string, string>
  readonly routes?: readonly Route[]
  readonly connection?: ConnectionSettings
  readonly tls?: TlsMaterial
  readonly databasePatienceMs?: number
}

/** A service of one's own on the test database, whose log and routes the test can look at. */
export async function startParley(options: ServiceOptions = {}): Promise<Service> {
  const config = readConfig({ ...testSettings, ...options.environment })
  const lines: string[] = []
  const parley = await buildParley({
    config,
    log: createLog(config.logLevel, { write: (line) => void lines.push(line) }),
    connection: options.connection ?? inject('connection'),
    masterKey: testMasterKey,
    mediaDir: path.join(os.tmpdir(), `parley-test-media-${process.pid}`),
    tls: options.tls,
    passwordCost: 0,
    databasePatienceMs: options.databasePatienceMs ?? databasePatienceMs,
    ...(options.routes && { routes: options.routes }),
  })
  await parley.context.apps.ensure(config.appId, config.region)
  const url = await parley.http.listen({ host: config.host, port: 0 })
  return { parley, url, lines }
}

/** The declared answer, and no member beside what is declared. */
const ajv = new Ajv({ strict: false, allErrors: true })

/**
 * The registered routes, with handlers that hold their answers against the declaration before they are serialised (the
 * serialiser drops what is not declared, so that it would be lost without a word). What they gave is in `answers`, what
 * is wrong with it in `flaws`.
 */
export function watchAnswers(): { routes: readonly Route[]; answers: unknown[]; flaws: string[] } {
  const answers: unknown[] = []
  const flaws: string[] = []
  const watched = routes.map((route): Route => {
    const { operation, handle, options } = route
    let validate: ValidateFunction | undefined
    const watch = <Answer>(answer: Answer): Answer => {
      validate ??= ajv.compile(closed(operation.answer) as object)
      const wire = JSON.parse(JSON.stringify(answer))
      answers.push(wire)
      if (!validate(wire)) {
        flaws.push(`${operation.id}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(wire).slice(0, 2000)}`)
      }
      return answer
    }
    const watchedOptions: Route['options'] = {
      ...options,
      ...(options.shortcut !== undefined && {
        shortcut: async (call, context) => {
          const answer = await options.shortcut?.(call, context)
          return answer && watch(answer)
        },
      }),
    }
    return { ...route, options: watchedOptions, handle: async (call, context) => watch(await handle(call, context)) }
  })
  return { routes: watched, answers, flaws }
}

/** What is wrong with a value by a schema; the empty text if nothing is. */
export function flawsIn(value: unknown, schema: unknown): string {
  return ajv.validate(schema as object, value) ? '' : ajv.errorsText()
}

/** The same schema, with objects that have just the declared members. */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  return 'properties' in copy && copy.additionalProperties === undefined
    ? { ...copy, additionalProperties: false }
    : copy
}

const isErrorBody = ajv.compile(closed(ErrorBodySchema) as object)

/** Statuses that `ERR_BAD_REQUEST` may have beside its own. */
const statusesOfTransport = [408, 413, 415, 431]

/**
 * Is this an answer that a client can work with: a success, or a refusal in the contract's shape with a code that the
 * operation declares, and no 500?
 */
export function expectContractAnswer(answer: Answer, operation?: Operation): void {
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{12}-[0-9a-z]+$/)
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
  if (answer.status === 200) return
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(500)
  expect(isErrorBody(answer.body), `${answer.status} ${JSON.stringify(answer.body)}`).toBe(true)
  const { code, message } = answer.body.error as { code: keyof typeof errors; message: string }
  expect(errors[code]?.message).toBe(message)
  if (!(code === 'ERR_BAD_REQUEST' && statusesOfTransport.includes(answer.status))) {
    expect(answer.status).toBe(errors[code].status)
  }
  if (operation !== undefined) expect(codesOf(operation), operation.id).toContain(code)
}

/** The path of an operation below `/v3` with its parameters filled in. */
export function pathOf(operation: Operation, params: Record<string, string> = {}): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new Error(`the sample of ${operation.id} has no ${name}`)
    return encodeURIComponent(value)
  })
}

export function queryOf(query: Record<string, string> = {}): string {
  const text = new URLSearchParams(query).toString()
  return text === '' ? '' : `?${text}`
}

const agent = new Agent({ connections: 32, connect: { rejectUnauthorized: false } })

/** One request to any address, with just these headers and this body; certificates are not checked. */
export async function ask(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Answer> {
  const { method = 'GET', headers = {}, body } = options
  // Apart, so that the path is sent as it is.
  const [, origin = '', path = '/'] = /^(https?:\/\/[^/]+)(.*)$/s.exec(url) ?? []
  const answer = await agent.request({
    origin,
    path: path || '/',
    method: method as 'GET',
    headers,
    body: body ?? null,
  })
  const raw = await answer.body.text()
  const json = String(answer.headers['content-type'] ?? '').includes('json') && raw !== ''
  return { status: answer.statusCode, headers: answer.headers, body: json ? JSON.parse(raw) : raw }
}

/** Runs work on many items, some at a time. */
export async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < items.length) await work(items[next++] as Item)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}
