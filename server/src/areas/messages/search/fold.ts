/** Characters that show nothing: soft hyphens, joiners, variation selectors; and NUL, which PostgreSQL does not take. */
const invisible = /[\0\p{Default_Ignorable_Code_Point}]/gu
const blanks = /\s+/gu
const plain = /^[\x20-\x7e]*$/

/**
 * A text in the form that is searched: compatibility forms as one (NFKC: full-width letters, ligatures, half-width kana),
 * without case, each run of blanks as one. Made here and nowhere else, since what PostgreSQL makes of case differs with
 * the locale of the database. Going through upper case makes `ß`, `ẞ` and `ss` the same, and the Turkish `ı`, `İ` and `i`;
 * the sigma at the end of a Greek word is like the others.
 */
export function foldText(text: string): string {
  if (plain.test(text)) return text.toLowerCase().replace(blanks, ' ').trim()
  return text
    .normalize('NFKC')
    .replace(invisible, '')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replaceAll('i\u0307', 'i')
    .replaceAll('ς', 'σ')
    .replace(blanks, ' ')
    .trim()
}

/** What of a message is searched, folded: its text, or the caption of its files; empty where there is none. */
export function searchedText(data: Readonly<Record<string, unknown>>): string {
  return typeof data.text === 'string' ? foldText(data.text) : ''
}
