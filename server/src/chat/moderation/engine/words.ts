import { type Automaton, buildAutomaton, step } from './automaton.ts'
import { Kind, kindOf } from './characters.ts'
import { foldTerm } from './fold.ts'
import { type FoldedText, separator } from './folded.ts'

/** Words to look for, compiled. */
export interface WordList {
  readonly automaton: Automaton
  /** The spellings of key `k` are `firstOf[k]` to `firstOf[k + 1]` of `offsets`. */
  readonly firstOf: Uint32Array
  /** Where the repetitions of each spelling begin in `runs`; they go on for the length of the key. */
  readonly offsets: Uint32Array
  readonly runs: Uint8Array
  /** What must stand right before and behind some spellings, as it is: `c++`. */
  readonly signs: ReadonlyMap<number, Signs>
}

interface Signs {
  readonly before: string
  readonly after: string
}

/** Where words were found: in UTF-16 units of the original. */
export interface Span {
  readonly start: number
  readonly end: number
}

interface Spelling {
  readonly key: string
  readonly runs: string
  readonly signs: Signs | undefined
}

/** Terms of which nothing is left when they are folded are never found; `flawOfTerms` names them. */
export function compileWords(terms: readonly string[]): WordList {
  const spellings = new Map<string, Map<string, Spelling>>()
  for (const term of terms) {
    const spelling = spellingOf(term)
    if (spelling === undefined) continue
    const { key, runs, signs } = spelling
    const known = spellings.get(key) ?? new Map<string, Spelling>()
    if (known.size === 0) spellings.set(key, known)
    known.set(signs === undefined ? runs : `${runs} ${signs.before} ${signs.after}`, spelling)
  }
  const keys = [...spellings.keys()].sort((one, other) => (one < other ? -1 : 1))
  const runs: number[] = []
  const offsets: number[] = []
  const signs = new Map<number, Signs>()
  const firstOf = new Uint32Array(keys.length + 1)
  keys.forEach((key, index) => {
    firstOf[index] = offsets.length
    for (const spelling of spellings.get(key)!.values()) {
      if (spelling.signs !== undefined) signs.set(offsets.length, spelling.signs)
      offsets.push(runs.length)
      for (let at = 0; at < key.length; at += 1) runs.push(Math.min(spelling.runs.charCodeAt(at), 255))
    }
  })
  firstOf[keys.length] = offsets.length
  return {
    automaton: buildAutomaton(keys),
    firstOf,
    offsets: Uint32Array.from(offsets),
    runs: Uint8Array.from(runs),
    signs,
  }
}

/** What a term is looked for by. A script without blanks needs no separators around it. */
function spellingOf(term: string): Spelling | undefined {
  const folded = foldTerm(term)
  if (folded.length < 3) return undefined
  const from = kindOf(folded.codes[1]!) === Kind.alone ? 1 : 0
  const to = kindOf(folded.codes[folded.length - 2]!) === Kind.alone ? folded.length - 1 : folded.length
  const before = meaningOf(term.slice(0, folded.starts[1]))
  const after = meaningOf(term.slice(folded.ends[folded.length - 2]))
  return {
    key: String.fromCharCode(...folded.codes.subarray(from, to)),
    runs: String.fromCharCode(...folded.runs.subarray(from, to)),
    signs: before === '' && after === '' ? undefined : { before, after },
  }
}

/** Signs around a word that are a part of it; quotes and the like are not. */
function meaningOf(around: string): string {
  return around.replace(/[^\p{S}#@%&*/\\]/gu, '')
}

/**
 * Characters of spellings that are compared with one message: some ten milliseconds. Usual lists need some hundreds. A hundred thousand
 * spellings of the same letters and a text of nothing else would take ten seconds.
 */
const mostCompared = 10_000_000
let left = Number.POSITIVE_INFINITY

/** Counts what is compared from here on. */
export function startComparing(): void {
  left = mostCompared
}

/** @returns whether there was more to compare than a message may take: the rest was not found */
export function stopComparing(): boolean {
  const isCut = left < 0
  left = Number.POSITIVE_INFINITY
  return isCut
}

/** The first word of the list in a text. */
export function findWord(list: WordList, folded: FoldedText): Span | undefined {
  const { automaton } = list
  let state = 0
  for (let index = 0; index < folded.length; index += 1) {
    state = step(automaton, state, folded.codes[index]!)
    for (let at = state; at !== 0; at = automaton.shorter[at]!) {
      const key = automaton.keys[at]!
      if (key === 0) continue
      const span = spell(list, key - 1, folded, index)
      if (span !== undefined) return span
    }
  }
  return undefined
}

/** All words of the list in a text. They may overlap. */
export function findWords(list: WordList, folded: FoldedText): Span[] {
  const { automaton } = list
  const found: Span[] = []
  let state = 0
  for (let index = 0; index < folded.length; index += 1) {
    state = step(automaton, state, folded.codes[index]!)
    for (let at = state; at !== 0; at = automaton.shorter[at]!) {
      const key = automaton.keys[at]!
      if (key === 0) continue
      const span = spell(list, key - 1, folded, index)
      if (span !== undefined) found.push(span)
    }
  }
  return found
}

/** The span of a key that ends at a place, where one of its spellings repeats no character more often than the text. */
function spell(list: WordList, key: number, folded: FoldedText, last: number): Span | undefined {
  for (let spelling = list.firstOf[key]!; spelling < list.firstOf[key + 1]!; spelling += 1) {
    const offset = list.offsets[spelling]!
    const length = (list.offsets[spelling + 1] ?? list.runs.length) - offset
    left -= length
    if (left < 0) return undefined
    const first = last - length + 1
    if (!repeatsEnough(list.runs, offset, length, folded, first)) continue
    const start = folded.starts[folded.codes[first] === separator ? first + 1 : first]!
    const end = folded.ends[folded.codes[last] === separator ? last - 1 : last]!
    const signs = list.signs.get(spelling)
    if (signs === undefined) return { start, end }
    const { before, after } = signs
    if (folded.text.startsWith(after, end) && folded.text.slice(0, start).endsWith(before))
      return { start: start - before.length, end: end + after.length }
  }
  return undefined
}

/** Letters that hardly any word has twice in a row. */
const rarelyDouble = new Set(Array.from('ahijkquvwxy', (letter) => letter.charCodeAt(0)))

/**
 * Whether a text has every character as often in a row as a spelling, and more often only as somebody would write it who
 * hides the word: `fuuuck`, `fuuck`, `ffucck`. `good` is no `god`, and `100` is no `10`.
 */
function repeatsEnough(runs: Uint8Array, offset: number, length: number, folded: FoldedText, first: number): boolean {
  let doubled = 0
  let isStretched = false
  for (let index = 0; index < length; index += 1) {
    const asked = runs[offset + index]!
    const found = folded.runs[first + index]!
    if (found === asked) continue
    const code = folded.codes[first + index]!
    if (code === separator) continue
    if (found < asked) return false
    const kind = kindOf(code)
    if (kind === Kind.alone) continue
    if (kind === Kind.digit) return false
    if (found > 2 || rarelyDouble.has(code)) isStretched = true
    else doubled += 1
  }
  return doubled === 0 || doubled > 1 || isStretched
}

/** Whether a text as a whole is a word of the list. */
export function isWord(list: WordList, folded: FoldedText): boolean {
  const from = folded.starts[1] ?? 0
  const to = folded.ends[folded.proper - 2] ?? 0
  return findWords(list, folded).some(({ start, end }) => start === from && end === to)
}
