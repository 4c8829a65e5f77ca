import type { KeptAnswer } from '../bare/answers.ts'
import { startBareServer } from '../bare/start.ts'
import { type Bench, repeat } from '../bench.ts'
import type { AtEnd } from '../cleanup.ts'
import { repeatSql } from '../load/sql.ts'
import type { Scenario } from '../measure.ts'
import { progress } from '../progress.ts'
import { fetchBody } from '../requests.ts'
import { deal, dealRequests, type PageKind, type PageRequest } from '../scenarios/reads.ts'
import { type Item, type PlainPage, plainPages } from './plain-pages.ts'

/** Who answers a page, and the ending of its rows' ids. */
export const answerers = { service: '', sql: '-sql', fastify: '-fastify', http: '-http' } as const

/** One kind of page at one number of connections. */
export interface MeasuredPage {
  /** The id of the row of the service; the bare limits have the endings of `answerers`. */
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly connections: number
  /** Means of the answers. */
  readonly items: number
  readonly bytes: number
  readonly scenarios: readonly Scenario[]
}

interface PagesOptions {
  readonly connections: readonly number[]
  /** Connections for the plain query; 0: one for each request at once. */
  readonly pipelines: number
}

/** Asks the service for every page once, gives its answers to the bare servers, and checks that the plain query has the same. */
export async function preparePages(
  bench: Bench,
  atEnd: AtEnd,
  kinds: readonly PageKind[],
  { connections, pipelines }: PagesOptions,
): Promise<MeasuredPage[]> {
  const pages: MeasuredPage[] = []
  for (const { id: kind, name, requests: list } of kinds) {
    progress(`asking for each page once: ${name}`)
    const requests = await list()
    const answers = await readAnswers(bench, requests)
    const plain = plainPages[kind] as PlainPage
    const items = await checkPlain(bench, plain, requests, answers)
    const bytes = answers.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)
    const fastify = await startBareServer('fastify-pages', answers)
    atEnd(fastify.stop)
    const http = await startBareServer('http-pages', answers)
    atEnd(http.stop)
    for (const { port } of [fastify, http]) await checkBare(bench, port, answers[0] as KeptAnswer)
    for (const count of connections) {
      const id = `${kind}-${count}`
      const values = deal(
        requests.map((page) => plain.values(page)),
        count,
      )
      const ask = (port: number) => () => repeat(bench, port, dealRequests(bench, requests, count))
      const scenarios: Scenario[] = [
        { id, name: `${id}, the service`, run: ask(bench.service.port) },
        {
          id: id + answerers.sql,
          name: `${id}, a plain query`,
          run: () => repeatSql(bench, plain, values, { pipelines }),
        },
        { id: id + answerers.fastify, name: `${id}, bare Fastify`, run: ask(fastify.port) },
        { id: id + answerers.http, name: `${id}, bare node:http`, run: ask(http.port) },
      ]
      const each = { items: items / answers.length, bytes: bytes / answers.length }
      pages.push({ id, kind, name, connections: count, ...each, scenarios })
    }
  }
  return pages
}

async function readAnswers({ service }: Bench, requests: readonly PageRequest[]): Promise<KeptAnswer[]> {
  const answers: KeptAnswer[] = []
  for (const { as, url } of requests) {
    answers.push({ as, url, body: await fetchBody(service.port, 'GET', url, { apiKey: service.apiKey, as }) })
  }
  return answers
}

/** Makes sure that a bare server answers the same bytes. */
async function checkBare({ service: { apiKey } }: Bench, port: number, { as, url, body }: KeptAnswer): Promise<void> {
  if ((await fetchBody(port, 'GET', url, { apiKey, as })) !== body)
    throw new Error(`a bare server answers ${url} otherwise`)
}

/**
 * Makes sure that the plain query finds what the service answers: a limit that does something else is none.
 * @returns how many items all pages have together
 */
async function checkPlain(
  { database }: Bench,
  plain: PlainPage,
  requests: readonly PageRequest[],
  answers: readonly KeptAnswer[],
): Promise<number> {
  let count = 0
  for (const [i, page] of requests.entries()) {
    const { data } = JSON.parse(answers[i]?.body ?? '') as { data: Item[] }
    const { rows } = await database.query({ text: plain.text, values: plain.values(page) })
    const [expected, found] = [data.map(plain.ofItem).sort(), rows.map(plain.ofRow).sort()]
    if (expected.join() !== found.join()) {
      throw new Error(
        `The plain query does not have what the service answers to ${page.as} ${page.url}:\n${found}\n${expected}`,
      )
    }
    count += data.length
  }
  return count
}
