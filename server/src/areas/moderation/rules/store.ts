import { predefinedRules, shippedAt } from '../../../chat/moderation/predefined.ts'
import { type RuleRow, type RuleText, ruleColumns } from '../../../chat/moderation/rules.ts'
import { createRevisionStore } from '../revisions.ts'

/** The rules of apps, with their revisions. */
export const ruleStore = createRevisionStore<RuleText, RuleRow>({
  table: 'moderation_rules',
  revisions: 'moderation_rule_revisions',
  of: 'rule_id',
  columns: ruleColumns,
  said: ['name', 'description', 'mode', 'filters', 'conditions', 'exceptions', 'actions'],
  valuesOf: ({ name, description, mode, filters, conditions, exceptions, actions }) => [
    ...[name, description, mode, JSON.stringify(filters), JSON.stringify(conditions)],
    ...[exceptions, actions],
  ],
  shippedIds: () => Object.keys(predefinedRules),
  shipped: (id) => {
    const text = Object.hasOwn(predefinedRules, id) ? predefinedRules[id] : undefined
    const times = { createdAt: shippedAt, updatedAt: shippedAt }
    return text && { id, revision: 1, predefined: true, active: true, ...times, ...text }
  },
})
