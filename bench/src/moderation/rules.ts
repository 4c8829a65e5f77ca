import type { compileEngine } from '@parley/server/moderation'
import { patterns } from './corpus.ts'

export type Rules = Parameters<typeof compileEngine>[0]
export type Lists = Parameters<typeof compileEngine>[1]
type Condition = Rules[number]['conditions'][number]

const shared = {
  revision: 1,
  mode: 'on',
  filters: [],
  exceptions: [],
  actions: ['blockMessage'],
} as const

const condition = (
  id: number,
  category: 'word' | 'pattern',
  value: readonly string[],
  isListed: boolean,
): Condition => ({
  id,
  operand: 'text',
  category,
  operator: 'contains',
  value,
  isListed,
})

/** One rule with one list of words and twenty patterns. */
export function plainRules(terms: readonly string[]): { rules: Rules; lists: Lists } {
  return {
    rules: [
      {
        ...shared,
        ruleId: 'plain',
        name: 'Plain',
        conditions: [condition(1, 'word', ['words'], true), condition(2, 'pattern', patterns, false)],
      },
    ],
    lists: [{ listId: 'words', revision: 1, category: 'word', terms }],
  }
}

/** As much as an app can have: 25 rules of 10 conditions, of which 20 are patterns, and 25 lists with all terms. */
export function fullRules(terms: readonly string[]): { rules: Rules; lists: Lists } {
  const each = Math.ceil(terms.length / 25)
  const lists = Array.from({ length: 25 }, (_, list) => ({
    listId: `list-${list}`,
    revision: 1,
    category: 'word' as const,
    terms: terms.slice(list * each, (list + 1) * each),
  }))
  const rules = Array.from({ length: 25 }, (_, rule) => ({
    ...shared,
    ruleId: `rule-${rule}`,
    name: `Rule ${rule}`,
    filters: [{ type: 'sender', entity: 'user', operand: 'role', operator: 'notEquals', value: 'admin' } as const],
    conditions: Array.from({ length: 10 }, (_, index) => {
      const pattern = patterns[rule]
      if (index === 0 && pattern !== undefined) return condition(1, 'pattern', [pattern], false)
      return condition(index + 1, 'word', [`list-${(rule + index) % 25}`], true)
    }),
  }))
  return { rules, lists }
}
