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

function flawOfTerm(category: ListCategory, term: string): string | undefined {
  if (category === 'custom-api' || category === 'prompt') return undefined
  const most = category === 'pattern' ? limits.moderation.patternLength : limits.moderation.termLength
  if ([...term].length > most) return `it has more than ${most} characters`
  if (category === 'pattern') return flawOfPattern(term)
  return compileWords([term]).offsets.length === 0 ? 'it has no letter and no digit' : undefined
}
