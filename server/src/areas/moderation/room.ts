import { appLimitReached, limits } from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import type { ListCategory } from '../../chat/moderation/model.ts'
import { literalsOf, revisionOf } from '../../chat/moderation/rules.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { ruleStore } from './rules/store.ts'

/** Terms of one category, and how long they are together. */
interface Amount {
  readonly category: ListCategory
  readonly count: number
  readonly characters: number
}

/** What the lists of an app hold, but for predefined ones as they are shipped. Quotes and commas are no characters of terms. */
const countInLists = statement(`
  select v.category, sum(v.count) as count, sum(length(v.terms::text) - 3 * v.count - 1) as characters
  from moderation_lists l
  join moderation_list_revisions v on v.app_id = l.app_id and v.list_id = l.id and v.revision = l.revision
  where l.app_id = $1
  and not l.removed
  and not (l.predefined and l.revision = 1)
  group by v.category`)

const { words, wordCharacters, patterns, sentences } = limits.moderation.termsPerApp

const caps: ReadonlyArray<{
  readonly category: ListCategory
  readonly of: 'count' | 'characters'
  readonly most: number
  readonly what: string
}> = [
  { category: 'word', of: 'count', most: words, what: 'words' },
  { category: 'word', of: 'characters', most: wordCharacters, what: 'characters of words' },
  { category: 'pattern', of: 'count', most: patterns, what: 'patterns' },
  { category: 'sentence-similarity', of: 'count', most: sentences, what: 'sentences' },
  { category: 'prompt', of: 'count', most: limits.moderation.promptsPerApp, what: 'prompts' },
  { category: 'custom-api', of: 'count', most: limits.moderation.listsPerApp, what: 'addresses of engines' },
]

/**
 * Counts the terms of all lists and rules of an app, as they are after a change: under its lock, so that two changes at the same
 * time are not taken to fit each by itself. What is predefined counts once it was changed.
 * @throws 400 where they are more than an app can have
 */
export async function requireRoom(tx: Transaction, { appId }: App): Promise<void> {
  const held = [...(await tx.query<Amount>(countInLists, [appId])), ...(await countInRules(tx, appId))]
  for (const { category, of, most, what } of caps) {
    const sum = held.reduce((total, amount) => total + (amount.category === category ? amount[of] : 0), 0)
    if (sum > most) throw appLimitReached(most, `${what} in its lists and rules together`)
  }
}

async function countInRules(tx: Transaction, appId: number): Promise<Amount[]> {
  const rules = await ruleStore.readAll(tx, appId)
  const counted = rules.filter(({ predefined, revision }) => !(predefined && revision === 1))
  return counted
    .map(revisionOf)
    .flatMap(literalsOf)
    .map(({ category, terms }) => ({
      category,
      count: terms.length,
      characters: terms.reduce((length, term) => length + term.length, 0),
    }))
}
