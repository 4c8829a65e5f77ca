import type { Queryable } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'

const update = statement(`
  update moderation_dry_run_examples
  set is_right = $4,
    labelled_at = $5
  where app_id = $1
  and rule_id = $2
  and message = $3
  returning message`)

export type Label = 'right' | 'wrong'

/** Says of a hit whether it is one. @returns false where it is not among the examples of the rule */
export async function labelHit(
  on: Queryable,
  appId: number,
  ruleId: string,
  message: number,
  label: Label | null,
): Promise<boolean> {
  const isRight = label === null ? null : label === 'right'
  const rows = await on.query(update, [appId, ruleId, message, isRight, Math.floor(Date.now() / 1000)])
  return rows.length > 0
}
