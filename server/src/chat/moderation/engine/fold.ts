import { latinShapeOf } from './characters.ts'
import { type FoldedText, Folding, separator } from './folded.ts'
import { isBlot, leetLetter } from './leet.ts'
import { readOtherwise } from './readings.ts'
import { type Spelled, spellText } from './spell.ts'
import { findTokens, has, type Tokens } from './tokens.ts'

const folding = new Folding()

/** Folds a text, with other readings of those words in it that may hide what they are. */
export function foldText(text: string): FoldedText {
  const spelled = spellText(text)
  const tokens = findTokens(spelled)
  foldTokens(text, spelled, tokens, true)
  const proper = folding.length
  readOtherwise(folding, text, spelled, tokens)
  return folding.end(text, proper)
}

/** Folds what is looked for: digits mean themselves, and nothing is read otherwise. */
export function foldTerm(term: string): FoldedText {
  const spelled = spellText(term)
  foldTokens(term, spelled, findTokens(spelled), false)
  return folding.end(term, folding.length)
}

function foldTokens(text: string, spelled: Spelled, tokens: Tokens, isLeet: boolean): void {
  const { codes, starts, ends } = spelled
  folding.begin()
  let end = 0
  for (let number = 0; number < tokens.from.length; number += 1) {
    const from = tokens.from[number]!
    const to = tokens.to[number]!
    const traits = tokens.traits[number]!
    folding.put(separator, end, starts[from]!)
    if ((traits & ~has.letter & ~has.alone) === 0)
      for (let index = from; index < to; index += 1) folding.put(codes[index]!, starts[index]!, ends[index]!)
    else foldToken(text, spelled, from, to, traits, isLeet)
    end = ends[to - 1]!
  }
  folding.put(separator, end, text.length)
}

/** A token with letters of another script is read as Latin where there is a Latin letter in it. */
function foldToken(text: string, spelled: Spelled, from: number, to: number, traits: number, isLeet: boolean): void {
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
