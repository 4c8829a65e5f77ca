import { appLimitReached, limits } from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import { sizeOfPatterns } from '../../chat/moderation/engine/patterns.ts'
import { type ListRow, termsOf } from '../../chat/moderation/lists.ts'
import type { ListCategory } from '../../chat/moderation/model.ts'
import { literalsOf, revisionOf } from '../../chat/moderation/rules.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { patternsTooLarge } from './errors.ts'
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

const selectPatterns = statement(`
  select v.terms::text as terms, v.is_csv as "isCsv"
  from moderation_lists l
  join moderation_list_revisions v on v.app_id = l.app_id and v.list_id = l.id and v.revision = l.revision
  where l.app_id = $1
  and not l.removed
  and not (l.predefined and l.revision = 1)
  and v.category = 'pattern'`)

const { words, wordCharacters, patterns, patternInstructions, sentences } = limits.moderation.termsPerApp

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
 * @param before what there was before the change
 * @throws 400 where they are more than an app can have
 */
export async function requireRoom(tx: Transaction, { appId }: App, before: Room): Promise<void> {
  const literals = await literalsInRules(tx, appId)
  const held = [...(await tx.query<Amount>(countInLists, [appId])), ...literals.map(amountOf)]
  for (const { category, of, most, what } of caps) {
    const sum = held.reduce((total, amount) => total + (amount.category === category ? amount[of] : 0), 0)
    if (sum > most) throw appLimitReached(most, `${what} in its lists and rules together`)
  }
  const instructions = await instructionsOf(tx, appId, literals)
  if (instructions > Math.max(patternInstructions, before.instructions))
    throw patternsTooLarge(instructions, patternInstructions)
}

/** What the patterns of an app take before a change. */
export interface Room {
  readonly instructions: number
}

/** An app that had larger patterns before they were limited may change whatever does not make them larger still. */
export async function measureRoom(tx: Transaction, { appId }: App): Promise<Room> {
  return { instructions: await instructionsOf(tx, appId, await literalsInRules(tx, appId)) }
}

async function instructionsOf(tx: Transaction, appId: number, literals: readonly Literals[]): Promise<number> {
  const lists = await tx.query<Pick<ListRow, 'terms' | 'isCsv'>>(selectPatterns, [appId])
  const inRules = literals.flatMap(({ category, terms }) => (category === 'pattern' ? terms : []))
  return sizeOfPatterns([...lists.flatMap(termsOf), ...inRules])
}

type Literals = ReturnType<typeof literalsOf>[number]

async function literalsInRules(tx: Transaction, appId: number): Promise<Literals[]> {
  const rules = await ruleStore.readAll(tx, appId)
  const counted = rules.filter(({ predefined, revision }) => !(predefined && revision === 1))
  return counted.map(revisionOf).flatMap(literalsOf)
}

function amountOf({ category, terms }: Literals): Amount {
  return {
    category,
    count: terms.length,
    characters: terms.reduce((length, term) => length + term.length, 0),
  }
}
