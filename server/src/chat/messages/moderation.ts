import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { ModerationStatus } from '../moderation/model.ts'
import { statusOfTraits } from '../moderation/verdict.ts'
import type { AddingFeature, Addition } from './additions.ts'
import type { MessageRow } from './rows.ts'
import { traits } from './traits.ts'

interface Details {
  readonly id: number
  readonly ruleId: string | null
  readonly ruleName: string | null
  readonly heldFrom: number | null
}

const selectDetails = statement(`
  select message as id, rule_id as "ruleId", rule_name as "ruleName", held_from as "heldFrom"
  from message_moderation
  where app_id = $1
  and message = any($2::bigint[])`)

/**
 * Adds `data.moderation` to messages that rules were asked about: its `status`, the `rule` of one that is disapproved, and of
 * one that was released when it was sent first (`heldFrom`). The bits say all of it of nearly all messages.
 */
export const moderationOfMessages: AddingFeature = { bits: traits.moderated, read: readModerationOf }

async function readModerationOf(
  on: Queryable,
  appId: number,
  rows: readonly MessageRow[],
): Promise<Map<number, Addition>> {
  const detailed = rows.filter((row) => (row.traits & (traits.disapproved | traits.released)) !== 0)
  const details =
    detailed.length === 0 ? [] : await on.query<Details>(selectDetails, [appId, detailed.map(({ id }) => id)])
  const known = new Map(details.map((row) => [row.id, row]))
  return new Map(
    rows.flatMap((row) => {
      const status = statusOfTraits(row.traits)
      return status === undefined ? [] : [[row.id, showModeration(status, known.get(row.id))]]
    }),
  )
}

/** What answers tell of where moderation stands with a message. */
export function showModeration(
  status: ModerationStatus,
  { ruleId, ruleName, heldFrom }: Partial<Omit<Details, 'id'>> = {},
): Addition {
  const rule = status === 'disapproved' && ruleId != null ? { rule: { id: ruleId, name: ruleName } } : {}
  const held = status === 'approved' && heldFrom != null ? { heldFrom } : {}
  return { data: { moderation: { status, ...rule, ...held } } }
}
