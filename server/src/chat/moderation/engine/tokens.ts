import { Kind } from './characters.ts'
import { isBlot } from './leet.ts'
import type { Spelled } from './spell.ts'

/** What is in a token, as bits. */
export const has = {
  letter: 1,
  digit: 2,
  /** A sign that is written for a letter. */
  sign: 4,
  /** A letter of another script that looks like a Latin one. */
  lookAlike: 8,
  /** A letter of such a script that does not. */
  foreign: 16,
  /** Characters that need no boundaries, and nothing else. */
  alone: 32,
  /** `*` or `#` between letters. */
  blot: 64,
} as const

/** What stands between blanks and punctuation: a word, or several of a script without blanks. */
export interface Tokens {
  from: Int32Array
  /** Behind its last character. */
  to: Int32Array
  traits: Uint8Array
  count: number
}

const scratch: Tokens = { from: new Int32Array(0), to: new Int32Array(0), traits: new Uint8Array(0), count: 0 }

const bitOf: Readonly<Record<number, number>> = {
  [Kind.letter]: has.letter,
  [Kind.digit]: has.digit,
  [Kind.sign]: has.sign,
  [Kind.lookAlike]: has.lookAlike,
  [Kind.foreign]: has.foreign,
}

const bits = Uint8Array.from({ length: 8 }, (_, kind) => bitOf[kind] ?? 0)
const letterBits = has.letter | has.lookAlike | has.foreign

/** The tokens of a text, in order. @returns the same object for each text */
export function findTokens(spelled: Spelled): Tokens {
  const { kinds, codes, length } = spelled
  const tokens = scratch
  makeRoom(tokens, length)
  runEnd = 0
  for (let at = 0; at < length; ) {
    const kind = kinds[at]!
    const from = at
    let traits = 0
    if (kind === Kind.alone) {
      traits = has.alone
      while (at < length && kinds[at] === Kind.alone) at += 1
    } else {
      for (; at < length; at += 1) {
        const bit = bits[kinds[at]!]!
        if (bit === 0) break
        if (bit === has.sign) {
          if (!isSpelt(spelled, at, (traits & (letterBits | has.digit)) !== 0)) break
          traits |= isBlot(codes[at]!) ? has.blot : has.sign
        } else traits |= bit
      }
    }
    if (at === from) {
      at += 1
      continue
    }
    tokens.from[tokens.count] = from
    tokens.to[tokens.count] = at
    tokens.traits[tokens.count] = traits
    tokens.count += 1
  }
  return tokens
}

/** There are no more tokens than characters. */
function makeRoom(tokens: Tokens, size: number): void {
  tokens.count = 0
  if (tokens.from.length >= size) return
  const room = Math.max(1024, size)
  tokens.from = new Int32Array(room)
  tokens.to = new Int32Array(room)
  tokens.traits = new Uint8Array(room)
}

const dollar = 0x24
const at = 0x40

/** Where the run of one sign ends that was looked at last: a text of nothing else is looked through once. */
let runEnd = 0

/**
 * Whether a sign stands where a letter would: `$` before or behind a letter, `@` too, others between two. What follows may
 * be written for a letter itself.
 */
function isSpelt({ codes, kinds, length }: Spelled, index: number, isAfter: boolean): boolean {
  const sign = codes[index]!
  if (index >= runEnd) {
    runEnd = index + 1
    while (runEnd < length && codes[runEnd] === sign) runEnd += 1
  }
  const bit = runEnd < length ? bits[kinds[runEnd]!]! : 0
  if (isBlot(sign)) return isAfter && (bit & letterBits) !== 0
  if (sign === dollar || sign === at) return isAfter || (bit & letterBits) !== 0
  return isAfter ? (bit & (letterBits | has.digit)) !== 0 : false
}
