import { latinLookAlikes } from './look-alikes.ts'

/** What a character is to words. */
export const Kind = {
  /** Between words. */
  separator: 0,
  /** A Latin letter, or one of a script that has none that look so; such scripts put blanks between words. */
  letter: 1,
  digit: 2,
  /** Of a script without blanks, or an emoji: it needs no boundary. */
  alone: 3,
  /** A letter of another script that looks like a Latin one. */
  lookAlike: 4,
  /** A letter of a script with letters that look like Latin ones, which itself does not. */
  foreign: 5,
  /** Between words, unless it is written for a letter: `$`. */
  sign: 6,
  /** It is one with the character before. */
  joining: 7,
} as const
export type Kind = (typeof Kind)[keyof typeof Kind]

/** Marks that are put on letters to hide them, or that are left out as often as not. Vowel signs are letters. */
const marks = [
  [0x0300, 0x036f],
  [0x0483, 0x0489],
  [0x0591, 0x05c7],
  [0x0610, 0x061a],
  [0x064b, 0x065f],
  [0x0670, 0x0670],
  [0x115f, 0x1160],
  [0x1ab0, 0x1aff],
  [0x1dc0, 0x1dff],
  [0x20d0, 0x20ff],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfe20, 0xfe2f],
  [0xffa0, 0xffa0],
  [0x1f3fb, 0x1f3ff],
  [0xe0100, 0xe01ef],
] as const
const hex = (code: number) => `\\u{${code.toString(16)}}`
/** Only changes another character, or shows nothing at all. */
const loose = new RegExp(`[${marks.map(([from, to]) => `${hex(from)}-${hex(to)}`).join('')}\\p{Cf}]`, 'gu')

/** A text without marks that hide letters, and without what shows nothing. */
export const bare = (text: string) => text.replace(loose, '')

/** Letters in squares and circles, and those that flags are made of, which have no decomposition. */
const framed = [0x1f130, 0x1f150, 0x1f170, 0x1f1e6] as const
const wholeWords: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['œ', 'oe'],
])

const aloneScripts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Extended_Pictographic}\p{Cs}ー]/u
const scriptsWithLookAlikes = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/u
const letters = /[\p{L}\p{M}]/u
const digits = /\p{N}/u
/** Conjoining vowels and finals of Hangul, sound marks of kana. */
const joining = /[\u1161-\u11ff\u3099\u309a]/
const signs = '@$!|*#'

/** How characters are folded, for the 256 of one page. Pages are made when they are first met. */
interface Page {
  /** The one unit that each becomes; 0 where it is none or several. */
  readonly units: Uint16Array
  readonly kinds: Uint8Array
  /** What the others become. */
  readonly spellings: ReadonlyMap<number, string>
}

const pages: Array<Page | undefined> = []
/** Others beyond the first 65,536 come and go: there are a million. */
const mostPages = 512

/** The page that a code point is on; its place there is its last byte. */
export function pageOf(code: number): Page {
  const number = code >> 8
  const known = pages[number]
  if (known !== undefined) return known
  if (number > 0xff && pages.filter((page) => page !== undefined).length >= mostPages) pages.length = 0x100
  const page = makePage(number)
  pages[number] = page
  return page
}

function makePage(number: number): Page {
  const units = new Uint16Array(256)
  const kinds = new Uint8Array(256)
  const spellings = new Map<number, string>()
  for (let place = 0; place < 256; place += 1) {
    const code = number * 256 + place
    const spelling = spell(code)
    if (spelling.length === 1) units[place] = spelling.charCodeAt(0)
    else if (spelling !== '') spellings.set(place, spelling)
    kinds[place] = kindOfCharacter(spelling, code)
  }
  return { units, kinds, spellings }
}

function spell(code: number): string {
  const first = framed.find((from) => from <= code && code < from + 26)
  if (first !== undefined) return String.fromCharCode(97 + code - first)
  const decomposed = bare(String.fromCodePoint(code).normalize('NFKD'))
  const lower = [...decomposed].map(lowerCase).join('')
  return bare(lower).normalize('NFC')
}

/** What looks like a Latin letter becomes one, but in scripts of which whole words look Latin: there it may be meant. */
function lowerCase(character: string): string {
  const shape = latinLookAlikes.get(character.codePointAt(0)!)
  if (shape !== undefined && !scriptsWithLookAlikes.test(character)) return String.fromCharCode(shape)
  const lower = character.toLowerCase()
  return wholeWords.get(lower) ?? lower
}

/** The Latin letter that a character of another script looks like; that of its decomposition counts. */
export function latinShapeOf(code: number): number | undefined {
  const known = latinLookAlikes.get(code)
  if (known !== undefined) return known
  const [first, ...more] = bare(String.fromCodePoint(code).normalize('NFKD'))
  return first === undefined || more.length > 0 ? undefined : latinLookAlikes.get(first.codePointAt(0)!)
}

function kindOfCharacter(spelling: string, code: number): Kind {
  const kind = kindOfText(spelling)
  if (kind === Kind.letter && scriptsWithLookAlikes.test(spelling))
    return latinShapeOf(code) === undefined ? Kind.foreign : Kind.lookAlike
  return kind
}

function kindOfText(spelling: string): Kind {
  const [character = ''] = spelling
  if (signs.includes(character) && character !== '') return Kind.sign
  if (joining.test(character)) return Kind.joining
  if (digits.test(character)) return Kind.digit
  if (character.length > 1 || aloneScripts.test(character)) return Kind.alone
  return letters.test(character) ? Kind.letter : Kind.separator
}

/** What a UTF-16 unit of a folded text is. */
export function kindOf(unit: number): Kind {
  return pageOf(unit).kinds[unit & 0xff] as Kind
}
