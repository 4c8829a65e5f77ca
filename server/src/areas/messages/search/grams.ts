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

/** Most conditions in one query; more would not find less, since hits are compared with the whole text anyway. */
const maxConditions = 16

function gramLength(codePoint: number): 2 | 3 {
  if (codePoint < 0x0e00) return 3
  return wideRanges.some(([first, last]) => codePoint >= first && codePoint <= last) ? 2 : 3
}

/** A place in a text at which a gram begins. */
interface Place {
  readonly gram: string
  /** Nothing is missing at its end. */
  readonly whole: boolean
}

/** The grams of a folded text: at each character but blanks, two or three characters by its script, fewer at the end. */
function* placesIn(text: string): Iterable<Place> {
  const starts: number[] = []
  for (let at = 0; at < text.length; at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1) starts.push(at)
  for (const [place, start] of starts.entries()) {
    if (text[start] === ' ') continue
    const end = place + gramLength(text.codePointAt(start) as number)
    yield { gram: text.slice(start, starts[end]), whole: end <= starts.length }
  }
}

/** Grams of apps do not meet in the index, so that what one app holds costs another nothing. */
const ofApp = (appId: number, gram: string) => lexeme(`${appId}:${gram}`)
/** Keys of conversations are indexed beside the grams; no gram begins with this. */
const ofConversation = (conversation: number) => lexeme(`@${conversation}`)

function lexeme(text: string): string {
  return `'${text.replace(/['\\]/g, '$&$&')}'`
}

/** The text of a `tsvector` by which a message is found. @param text folded */
export function vectorOf(appId: number, conversation: number, text: string): string {
  const grams = new Set<string>()
  for (const { gram } of placesIn(text)) grams.add(gram)
  if (grams.size === 0) return ''
  return [ofConversation(conversation), ...Array.from(grams, (gram) => ofApp(appId, gram))].join(' ')
}

/**
 * The text of a `tsquery` that finds every message whose text contains another, and some that do not.
 * @param text folded, not empty
 * @param conversations only in these, where given
 */
export function vectorQuery(appId: number, text: string, conversations?: readonly number[]): string {
  const places = [...placesIn(text)]
  const whole = places.filter((place) => place.whole)
  const conditions =
    whole.length > 0
      ? spread([...new Set(whole.map(({ gram }) => gram))]).map((gram) => ofApp(appId, gram))
      : [`${ofApp(appId, text)}:*`]
  if (conversations !== undefined) conditions.push(`(${conversations.map(ofConversation).join(' | ')})`)
  return conditions.join(' & ')
}

/** As many as are needed, evenly out of all. */
function spread(grams: readonly string[]): string[] {
  if (grams.length <= maxConditions) return [...grams]
  const step = grams.length / maxConditions
  return Array.from({ length: maxConditions }, (_, i) => grams[Math.floor(i * step)] as string)
}
