import { createRandom, type Random } from '../../../faults/support/random.ts'

/** A word, and how somebody writes it who does not want it to be found. */
export interface Evasion {
  readonly kind: EvasionKind
  readonly word: string
  readonly written: string
}

export type EvasionKind = keyof typeof kinds

/** Harmless words in the place of others; some have repeated letters, or end like other words. */
export const codeWords =
  `turnip noodle badger cabbage muffin pickle walnut bucket lantern kettle hamster trumpet biscuit waffle pillow
  button magnet parrot goblin rocket spinach mustard dolphin penguin cheese egg fig pea jam bee kiwi plum beet`
    .trim()
    .split(/\s+/)

const leet: Readonly<Record<string, string>> = {
  a: '4@',
  b: '8',
  e: '3',
  g: '9',
  i: '1!',
  l: '1',
  o: '0',
  s: '5$',
  t: '7',
}

/** Of Cyrillic, Greek, Armenian, Cherokee, and of Latin beyond ASCII. */
const lookAlikes: Readonly<Record<string, string>> = {
  a: 'аαɑ',
  b: 'ЬʙƄ',
  c: 'сϲᴄ',
  d: 'ԁᴅ',
  e: 'еҽ',
  g: 'ɡց',
  h: 'һհ',
  i: 'іıɪ',
  j: 'ј',
  k: 'кΚᴋ',
  l: 'Iʟ',
  m: 'мМᴍ',
  n: 'ոɴ',
  o: 'оοօ',
  p: 'рρ',
  q: 'ԛ',
  r: 'гʀ',
  s: 'ѕꜱ',
  t: 'тΤᴛ',
  u: 'սυᴜ',
  v: 'ѵνᴠ',
  w: 'ԝᴡ',
  x: 'хΧ',
  y: 'уγ',
  z: 'ᴢ',
}

const zeroWidth = ['\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u034f', '\ufe0f', '\u3164']
const marks = ['\u0300', '\u0301', '\u0302', '\u0308', '\u0323', '\u0336', '\u0338', '\u035f', '\u20d0']
/** Where a begins: full width, bold, script, in circles, in squares, in dark squares. */
const alphabets = [0xff41, 0x1d41a, 0x1d4ea, 0x24d0, 0x1f130, 0x1f170]
const gaps = [' ', '.', '-', '_', ' - ', '*', '  ', '·', ',']

const kinds = {
  leet: (word: string, random: Random) => some(word, random, (letter) => pick(leet[letter], random)),
  spacing: (word: string, random: Random) => [...word].join(random.pick(gaps)),
  'one letter apart': (word: string, random: Random) => {
    const gap = random.pick(['.', '-', '_', '~'])
    return random.chance(0.5) ? word[0] + gap + word.slice(1) : word.slice(0, -1) + gap + word.at(-1)
  },
  'zero-width': (word: string, random: Random) => some(word, random, (letter) => letter + random.pick(zeroWidth)),
  homoglyphs: (word: string, random: Random) => some(word, random, (letter) => pick(lookAlikes[letter], random)),
  'all homoglyphs': (word: string, random: Random) =>
    [...word].map((letter) => pick(lookAlikes[letter], random) ?? letter).join(''),
  'full width': (word: string, random: Random) => {
    const first = random.pick(alphabets)
    return [...word].map((letter) => String.fromCodePoint(first + letter.charCodeAt(0) - 97)).join('')
  },
  'combining marks': (word: string, random: Random) =>
    some(word, random, (letter) =>
      Array.from({ length: random.between(1, 4) }, () => random.pick(marks)).reduce(
        (text, mark) => text! + mark,
        letter,
      ),
    ),
  repeats: (word: string, random: Random) => some(word, random, (letter) => letter.repeat(random.between(2, 6))),
  blot: (word: string) => word.replace(/(?<=.)[aeiou](?=.)/, '*'),
  case: (word: string, random: Random) => some(word, random, (letter) => letter.toUpperCase()),
} as const

/** @returns as many of each kind, the same for the same seed; each differs from its word */
export function makeEvasions(seed: number, ofEachKind: number): Evasion[] {
  const random = createRandom(seed)
  const names = Object.keys(kinds) as EvasionKind[]
  return names.flatMap((kind) => {
    const found: Evasion[] = []
    while (found.length < ofEachKind) {
      const word = random.pick(codeWords)
      const written = kinds[kind](word, random)
      if (written !== word) found.push({ kind, word, written })
    }
    return found
  })
}

/** Changes one letter at least, and about half of those that can be changed. */
function some(word: string, random: Random, change: (letter: string) => string | undefined): string {
  const letters = [...word]
  const changeable = letters.flatMap((letter, index) => (change(letter) === undefined ? [] : [index]))
  const sure = changeable.length === 0 ? undefined : random.pick(changeable)
  return letters
    .map((letter, index) => (index === sure || random.chance(0.5) ? (change(letter) ?? letter) : letter))
    .join('')
}

function pick(choices: string | undefined, random: Random): string | undefined {
  const all = [...(choices ?? '')]
  return all.length === 0 ? undefined : random.pick(all)
}
