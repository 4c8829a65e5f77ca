import type { Goal } from '../goals.ts'
import type { Figures } from '../measure.ts'
import { renderFailures, renderGoals, renderTable } from '../table.ts'
import { answerers, type MeasuredPage } from './pages.ts'

/** What a page is to reach of the slower of the plain query and bare Fastify, and of bare `node:http`. */
const pageGoals = { slower: 1 / 2, http: 1 / 16 }
const conversationGoals = { slower: 1 / 3, http: 1 / 30 }

/** All that was measured, and then how far the service is from its limits. */
export function renderReads(pages: readonly MeasuredPage[], rows: readonly Figures[]): string {
  const find = (id: string) => rows.find((row) => row.id === id) as Figures
  return [
    ...renderTable(
      ['row', 'connections', 'items', 'bytes', 'per second', 'p50 ms', 'p99 ms', 'service us', 'PostgreSQL us'],
      pages.flatMap((page) => Object.values(answerers).map((ending) => renderRow(page, find(page.id + ending)))),
    ),
    '',
    ...renderFailures(rows),
    ...renderGoals(pages.flatMap((page) => judge(page, find))),
  ].join('\n')
}

const round = (value: number) => Math.round(value).toLocaleString('en')

function renderRow({ connections, items, bytes }: MeasuredPage, row: Figures): string[] {
  return [
    row.id,
    String(connections),
    items.toFixed(1),
    round(bytes),
    round(row.perSecond),
    row.p50.toFixed(1),
    row.p99.toFixed(1),
    row.cpuEach?.service.toFixed(0) ?? '',
    row.cpuEach?.postgres.toFixed(0) ?? '',
  ]
}

function judge({ id, kind }: MeasuredPage, find: (id: string) => Figures): Goal[] {
  const goals = kind === 'conversations' ? conversationGoals : pageGoals
  const [service, sql, fastify, http] = Object.values(answerers).map((ending) => find(id + ending).perSecond) as [
    number,
    number,
    number,
    number,
  ]
  const beside = (limit: number, name: string, least: number): Goal => ({
    name: `${id} to ${name}`,
    goal: `at least 1/${Math.round(1 / least)}`,
    reached: `1/${(limit / service).toFixed(1)}`,
    met: service >= limit * least,
  })
  return [
    beside(Math.min(sql, fastify), `the slower: ${sql < fastify ? 'a plain query' : 'bare Fastify'}`, goals.slower),
    beside(http, 'bare node:http', goals.http),
  ]
}
