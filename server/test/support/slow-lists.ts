import { request } from 'node:http'
import { sql } from 'kysely'
import type { Route } from '../../src/call.ts'
import { routes } from '../../src/routes.ts'
import { statement } from '../../src/store/statement.ts'
import type { World } from './world.ts'

/** The registered routes; lists of users that are asked for as `slowList` says take that many seconds in the database. */
export const slowRoutes: readonly Route[] = routes.map((route) => ({
  ...route,
  handle: async (call: Parameters<typeof route.handle>[0], context: Parameters<typeof route.handle>[1]) => {
    const [, seconds] = /^slow-(.+)$/.exec(String((call.query as { searchKey?: string }).searchKey)) ?? []
    if (seconds !== undefined) await context.database.run(sql`select pg_sleep(${Number(seconds)})`)
    return route.handle(call, context)
  },
}))

export const slowList = (seconds: number) => `/users?searchKey=slow-${seconds}`

const selectRunning = statement(`
  select count(*)::int as running
  from pg_stat_activity
  where datname = current_database()
  and state = 'active'
  and query like '%pg_sleep%'
  and pid <> pg_backend_pid()`)

/** How many slow lists the database of a world is working on. */
export async function countSlowLists(world: World): Promise<number> {
  const [row] = await world.context.database.query<{ running: number }>(selectRunning)
  return row?.running ?? 0
}

/** Asks for something, with these headers beside the app's name, and goes away when told to. */
export function visit(world: World, path: string, credential: Record<string, string>): { leave(): void } {
  const headers = { appid: world.app.name, ...credential }
  const visiting = request(`${world.url}/v3${path}`, { headers, agent: false })
  visiting.on('error', () => {})
  visiting.end()
  return { leave: () => visiting.destroy() }
}
