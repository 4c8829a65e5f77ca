import { limits } from '@parley/contract'
import { predefinedRules, shippedAt } from '../../../chat/moderation/predefined.ts'
import { type RuleRow, type RuleText, ruleColumns } from '../../../chat/moderation/rules.ts'
import { createRevisionStore } from '../revisions.ts'

/** Decisions, dry runs, and questions that wait for engines. */
const named = [
  `exists (
    select
    from moderation_decisions d
    where d.app_id = v.app_id
    and d.rule_id = v.rule_id
    and d.rule_revision = v.revision
  )`,
  `exists (
    select
    from moderation_dry_runs t
    where t.app_id = v.app_id
    and t.rule_id = v.rule_id
    and (t.definition -> 'rule' ->> 'revision')::int = v.revision
  )`,
  `exists (
    select
    from message_moderation k
    cross join lateral json_array_elements(k.questions) as q(question)
    where k.app_id = v.app_id
    and k.due_at is not null
    and q.question ->> 'ruleId' = v.rule_id
    and (q.question ->> 'ruleRevision')::int = v.revision
  )`,
]

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
  // As many as can be listed.
  kept: limits.moderationLimit.max,
  named,
  shippedIds: () => Object.keys(predefinedRules),
  shipped: (id) => {
    const text = Object.hasOwn(predefinedRules, id) ? predefinedRules[id] : undefined
    const times = { createdAt: shippedAt, updatedAt: shippedAt }
    return text && { id, revision: 1, predefined: true, active: true, ...times, ...text }
  },
})
