/** What GSM 03.38 writes in one septet, and in two. */
const basic = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
const extended = new Set('\f^{}\\[~]|€')

/** Lengths of the one segment that is alone, and of each where there are several: those say which they are. */
const sizes = { gsm: { alone: 160, each: 153 }, ucs2: { alone: 70, each: 67 } } as const

/** How an SMS is carried: one character that GSM-7 does not have makes all of it UCS-2, with less than half the room. */
export interface SmsSize {
  readonly encoding: 'gsm' | 'ucs2'
  readonly segments: number
}

/** Units that a character takes: septets, or halves of UTF-16. One that has two is not split between segments. */
function unitsOf(character: string, encoding: SmsSize['encoding']): number {
  if (encoding === 'ucs2') return character.length
  return extended.has(character) ? 2 : 1
}

export function sizeOfSms(text: string): SmsSize {
  const characters = [...text]
  const isGsm = characters.every((character) => basic.has(character) || extended.has(character))
  const encoding = isGsm ? 'gsm' : 'ucs2'
  const { alone, each } = sizes[encoding]
  const units = characters.map((character) => unitsOf(character, encoding))
  if (units.reduce((sum, one) => sum + one, 0) <= alone) return { encoding, segments: 1 }
  let segments = 1
  let filled = 0
  for (const one of units) {
    if (filled + one > each) {
      segments++
      filled = 0
    }
    filled += one
  }
  return { encoding, segments }
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Cuts a text between characters as people see them, so that it takes no more than some segments. */
export function cutSms(text: string, mostSegments: number): string {
  if (sizeOfSms(text).segments <= mostSegments) return text
  // No text is longer than what fits without any character of two units; far longer ones are not looked at to their end.
  const parts = Array.from(graphemes.segment(text.slice(0, sizes.gsm.alone * mostSegments)), ({ segment }) => segment)
  let [fits, tooLong] = [0, parts.length]
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2)
    if (sizeOfSms(cutAt(parts, middle)).segments <= mostSegments) fits = middle
    else tooLong = middle
  }
  return cutAt(parts, fits)
}

/** Three dots: the one character for them is not in GSM-7. */
function cutAt(parts: readonly string[], length: number): string {
  return `${parts.slice(0, length).join('').trimEnd()}...`
}
