import { createPauses } from '../pauses.ts'

/** Levels of objects and arrays that are put together member by member: a body, and the records in it. */
const portioned = 2

/**
 * Parses a JSON text as `JSON.parse` does, one record at a time, and lets others have their turn between them: 16 MB at
 * once would keep everybody else waiting.
 * @throws SyntaxError as `JSON.parse`
 */
export async function parseLargeJson(text: string): Promise<unknown> {
  const pause = createPauses()
  let at = 0

  const skipBlanks = () => {
    while (at < text.length && blanks.has(text.charCodeAt(at))) at++
    return text[at]
  }
  const expect = (character: string) => {
    if (skipBlanks() !== character) throw unexpected(text, at)
    at++
  }
  const parseWhole = () => {
    skipBlanks()
    const end = endOfValue(text, at)
    const value: unknown = JSON.parse(text.slice(at, end))
    at = end
    return value
  }

  const parse = async (level: number): Promise<unknown> => {
    const opening = skipBlanks()
    if (level === portioned || (opening !== '{' && opening !== '[')) {
      await pause()
      return parseWhole()
    }
    const closing = opening === '{' ? '}' : ']'
    const keys: string[] = []
    const values: unknown[] = []
    at++
    if (skipBlanks() !== closing) {
      for (;;) {
        if (opening === '{') {
          if (skipBlanks() !== '"') throw unexpected(text, at)
          keys.push(parseWhole() as string)
          expect(':')
        }
        values.push(await parse(level + 1))
        if (skipBlanks() === closing) break
        expect(',')
      }
    }
    at++
    // Not by assignment: that of `__proto__` would not make a member.
    return opening === '[' ? values : Object.fromEntries(keys.map((key, place) => [key, values[place]]))
  }

  const value = await parse(0)
  if (skipBlanks() !== undefined) throw unexpected(text, at)
  return value
}

const blanks = new Set([' ', '\t', '\n', '\r'].map((blank) => blank.charCodeAt(0)))

/** Where a value ends that begins here, as far as its brackets and quotes tell; whether it is sound is for the parser to say. */
function endOfValue(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return endOfString(text, start)
  if (first !== '{' && first !== '[') {
    literalEnd.lastIndex = start
    return literalEnd.exec(text)?.index ?? text.length
  }
  let depth = 0
  structure.lastIndex = start
  for (;;) {
    const found = structure.exec(text)
    if (found === null) throw unexpected(text, text.length)
    if (found[0] === '"') structure.lastIndex = endOfString(text, found.index)
    else if (found[0] === '{' || found[0] === '[') depth++
    else if (--depth === 0) return structure.lastIndex
  }
}

const structure = /["{}[\]]/g
const literalEnd = /[,\]}\s]/g

/** @param start of its opening quote */
function endOfString(text: string, start: number): number {
  for (let end = start + 1; ; end++) {
    end = text.indexOf('"', end)
    if (end === -1) throw unexpected(text, text.length)
    let escapes = 0
    while (text[end - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return end + 1
  }
}

function unexpected(text: string, at: number): SyntaxError {
  if (at >= text.length) return new SyntaxError('Unexpected end of JSON input')
  return new SyntaxError(`Unexpected token '${text[at]}' in JSON at position ${at}`)
}
