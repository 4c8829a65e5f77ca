import { sql } from 'kysely'
import type { Fragment } from './statement.ts'

/**
 * An app in a composed query: `app_id = ${appKey(appId)}`, never the number itself. Given the number, the planner looks it
 * up in its statistics. An app that is younger than they are, or small beside others, is not in them and passes for empty:
 * each index then seems as good as any other, look-ups by key read the whole app, and joins multiply. Said so, the planner
 * does not know which app is meant, and reckons with one of average size.
 */
export function appKey(appId: number): Fragment {
  return sql`(select ${appId}::int)`
}
