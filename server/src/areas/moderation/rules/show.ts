import type { ModerationRule } from '@parley/contract'
import type { App } from '../../../chat/identity.ts'
import type { RuleRow } from '../../../chat/moderation/rules.ts'
import { revisionId } from '../revision-id.ts'

/** A revision of a rule in a response. */
export function showRule(app: App, row: RuleRow): ModerationRule {
  return {
    id: row.id,
    name: row.name,
    ...(row.description !== null && { description: row.description }),
    enabled: row.mode === 'on',
    mode: row.mode,
    ...(row.filters.length > 0 && { filters: [...row.filters] }),
    conditions: [...row.conditions],
    ...(row.exceptions.length > 0 && { exceptions: [...row.exceptions] }),
    action: [...row.actions],
    active: row.active,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    revisionId: revisionId(app, row),
    ...(row.predefined && { default: true }),
  }
}
