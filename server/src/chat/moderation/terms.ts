import type { ListCategory } from './model.ts'

/** Categories whose texts are cut up by lines: a comma is part of a pattern or a sentence. */
const byLine: ReadonlySet<ListCategory> = new Set(['pattern', 'sentence-similarity'])

function separatorsOf(category: ListCategory): string {
  return byLine.has(category) ? '\n' : ',\n'
}

/** Cuts up a text: words by commas and lines, patterns and sentences by lines. Blanks around them and empty ones go. */
export function cutText(category: ListCategory, text: string): string[] {
  const separator = byLine.has(category) ? /\r\n|\r|\n/ : /,|\r\n|\r|\n/
  return text.split(separator).flatMap(withoutBlanks)
}

/**
 * Cuts up a CSV file in the same way. What stands in quotes is one term, whatever it holds, and keeps its quotes: `unquote`
 * takes them away.
 */
export function cutCsv(category: ListCategory, file: string): string[] {
  const separators = separatorsOf(category)
  const text = file.startsWith('\ufeff') ? file.slice(1) : file
  const terms: string[] = []
  for (let at = 0; at < text.length; ) {
    const start = afterBlanks(text, at)
    const end = endOfQuoted(text, start, separators) ?? endOfPlain(text, start, separators)
    terms.push(...withoutBlanks(text.slice(start, end)))
    at = end + 1
  }
  return terms.filter((term) => term !== '""')
}

/** What a term of a CSV file says. */
export function unquote(term: string): string {
  if (term.length < 2 || !term.startsWith('"') || !term.endsWith('"')) return term
  return term.slice(1, -1).replaceAll('""', '"').replaceAll(/\s+/g, ' ').trim()
}

function withoutBlanks(term: string): string[] {
  const trimmed = term.trim()
  return trimmed === '' ? [] : [trimmed]
}

function afterBlanks(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\r') at++
  return at
}

function endOfPlain(text: string, from: number, separators: string): number {
  let at = from
  while (at < text.length && !separators.includes(text[at] as string)) at++
  return at
}

/** Where a term in quotes ends; undefined where none begins, or its quotes are none: they end elsewhere than the term. */
function endOfQuoted(text: string, from: number, separators: string): number | undefined {
  if (text[from] !== '"') return undefined
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    if (text[at + 1] === '"') {
      at++
      continue
    }
    const end = afterBlanks(text, at + 1)
    return end === text.length || separators.includes(text[end] as string) ? end : undefined
  }
  return undefined
}
