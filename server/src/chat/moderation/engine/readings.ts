import { latinShapeOf } from './characters.ts'
import { type Folding, separator } from './folded.ts'
import { isBlot, leetLetter } from './leet.ts'
import { cyrillicLookAlikes } from './look-alikes.ts'
import type { Spelled } from './spell.ts'
import { has, type Tokens } from './tokens.ts'

/*
 * Words that can be read in more than one way. Each further reading stands behind the text, between separators, so that it
 * is looked through like the text, and each of its characters knows its place in the original.
 */

/** What a character becomes in a reading; 0 leaves it out. */
type Read = (index: number) => number

interface Scene {
  readonly folding: Folding
  readonly text: string
  readonly spelled: Spelled
  /** Beyond it nothing is read otherwise: a text of nothing but leet must not cost more than a few plain ones. */
  readonly most: number
}

/** Words of several parts are not made up of readings that follow each other. */
const barrier = 0x0a
/** Longer tokens are no words that somebody hides. */
const longestToken = 64
const vowels = [0x75, 0x69, 0x61, 0x6f, 0x65]
const letterL = 0x6c
const capitalI = 0x49

/** Appends what a text may mean besides. */
export function readOtherwise(folding: Folding, text: string, spelled: Spelled, tokens: Tokens): void {
  const scene = { folding, text, spelled, most: 3 * folding.length + 512 }
  const hasCapitalI = text.includes('I')
  for (let number = 0; number < tokens.count; number += 1) {
    const traits = tokens.traits[number]!
    const from = tokens.from[number]!
    const to = tokens.to[number]!
    if (traits !== has.alone && to - from <= longestToken) {
      if (traits !== has.letter) readToken(scene, from, to, traits)
      // Of letters alone, nothing else can be a bar.
      if (traits !== has.letter || hasCapitalI) readBars(scene, from, to, traits)
    }
  }
  if (tokens.count > 1) readJoined(scene, tokens)
}

function append({ folding, spelled, most }: Scene, from: number, to: number, read: Read): void {
  if (folding.length + to - from + 2 > most) return
  const start = spelled.starts[from]!
  folding.put(barrier, start, start)
  folding.put(separator, start, start)
  for (let index = from; index < to; index += 1) {
    const code = read(index)
    if (code !== 0) folding.put(code, spelled.starts[index]!, spelled.ends[index]!)
  }
  const end = spelled.ends[to - 1]!
  folding.put(separator, end, end)
}

function readToken(scene: Scene, from: number, to: number, traits: number): void {
  const { codes } = scene.spelled
  const isLatin = (traits & has.letter) !== 0
  if ((traits & has.lookAlike) !== 0) readScripts(scene, from, to, traits)
  if (!isLatin) return
  if ((traits & has.blot) !== 0) readBlot(scene, from, to)
  if ((traits & (has.digit | has.sign)) === 0) return
  append(scene, from, to, (index) => (isSign(codes[index]!) ? separator : codes[index]!))
  let first = from
  let last = to
  while (isDigit(codes[first]!)) first += 1
  while (isDigit(codes[last - 1]!)) last -= 1
  const asLeet = asLatin(scene, traits)
  if (last - first < to - from) append(scene, first, last, asLeet)
}

/** Leet, and letters that look Latin. */
function asLatin({ text, spelled: { codes, starts } }: Scene, traits: number): Read {
  return (index) => {
    const letter = leetLetter(codes[index]!)
    if (letter !== 0) return letter
    if ((traits & has.lookAlike) === 0) return codes[index]!
    return latinShapeOf(text.codePointAt(starts[index]!)!) ?? codes[index]!
  }
}

/** Words of look-alikes only may be Latin; words of both may be Cyrillic. */
function readScripts(scene: Scene, from: number, to: number, traits: number): void {
  const { codes } = scene.spelled
  if ((traits & has.letter) !== 0 || (traits & has.digit) !== 0)
    append(scene, from, to, (index) => cyrillicLookAlikes.get(codes[index]!) ?? codes[index]!)
  if ((traits & (has.letter | has.foreign)) === 0) append(scene, from, to, asLatin(scene, traits))
}

/** One vowel that was blotted out, or blots between the letters: `f*ck`, `f*u*c*k`. */
function readBlot(scene: Scene, from: number, to: number): void {
  const { codes } = scene.spelled
  let blots = 0
  for (let index = from; index < to; index += 1) if (isBlot(codes[index]!)) blots += 1
  const read = (blot: number) => (index: number) =>
    isBlot(codes[index]!) ? blot : leetLetter(codes[index]!) || codes[index]!
  if (blots > 1) append(scene, from, to, read(0))
  else for (const vowel of vowels) append(scene, from, to, read(vowel))
}

/** Bars beyond these are all read alike. */
const mostBars = 3

/** `1`, `!`, `|` and a capital I are read as i; each may be an l: `1ol!ta`, `AssHoIe`. */
function readBars(scene: Scene, from: number, to: number, traits: number): void {
  const { codes } = scene.spelled
  if ((traits & has.letter) === 0) return
  const bars = barsOf(scene, from, to)
  if (bars === undefined) return
  const asLeet = (traits & ~has.letter) === 0 ? (index: number) => codes[index]! : asLatin(scene, traits)
  const readWith = (isL: (bar: number) => boolean) =>
    append(scene, from, to, (index) => {
      const bar = bars.indexOf(index)
      return bar >= 0 && isL(bar) ? letterL : asLeet(index)
    })
  // There may be more bars than a number has bits.
  if (bars.length > mostBars) readWith(() => true)
  else for (let choice = 1; choice < 2 ** bars.length; choice += 1) readWith((bar) => (choice & (2 ** bar)) !== 0)
}

/** @returns undefined where there are none */
function barsOf(scene: Scene, from: number, to: number): number[] | undefined {
  let bars: number[] | undefined
  for (let index = from; index < to; index += 1)
    if (isBar(scene, index, from, to)) {
      bars ??= []
      bars.push(index)
    }
  return bars
}

/** Whether a character may be an l. Capitals at the beginning of a word, and among others, are what they seem. */
function isBar({ text, spelled: { codes, starts } }: Scene, index: number, from: number, to: number): boolean {
  const code = codes[index]!
  if (code === 0x31 || code === 0x21 || code === 0x7c) return true
  if (to - from < 3 || text.charCodeAt(starts[index]!) !== capitalI) return false
  const unitAt = (at: number) => (from <= at && at < to ? text.charCodeAt(starts[at]!) : 0)
  let neighbour = index
  while (unitAt(neighbour) === capitalI) neighbour -= 1
  if (neighbour < from) for (neighbour = index; unitAt(neighbour) === capitalI; ) neighbour += 1
  const unit = unitAt(neighbour)
  return unit > 0x5a || (unit !== 0 && unit < 0x41)
}

/** What may join the letters of one word: most often it does, so the words beside it are read by themselves, too. */
const joints = new Set(Array.from('_~^=+\\"`•·*', (sign) => sign.charCodeAt(0)))
/** In `it's` they leave out a letter. */
const apostrophes = new Set([0x27, 0x2019])
const blank = 0x20
/** Letters that are spelt out further apart are no word. */
const widestGap = 3
const longestWord = 40

/** Words whose letters stand apart: `f u c k`, `f.u.c.k`, `f.uck`, `fu_ck`; not `fu ck`, which may be two words. */
function readJoined(scene: Scene, tokens: Tokens): void {
  const { count } = tokens
  for (let first = 0; first < count; ) {
    let last = first
    while (last + 1 < count && isLinked(scene, tokens, last)) last += 1
    if (last > first) readLinked(scene, tokens, first, last)
    first = last + 1
  }
}

/** Whether a token and the next one may be parts of one word. */
function isLinked({ text, spelled }: Scene, tokens: Tokens, number: number): boolean {
  const from = spelled.ends[tokens.to[number]! - 1]!
  const to = spelled.starts[tokens.from[number + 1]!]!
  if (to === from || to - from > widestGap) return false
  const isSingle = sizeOf(tokens, number) === 1 && sizeOf(tokens, number + 1) === 1
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x0a || code === 0x0d || apostrophes.has(code)) return false
    if (code <= blank && !isSingle) return false
  }
  return true
}

const sizeOf = ({ from, to }: Tokens, number: number) => to[number]! - from[number]!

function readLinked(scene: Scene, tokens: Tokens, first: number, last: number): void {
  const { text, spelled } = scene
  let singles = 0
  let firmly = 0
  for (let number = first; number <= last; number += 1) if (sizeOf(tokens, number) === 1) singles += 1
  for (let number = first; number < last; number += 1)
    if (joints.has(text.charCodeAt(spelled.ends[tokens.to[number]! - 1]!))) firmly += 1
  const count = last - first + 1
  if (!some(first, last + 1, (number) => (tokens.traits[number]! & ~(has.digit | has.sign)) !== 0)) return
  const areSpelt = singles === count && (count > 2 || tokens.traits[first] === has.alone)
  if (!areSpelt && firmly < last - first && (singles === 0 || singles === count)) return
  join(scene, tokens, first, last)
  if (!areSpelt || count < 5) return
  // Short words beside it: `i f u c k u`.
  join(scene, tokens, first + 1, last)
  join(scene, tokens, first, last - 1)
  join(scene, tokens, first + 1, last - 1)
}

function join(scene: Scene, tokens: Tokens, first: number, last: number): void {
  const from = tokens.from[first]!
  const to = tokens.to[last]!
  if (to - from > 4 * longestWord) return
  const inside = new Set<number>()
  for (let number = first; number <= last; number += 1)
    for (let index = tokens.from[number]!; index < tokens.to[number]!; index += 1) inside.add(index)
  if (inside.size > longestWord) return
  const asLeet = asLatin(scene, has.lookAlike)
  append(scene, from, to, (index) => (inside.has(index) ? asLeet(index) : 0))
}

const isDigit = (code: number) => code >= 0x30 && code <= 0x39
const isSign = (code: number) => !isDigit(code) && (leetLetter(code) !== 0 || isBlot(code))

function some(from: number, to: number, test: (index: number) => boolean): boolean {
  for (let index = from; index < to; index += 1) if (test(index)) return true
  return false
}
