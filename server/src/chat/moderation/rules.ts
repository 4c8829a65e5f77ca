import type { RuleCondition, RuleFilter } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { Condition, ConditionCategory, Filter, RuleMode, RuleRevision } from './model.ts'

/** What a rule says: the content of a revision. */
export interface RuleText {
  readonly name: string
  readonly description: string | null
  readonly mode: RuleMode
  /** As they are answered. */
  readonly filters: readonly RuleFilter[]
  /** As they are answered. */
  readonly conditions: readonly RuleCondition[]
  readonly exceptions: readonly string[]
  readonly actions: readonly string[]
}

/** One revision of a rule, as it is kept. */
export interface RuleRow extends RuleText {
  readonly id: string
  /** Counts from 1. */
  readonly revision: number
  readonly predefined: boolean
  /** It is the current one. */
  readonly active: boolean
  /** Epoch seconds. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** Columns of `RuleRow`, of revisions `v` and their rules `r`. */
export const ruleColumns = `r.id, v.revision, r.predefined, v.revision = r.revision and not r.removed as active,
  v.name, v.description, v.mode, v.filters, v.conditions, v.exceptions, v.actions,
  v.created_at as "createdAt", v.updated_at as "updatedAt"`

/** Rules that are asked, those that only log among them. */
const inForce = statement(`
  select ${ruleColumns}
  from moderation_rules r
  join moderation_rule_revisions v on v.app_id = r.app_id and v.rule_id = r.id and v.revision = r.revision
  where r.app_id = $1
  and not r.removed
  and v.mode <> 'off'
  order by r.key`)

/** The rules of an app that are on or in shadow mode, in the order in which they were made. */
export function readRulesInForce(on: Queryable, appId: number): Promise<RuleRow[]> {
  return on.query<RuleRow>(inForce, [appId])
}

/** A revision as the engine takes it. */
export function revisionOf({
  id,
  revision,
  name,
  mode,
  filters,
  conditions,
  exceptions,
  actions,
}: RuleRow): RuleRevision {
  return {
    ...{ ruleId: id, name, revision, mode, exceptions, actions },
    filters: filters.map(filterOf),
    conditions: conditions.map(conditionOf),
  }
}

/** One spelling for each operator. */
const operators: Readonly<Record<string, Filter['operator']>> = { 'not equals': 'notEquals', 'not in': 'notIn' }

function filterOf({ operator, ...filter }: RuleFilter): Filter {
  return { ...filter, operator: operators[operator] ?? (operator as Filter['operator']) }
}

/** A condition as the engine takes it: what is on a label of a picture or video is of a category of its own. */
export function conditionOf(condition: RuleCondition): Condition {
  const { id, operand, operator, category, message } = condition
  const isOnLabel = category === 'word' && (operand === 'image' || operand === 'video')
  return {
    ...{ id, operand, operator, value: textsOf(condition.value), isListed: isListed(condition) },
    category: isOnLabel ? 'media' : (category as ConditionCategory),
    ...(message !== undefined && { message: textsOf(message) }),
  }
}

export function isListed(condition: Pick<RuleCondition, 'isKeywordsReferencePresent'>): boolean {
  return condition.isKeywordsReferencePresent
}

export function textsOf(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value
}

const formula = /^(.*)_greaterThan_(\d{1,3}(?:\.\d{1,6})?)$/s

/** What `<name>_greaterThan_<percent>` says; undefined if it is not a formula. */
export function readFormula(value: string): { readonly name: string; readonly percent: number } | undefined {
  const found = formula.exec(value)
  return found === null ? undefined : { name: found[1] as string, percent: Number(found[2]) }
}

/** The words and patterns that a rule holds itself, those of its exceptions among them. */
export function literalsOf({
  conditions,
  exceptions,
}: RuleRevision): Array<{ category: 'word' | 'pattern'; terms: readonly string[] }> {
  const own = conditions.flatMap(({ category, isListed, value }) => {
    return (category === 'word' || category === 'pattern') && !isListed ? [{ category, terms: value }] : []
  })
  return [...own, { category: 'word', terms: exceptions }]
}

/** Ids of the lists that conditions name. */
export function listIdsOf(conditions: readonly RuleCondition[]): string[] {
  const named = conditions.filter(isListed).flatMap(({ value }) => textsOf(value))
  return [...new Set(named.map((value) => readFormula(value)?.name ?? value))]
}
