import { compileSentences, type SentenceList } from './sentences.ts'
import { compileWords, type WordList } from './words.ts'

/** Terms that are compiled apart from what else a process does. */
export interface CompileTask {
  readonly category: 'word' | 'sentence-similarity'
  /** Joined: one long text goes to another thread faster than many short ones. */
  readonly terms: string
}

export interface Compiled {
  readonly words?: WordList
  readonly sentences?: SentenceList
}

export interface CompileReply {
  readonly number: number
  readonly compiled: Compiled
}

/** No term that the database can hold has it. */
const between = '\0'

export function joinTerms(terms: readonly string[]): string {
  return terms.join(between)
}

export function compileTask({ category, terms }: CompileTask): Compiled {
  const all = terms.split(between)
  return category === 'word' ? { words: compileWords(all) } : { sentences: compileSentences(all) }
}

/** The memory of what was compiled. */
export function buffersOf({ words, sentences }: Compiled): ArrayBuffer[] {
  const parts = [words, words?.automaton, sentences, sentences?.automaton].flatMap((part) => Object.values(part ?? {}))
  return parts.flatMap((part) => (ArrayBuffer.isView(part) && part.buffer instanceof ArrayBuffer ? [part.buffer] : []))
}
