import { LRUCache } from 'lru-cache'

/** Blanks around a name are left to `namedBy`: a pattern with them takes the third power of the length of what is not closed. */
const placeholder = /\{\{([^{}]*)\}\}/g

/** Whether a placeholder begins and does not end. */
export function findUnclosed(text: string): boolean {
  const rest = text.replaceAll(placeholder, '')
  return rest.includes('{{')
}

/** What stands in the place of a value, or a text between two of them. */
type Part = string | Named

interface Named {
  /** The names on the way to it, and the same beginning with `message`. */
  readonly path: readonly string[]
  readonly ofMessage: readonly string[]
  /** The forms of what is counted. */
  readonly one: string | undefined
  readonly other: string | undefined
}

/** Those that were filled last: each is filled for every notification. */
const parsed = new LRUCache<string, readonly Part[]>({ max: 1_000 })

function partsOf(template: string): readonly Part[] {
  const known = parsed.get(template)
  if (known !== undefined) return known
  const parts: Part[] = []
  let at = 0
  for (const { 0: whole, 1: named = '', index } of template.matchAll(placeholder)) {
    parts.push(template.slice(at, index), namedBy(named))
    at = index + whole.length
  }
  parts.push(template.slice(at))
  parsed.set(template, parts)
  return parts
}

/** Forms may follow a path: `messages.length | message | messages` is `1 message`, `2 messages`. */
function namedBy(text: string): Named {
  const [path = '', one, other] = text.split('|').map((part) => part.trim())
  const names = path.split('.')
  return { path: names, ofMessage: ['message', ...names], one, other }
}

/**
 * Fills `{{message.data.text}}` and the like. A path may also leave out `message.`, and be followed by the forms of what is
 * counted. Only the data's own members count.
 * @returns undefined when anything that is named is not there; an empty text is there
 */
export function fill(template: string, data: object): string | undefined {
  let filled = ''
  for (const part of partsOf(template)) {
    const text = typeof part === 'string' ? part : filledBy(part, data)
    if (text === undefined) return undefined
    filled += text
  }
  return filled
}

/** The same, with what is not there left empty. */
export function fillLoosely(template: string, data: object): string {
  let filled = ''
  for (const part of partsOf(template)) filled += typeof part === 'string' ? part : (filledBy(part, data) ?? '')
  return filled
}

function filledBy({ path, ofMessage, one, other }: Named, data: object): string | undefined {
  const value = valueAt(path, data) ?? valueAt(ofMessage, data)
  if (value === undefined || one === undefined || other === undefined) return value
  return `${value} ${value === '1' ? one : other}`
}

/** A text, a number or a truth value; lists give their length. */
function valueAt(path: readonly string[], data: object): string | undefined {
  let value: unknown = data
  for (const name of path) {
    if (Array.isArray(value) && name === 'length') {
      value = value.length
      continue
    }
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
