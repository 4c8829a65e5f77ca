import { limits } from '@parley/contract'
import type { ListCategory } from '../model.ts'
import { flawOfPattern } from './patterns.ts'
import { compileWords } from './words.ts'

/** What is wrong with a term of a list. */
export interface TermFlaw {
  /** Counts from 1. */
  readonly line: number
  readonly message: string
}

/** What is wrong with the terms of a list, in order. */
export function flawOfTerms(category: ListCategory, terms: readonly string[]): TermFlaw[] {
  return terms.flatMap((term, index) => {
    const message = flawOfTerm(category, term)
    return message === undefined ? [] : [{ line: index + 1, message }]
  })
}

/** Terms that are looked for: those of a list, or the literals of a condition. */
export interface Terms {
  readonly category: ListCategory
  readonly terms: readonly string[]
}

/**
 * Why all terms of an app together are too many, as a sentence; undefined where they are not. Lists that come with the service
 * are not to be among them.
 */
export function flawOfAmount(all: readonly Terms[]): string | undefined {
  const { words, wordCharacters, patterns, sentences } = limits.moderation.termsPerApp
  const of = (category: ListCategory) => all.flatMap((one) => (one.category === category ? [one.terms] : []))
  const count = (category: ListCategory) => of(category).reduce((sum, terms) => sum + terms.length, 0)
  const characters = of('word').reduce((sum, terms) => terms.reduce((length, term) => length + term.length, sum), 0)
  if (count('word') > words) return `The lists and rules of an app have at most ${words} words together.`
  if (characters > wordCharacters)
    return `The words in the lists and rules of an app have at most ${wordCharacters} characters together.`
  if (count('pattern') > patterns) return `The lists and rules of an app have at most ${patterns} patterns together.`
  if (count('sentence-similarity') > sentences)
    return `The lists of an app have at most ${sentences} sentences together.`
  return undefined
}

function flawOfTerm(category: ListCategory, term: string): string | undefined {
  if (category === 'custom-api' || category === 'prompt') return undefined
  const most = category === 'pattern' ? limits.moderation.patternLength : limits.moderation.termLength
  if ([...term].length > most) return `it has more than ${most} characters`
  if (category === 'pattern') return flawOfPattern(term)
  return compileWords([term]).offsets.length === 0 ? 'it has no letter and no digit' : undefined
}
