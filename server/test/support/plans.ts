import type pg from 'pg'
import type { Route } from '../../src/call.ts'
import type { Context } from '../../src/context.ts'
import { routes } from '../../src/routes.ts'
import type { Database } from '../../src/store/database.ts'
import { compileFragment, statement } from '../../src/store/statement.ts'

/** A query as the service has run it. */
export interface SeenQuery {
  readonly text: string
  readonly values: unknown[]
  /** Under a name: after some times it may get a plan that fits all parameters. */
  readonly named: boolean
}

/** The registered routes, whose handlers ask a database that notes what it is asked, in `seen`. */
export function watchQueries(): { routes: readonly Route[]; seen: SeenQuery[] } {
  const seen: SeenQuery[] = []
  let watched: Context | undefined
  return {
    seen,
    routes: routes.map((route) => ({
      ...route,
      handle: (call, context) => {
        watched ??= { ...context, database: noting(context.database, seen) }
        return route.handle(call, watched)
      },
    })),
  }
}

function noting(database: Database, seen: SeenQuery[]): Database {
  return {
    ...database,
    query(asked, values = []) {
      seen.push({ text: asked.text, values, named: true })
      return database.query(asked, values)
    },
    run(fragment) {
      seen.push({ ...compileFragment(fragment), named: false })
      return database.run(fragment)
    },
  }
}

/** How a plan reads one table. */
export interface TableRead {
  readonly table: string
  readonly way: string
  /** Rows or index entries looked at, those that were then left out too. */
  readonly rows: number
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly PlanNode[]
}

type Explained = ReadonlyArray<{ 'QUERY PLAN': ReadonlyArray<{ Plan: PlanNode }> }>

/** Runs a query as the service does, on one of its connections, and tells how it read its tables. */
export async function explain(database: Database, { text, values }: SeenQuery): Promise<TableRead[]> {
  const explained = statement(`explain (analyze, timing off, format json) ${text}`)
  const rows = (await database.query(explained, values)) as Explained
  return rows.flatMap((row) => row['QUERY PLAN'].flatMap(({ Plan }) => readsOf(Plan)))
}

/**
 * The plan that fits all parameters, not run: no rows are told.
 * @param client one of the service's connections, which nobody else uses
 */
export async function explainGeneric(client: pg.Client, { text }: SeenQuery): Promise<TableRead[]> {
  const { rows } = await client.query(`explain (generic_plan, format json) ${text}`)
  return (rows as Explained).flatMap((row) => row['QUERY PLAN'].flatMap(({ Plan }) => readsOf(Plan)))
}

function readsOf(node: PlanNode): TableRead[] {
  const inner = (node.Plans ?? []).flatMap(readsOf)
  const table = node['Relation Name'] ?? node['Index Name']
  if (table === undefined) return inner
  const looked =
    (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return [{ table, way: node['Node Type'], rows: Math.round(looked * (node['Actual Loops'] ?? 0)) }, ...inner]
}
