import type { Hit, Outcome, Question, RuleRevision } from '../../src/chat/moderation/model.ts'
import type { Judge } from '../../src/chat/writing/judges.ts'
import type { World } from './world.ts'

/** A rule as revisions of rules are, with what a test wants to be different. */
export function ruleOf(own: Partial<RuleRevision> = {}): RuleRevision {
  return {
    ...{ ruleId: 'no-bad', name: 'No bad words', revision: 1, mode: 'on', filters: [], exceptions: [] },
    conditions: [{ id: 1, operand: 'text', category: 'word', operator: 'contains', value: ['bad'], isListed: false }],
    actions: ['blockMessage'],
    ...own,
  }
}

/** A hit of a rule by a word of a text. */
export function hitOf(rule: RuleRevision, word: string, text: string): Hit {
  const start = text.indexOf(word)
  const [condition] = rule.conditions
  if (condition === undefined) throw new Error('a rule has a condition')
  return { rule, condition, match: { in: 'text', start, end: start + word.length, text: word } }
}

const rules = {
  bad: ruleOf(),
  flag: ruleOf({ ruleId: 'to-see', name: 'To be seen', actions: ['flagMessage'] }),
  shadow: ruleOf({ ruleId: 'shadowy', name: 'Tried out', mode: 'shadow' }),
  kick: ruleOf({ ruleId: 'kicks', name: 'Kicks', actions: ['blockMessage', 'kickUser'] }),
}
export const asking = ruleOf({ ruleId: 'asks', name: 'Asks an engine' })

/** What the rules of `addRules` say of a text, by the words in it: `bad`, `flag`, `shadow`, `kick` and `wait`. */
export function outcomeOf(text: string): Outcome {
  const hits = Object.entries(rules).flatMap(([word, rule]) => (text.includes(word) ? hitOf(rule, word, text) : []))
  const question: Question = { rule: asking, condition: hitOf(asking, '', '').condition, threshold: 50 }
  return { hits, questions: text.includes('wait') ? [question] : [], cut: 0, took: 1 }
}

/**
 * Has messages of the users of one app judged by the words in them: `bad` stops a message, `kick` too, `wait` lets it wait for
 * an engine, `flag` has it looked at, and `shadow` is found by a rule that is tried out.
 * @returns what takes the rules away again
 */
export function addRules(world: World): () => void {
  const judges = world.context.judges as Judge[]
  const entry: Judge = {
    isLocal: true,
    concerns: async (appId) => appId === world.app.appId,
    judge: async ({ byApp, content }) => {
      return byApp ? { is: 'pass' } : { is: 'moderated', outcome: outcomeOf(String(content.data.text ?? '')) }
    },
  }
  judges.push(entry)
  return () => {
    judges.splice(judges.indexOf(entry), 1)
  }
}
