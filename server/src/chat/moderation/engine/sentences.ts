import { type Automaton, buildAutomaton, step } from './automaton.ts'
import { Kind, kindOf } from './characters.ts'
import { foldText } from './fold.ts'
import { type FoldedText, separator } from './folded.ts'

/** Sentences to compare with: which words there are, and in which sentences each is. */
export interface SentenceList {
  /** Finds the words. */
  readonly automaton: Automaton
  /** The sentences with word `w` are `firstOf[w]` to `firstOf[w + 1]` of `sentences`. */
  readonly firstOf: Uint32Array
  readonly sentences: Uint32Array
  /** How many different words each sentence has. */
  readonly sizes: Uint16Array
}

export function compileSentences(terms: readonly string[]): SentenceList {
  const all = terms.map((term) => wordsOf(foldText(term))).filter((words) => words.size > 0)
  const sentencesOf = new Map<string, number[]>()
  all.forEach((words, sentence) => {
    for (const word of words) {
      const known = sentencesOf.get(word)
      if (known === undefined) sentencesOf.set(word, [sentence])
      else known.push(sentence)
    }
  })
  const words = [...sentencesOf.keys()].sort(byUnits)
  const firstOf = new Uint32Array(words.length + 1)
  words.forEach((word, index) => {
    firstOf[index + 1] = firstOf[index]! + sentencesOf.get(word)!.length
  })
  return {
    automaton: buildAutomaton(words),
    firstOf,
    sentences: Uint32Array.from(words.flatMap((word) => sentencesOf.get(word)!)),
    sizes: Uint16Array.from(all, (one) => one.size),
  }
}

const byUnits = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)

/**
 * The words of a text, each once, with the separators around them. Scripts without blanks have pairs of characters instead.
 */
export function wordsOf({ codes, proper }: FoldedText): Set<string> {
  const words = new Set<string>()
  for (let from = 1; from < proper; ) {
    let to = from
    while (to < proper && codes[to] !== separator) to += 1
    if (to > from && kindOf(codes[from]!) === Kind.alone) {
      for (let at = from; at < Math.max(from + 1, to - 1); at += 1)
        words.add(String.fromCharCode(...codes.subarray(at, Math.min(at + 2, to))))
    } else if (to > from) words.add(String.fromCharCode(...codes.subarray(from - 1, to + 1)))
    from = to + 1
  }
  return words
}

/** How similar a text is to the most similar sentence, in percent: words that both have, of the words that either has. */
export function similarityTo(list: SentenceList, folded: FoldedText): number {
  const found = new Set<number>()
  let state = 0
  for (let index = 0; index < folded.proper; index += 1) {
    state = step(list.automaton, state, folded.codes[index]!)
    for (let at = state; at !== 0; at = list.automaton.shorter[at]!) {
      const key = list.automaton.keys[at]!
      if (key !== 0) found.add(key - 1)
    }
  }
  if (found.size === 0) return 0
  const size = wordsOf(folded).size
  const shared = new Map<number, number>()
  let most = 0
  for (const word of found) {
    for (let at = list.firstOf[word]!; at < list.firstOf[word + 1]!; at += 1) {
      const sentence = list.sentences[at]!
      const count = (shared.get(sentence) ?? 0) + 1
      shared.set(sentence, count)
      const similarity = (100 * count) / (list.sizes[sentence]! + size - count)
      if (similarity > most) most = similarity
    }
  }
  return most
}
