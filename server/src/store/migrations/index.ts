import type { Migration } from 'kysely'
import * as foundation from './0001-foundation.ts'

/** In the order of their names. Each must be repeatable: `if not exists`, since a later version may be half applied. */
export const migrations: Record<string, Migration> = {
  '0001-foundation': foundation,
}
