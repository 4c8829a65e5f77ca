import { latinShapeOf } from './characters.ts'
import { type FoldedText, Folding, separator } from './folded.ts'
import { isBlot, leetLetter } from './leet.ts'
import { readOtherwise } from './readings.ts'
import { type Spelled, spellText } from './spell.ts'
import { findTokens, has, type Tokens } from './tokens.ts'

const shared = new Folding()

/**
 * Folds a text, with other readings of those words in it that may hide what they are.
 * @param into where it is put; without it, what is given holds until the next text or term is folded
 */
export function foldText(text: string, into = shared): FoldedText {
  const spelled = spellText(text)
  const tokens = findTokens(spelled)
  foldTokens(into, text, spelled, tokens, true)
  into.endProper()
  readOtherwise(into, text, spelled, tokens)
  return into
}

/** Folds what is looked for: digits mean themselves, and nothing is read otherwise. What is given holds as that of `foldText`. */
export function foldTerm(term: string): FoldedText {
  const spelled = spellText(term)
  foldTokens(shared, term, spelled, findTokens(spelled), false)
  shared.endProper()
  return shared
}

function foldTokens(folding: Folding, text: string, spelled: Spelled, tokens: Tokens, isLeet: boolean): void {
  const { codes, starts, ends } = spelled
  folding.begin(text)
  let end = 0
  for (let number = 0; number < tokens.count; number += 1) {
    const from = tokens.from[number]!
    const to = tokens.to[number]!
    const traits = tokens.traits[number]!
    folding.put(separator, end, starts[from]!)
    if ((traits & ~has.letter & ~has.alone) === 0)
      for (let index = from; index < to; index += 1) folding.put(codes[index]!, starts[index]!, ends[index]!)
    else foldToken(folding, text, spelled, from, to, traits, isLeet)
    end = ends[to - 1]!
  }
  folding.put(separator, end, text.length)
}

/** A token with letters of another script is read as Latin where there is a Latin letter in it. */
function foldToken(
  folding: Folding,
  text: string,
  spelled: Spelled,
  from: number,
  to: number,
  traits: number,
  isLeet: boolean,
): void {
  const { codes, starts, ends } = spelled
  const isLatin = (traits & has.letter) !== 0
  for (let index = from; index < to; index += 1) {
    const code = codes[index]!
    const start = starts[index]!
    if (isBlot(code)) {
      folding.put(separator, start, ends[index]!)
      continue
    }
    const isDigit = code >= 0x30 && code <= 0x39
    const letter = isLatin && (isLeet || !isDigit) ? leetLetter(code) : 0
    const shape = isLatin && letter === 0 && (traits & has.lookAlike) !== 0 ? latinShapeAt(text, start, code) : code
    folding.put(letter === 0 ? shape : letter, start, ends[index]!)
  }
}

/** The Latin letter that a character of the original looks like; what it is folded to where it looks like none. */
function latinShapeAt(text: string, start: number, code: number): number {
  return code < 128 ? code : (latinShapeOf(text.codePointAt(start)!) ?? code)
}
