import { sql } from 'kysely'
import type { Queryable } from '../store/database.ts'
import type { Fragment } from '../store/statement.ts'
import { type Check, checks } from './checks.ts'

/** Where a derived figure differs from what it is derived from. */
export interface Drift {
  readonly check: string
  readonly meaning: string
  /** How many there are in all. */
  readonly count: number
  /** The first of them. */
  readonly examples: ReadonlyArray<{ subject: string; stored: string | null; expected: string | null }>
}

const maxExamples = 10

type DriftRow = Drift['examples'][number] & { total: number }

/**
 * Recomputes every derived figure and compares. Reads only; on a large database it reads much.
 * @param appId one app, or null for all
 * @returns what has drifted; nothing where all is well
 */
export async function findDrift(on: Queryable, appId: number | null): Promise<Drift[]> {
  const found: Drift[] = []
  for (const check of checks) {
    const drift = await findDriftOf(on, check, appId)
    if (drift !== undefined) found.push(drift)
  }
  return found
}

/** The same for one check. @returns undefined where nothing has drifted */
export async function findDriftOf(
  on: Pick<Queryable, 'run'>,
  { name, meaning, find }: Check,
  appId: number | null,
): Promise<Drift | undefined> {
  const rows = await on.run<DriftRow>(
    sql`select d.*, count(*) over () as total from (${find(appId)}) d limit ${maxExamples}` as Fragment<DriftRow>,
  )
  const [first] = rows
  if (first === undefined) return undefined
  const examples = rows.map(({ subject, stored, expected }) => ({ subject, stored, expected }))
  return { check: name, meaning, count: first.total, examples }
}
