import { bare } from './characters.ts'
import type { Span } from './words.ts'

/** A text as patterns see it a second time: full width is plain, and what shows nothing is gone. */
export interface PlainText {
  readonly text: string
  /** The span of the original that a span of the plain text stands for. */
  toOriginal(span: Span): Span
}

const beyondAscii = /[^\0-\x7f]/

/** @returns undefined where it is the text itself */
export function plainOf(text: string): PlainText | undefined {
  // Letters with marks and emoji are plain as they are: most texts end here.
  if (!beyondAscii.test(text) || bare(text.normalize('NFKC')) === text) return undefined
  const starts: number[] = []
  let plain = ''
  let at = 0
  for (const character of text) {
    const own = bare(character.normalize('NFKC')).normalize('NFC')
    for (let index = 0; index < own.length; index += 1) starts.push(at)
    plain += own
    at += character.length
  }
  if (plain === text) return undefined
  starts.push(text.length)
  return { text: plain, toOriginal: ({ start, end }) => ({ start: starts[start]!, end: starts[end]! }) }
}
