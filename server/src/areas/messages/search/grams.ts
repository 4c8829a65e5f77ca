/** Scripts that are written without blanks: first and last code points. Two of their characters already tell much. */
const wideRanges = [
  [0x0e00, 0x0eff], // Thai, Lao
  [0x1000, 0x109f], // Burmese
  [0x1100, 0x11ff], // Hangul letters
  [0x1780, 0x17ff], // Khmer
  [0x3005, 0x3007],
  [0x3040, 0x312f], // kana, Bopomofo
  [0x31f0, 0x31ff],
  [0x3400, 0x4dbf], // Han
  [0x4e00, 0x9fff],
  [0xa9e0, 0xa9ff],
  [0xaa60, 0xaa7f],
  [0xac00, 0xd7af], // Hangul syllables
  [0xf900, 0xfaff],
  [0x1b000, 0x1b16f],
  [0x20000, 0x3ffff],
] as const

/** Most conditions in one query. More would not find less, since what is found is compared with the whole text anyway. */
const maxConditions = 16

function gramLength(codePoint: number): 2 | 3 {
  if (codePoint < 0x0e00) return 3
  for (const [first, last] of wideRanges) if (codePoint >= first && codePoint <= last) return 2
  return 3
}

const blank = 0x20
const widthOf = (codePoint: number) => (codePoint > 0xffff ? 2 : 1)

/**
 * The grams of a folded text: at each character but blanks two or three characters, by its script, and each character of a
 * script without blanks on its own. At the end of the text they are shorter, unless only whole ones are asked for.
 */
function gramsOf(text: string, { onlyWhole = false } = {}): Set<string> {
  const grams = new Set<string>()
  const { length } = text
  for (let start = 0; start < length; ) {
    const codePoint = text.codePointAt(start) as number
    const next = start + widthOf(codePoint)
    if (codePoint !== blank) {
      let end = next
      let missing = gramLength(codePoint) - 1
      if (missing === 1) grams.add(text.slice(start, next))
      for (; missing > 0 && end < length; missing--) end += widthOf(text.codePointAt(end) as number)
      if (missing === 0 || !onlyWhole) grams.add(text.slice(start, end))
    }
    start = next
  }
  return grams
}

/** Grams of two apps do not meet in the index, so that what one holds costs the other nothing. */
const prefixOf = (appId: number) => `${appId}:`

/** Conversations are indexed beside the grams; no gram begins with this. */
export const conversationKeyOf = (conversation: number) => `'@${conversation}'`

const quote = (text: string) => text.replace(/['\\]/g, '$&$&')

/** The text of the `tsvector` by which a message is found, empty when it says nothing. @param text folded */
export function vectorOf(appId: number, conversation: number, text: string): string {
  const prefix = prefixOf(appId)
  const grams = [...gramsOf(text)]
  const quoted = /['\\]/.test(text) ? grams.map(quote) : grams
  return grams.length === 0 ? '' : `${conversationKeyOf(conversation)} '${prefix}${quoted.join(`' '${prefix}`)}'`
}

/** What to ask the index for. */
export interface GramQuery {
  /** The text of a `tsquery`. */
  readonly text: string
  /** The text is shorter than a gram: all that begin with it are asked for. */
  readonly isBeginning: boolean
}

/** Finds every message of an app whose text contains another, and a few that do not. @param text folded, not empty */
export function gramQuery(appId: number, text: string): GramQuery {
  const prefix = prefixOf(appId)
  const whole = [...gramsOf(text, { onlyWhole: true })]
  // Single characters are parts of longer grams, where there are any.
  const longer = whole.filter((gram) => gram.length > widthOf(gram.codePointAt(0) as number))
  const grams = spread(longer.length > 0 ? longer : whole)
  return grams.length === 0
    ? { text: `'${prefix}${quote(text)}':*`, isBeginning: true }
    : { text: grams.map((gram) => `'${prefix}${quote(gram)}'`).join(' & '), isBeginning: false }
}

/** As many as are needed, evenly out of all. */
function spread(grams: readonly string[]): string[] {
  if (grams.length <= maxConditions) return [...grams]
  const step = grams.length / maxConditions
  return Array.from({ length: maxConditions }, (_, i) => grams[Math.floor(i * step)] as string)
}
