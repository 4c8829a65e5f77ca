import { sql } from 'kysely'
import pg from 'pg'
import type { Route } from '../../src/call.ts'
import type { Context } from '../../src/context.ts'
import { routes } from '../../src/routes.ts'
import { textArray } from '../../src/store/arrays.ts'
import type { Queryable } from '../../src/store/database.ts'
import { compileFragment, type Fragment } from '../../src/store/statement.ts'

/** A query as the service has run it. */
export interface SeenQuery {
  readonly text: string
  readonly values: unknown[]
  /** Absent for a fixed statement, which has one plan that fits all parameters. */
  readonly composed?: {
    readonly fragment: Fragment
    /** Where it was asked: connections with settings of their own. */
    readonly on: Queryable
  }
}

/** The registered routes, whose handlers ask a database that notes what it is asked, in `seen`. */
export function watchQueries(): { routes: readonly Route[]; seen: SeenQuery[] } {
  const seen: SeenQuery[] = []
  const watch = (context: Context): Context => {
    const { database, search } = context
    return {
      ...context,
      database: { ...database, ...noting(database, seen) },
      search: { ...search, reader: () => noting(search.reader(database), seen) },
    }
  }
  return {
    seen,
    routes: routes.map(({ operation, handle, options }) => ({
      operation,
      handle: (call, context) => handle(call, watch(context)),
      options: {
        ...options,
        ...(options.shortcut !== undefined && {
          shortcut: async (call, context) => options.shortcut?.(call, watch(context)),
        }),
      },
    })),
  }
}

/** The same database; what it is asked is added to `seen`. */
export function noting(on: Queryable, seen: SeenQuery[]): Queryable {
  return {
    query(asked, values = []) {
      seen.push({ text: asked.text, values })
      return on.query(asked, values)
    },
    run(fragment) {
      const { text, values } = compileFragment(fragment)
      seen.push({ text, values, composed: { fragment, on } })
      return on.run(fragment)
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

export type Explained = ReadonlyArray<{ 'QUERY PLAN': ReadonlyArray<{ Plan: PlanNode }> }>

/** Tells how queries read their tables. */
export interface Explainer {
  /** Runs a query as the service did: a composed one where it was asked, a fixed one with the plan that fits all parameters. */
  explain(query: SeenQuery): Promise<readonly TableRead[]>
}

/**
 * Explains queries on data that do not change: a fixed one with the same values is run once, since what many lists ask
 * first is the same.
 * @param planner one of the service's connections, which nobody else uses
 */
export function createExplainer(planner: pg.Client): Explainer {
  const known = new Map<string, readonly TableRead[]>()
  return {
    async explain(query) {
      const { composed, text, values } = query
      if (composed !== undefined) {
        return readsIn(await composed.on.run(sql<Explained[number]>`${sql.raw(explainIt)} ${composed.fragment}`))
      }
      const key = JSON.stringify([text, values])
      const reads = known.get(key) ?? readsIn(await explainFixed(query, planner))
      known.set(key, reads)
      return reads
    },
  }
}

/** How the plans in an answer of `explain (analyze, format json)` read their tables. */
export function readsIn(explained: Explained): TableRead[] {
  return explained.flatMap((row) => row['QUERY PLAN'].flatMap(({ Plan }) => readsOf(Plan)))
}

export const explainIt = 'explain (analyze, timing off, format json)'

async function explainFixed({ text, values }: SeenQuery, planner: pg.Client): Promise<Explained> {
  await planner.query('set plan_cache_mode = force_generic_plan')
  await planner.query(`prepare seen as ${text}`)
  try {
    const parameters = values.length === 0 ? '' : `(${values.map(literalOf).join(', ')})`
    return (await planner.query(`${explainIt} execute seen${parameters}`)).rows as Explained
  } finally {
    await planner.query('deallocate seen')
  }
}

/** A parameter as text, as `execute` takes it. */
export function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value))
    return pg.escapeLiteral(textArray(value.map((item) => (item === null ? null : String(item)))))
  return pg.escapeLiteral(String(value))
}

function readsOf(node: PlanNode): TableRead[] {
  const inner = (node.Plans ?? []).flatMap(readsOf)
  const table = node['Relation Name'] ?? node['Index Name']
  if (table === undefined) return inner
  const looked =
    (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return [{ table, way: node['Node Type'], rows: Math.round(looked * (node['Actual Loops'] ?? 0)) }, ...inner]
}
