import { setImmediate as otherWork } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { RE2JS, RE2JSException } from 're2js'
import { canFindPlace, countPlace, meter, PatternBudget } from './pattern-budget.ts'
import { PatternScreen } from './pattern-screen.ts'
import { type Requirement, requirementOf } from './requirement.ts'
import type { Span } from './words.ts'

/** A pattern of an engine, compiled. */
export interface Pattern {
  /** Its place among those of the engine, which is that in its screen. */
  readonly number: number
  /** Linear in the length of the text, whatever it says. */
  readonly expression: RE2JS
}

/** Instructions of one pattern. `[a-z]{1,50}` has about a hundred. */
const largestProgram = 2000

/** Bytes that one pattern may remember of what it has met; beyond them it forgets, and is slower. */
const memory = 512 * 1024

/** Compiles a pattern that `flawOfPattern` lets through. Case does not matter, unless it says `(?-i)`. */
export function compilePattern(source: string): RE2JS {
  const pattern = RE2JS.compile(source, RE2JS.CASE_INSENSITIVE)
  const { dfa } = pattern.re2()
  dfa.stateBudget = Math.min(dfa.stateBudget, memory)
  dfa.memBudget = Math.min(dfa.memBudget, memory)
  meter(pattern)
  return pattern
}

/** Milliseconds of compiling after which others have their turn. */
const turnMs = 5

/** Compiles the patterns of an engine, each once, and lets others have their turn meanwhile. */
export class PatternCompiler {
  readonly #known = new Map<string, Pattern>()
  readonly #requirements: Requirement[] = []
  readonly #sizes: number[] = []
  #turnEnds = performance.now() + turnMs

  async compile(sources: readonly string[]): Promise<Pattern[]> {
    const patterns: Pattern[] = []
    for (const source of sources) {
      if (performance.now() > this.#turnEnds) {
        await otherWork()
        this.#turnEnds = performance.now() + turnMs
      }
      patterns.push(this.#known.get(source) ?? this.#add(source))
    }
    return patterns
  }

  /** Tells of texts which of the patterns compiled so far they may meet. */
  screen(): PatternScreen {
    return new PatternScreen(this.#requirements)
  }

  /** What the patterns compiled so far may cost a message. */
  budget(): PatternBudget {
    return new PatternBudget(this.#sizes)
  }

  #add(source: string): Pattern {
    const pattern = { number: this.#requirements.length, expression: compilePattern(source) }
    this.#requirements.push(requirementOf(source))
    this.#sizes.push(pattern.expression.programSize())
    this.#known.set(source, pattern)
    return pattern
  }
}

interface Inspected {
  readonly flaw?: string
  /** Instructions; 0 where it cannot be used. */
  readonly size: number
}

/** Those looked at last: a large pattern takes tens of milliseconds to compile. */
const inspected = new LRUCache<string, Inspected>({ max: 2_000 })

function inspect(source: string): Inspected {
  const known = inspected.get(source)
  if (known !== undefined) return known
  const found = inspectAnew(source)
  inspected.set(source, found)
  return found
}

function inspectAnew(source: string): Inspected {
  const flaw = source === '' ? 'it is empty' : flawOfQuantifiers(source)
  if (flaw !== undefined) return { flaw, size: 0 }
  try {
    const pattern = compilePattern(source)
    const size = pattern.programSize()
    if (size > largestProgram) return { flaw: 'it is too large: use smaller repetitions', size: 0 }
    return pattern.test('') ? { flaw: 'it is met by an empty text', size: 0 } : { size }
  } catch (error) {
    if (error instanceof RE2JSException) return { flaw: `it is no valid pattern: ${error.message}`, size: 0 }
    throw error
  }
}

/** Why a pattern is refused, as the end of a sentence; undefined where it is not. */
export function flawOfPattern(source: string): string | undefined {
  return inspect(source).flaw
}

/** Instructions of patterns together. Lets others have their turn meanwhile; each is known afterwards. */
export async function sizeOfPatterns(sources: readonly string[]): Promise<number> {
  let sum = 0
  for (const source of sources) {
    if (!inspected.has(source)) await otherWork()
    sum += inspect(source).size
  }
  return sum
}

interface Group {
  /** There is a repetition in it whose number is not fixed. */
  varies: boolean
}

/** Finds `*`, `+`, `{n,}` and repetitions of what varies in length, outside of classes. */
function flawOfQuantifiers(source: string): string | undefined {
  const groups: Group[] = [{ varies: false }]
  let closed: Group | undefined
  for (let at = 0; at < source.length; at += 1) {
    const sign = source[at]!
    const before = closed
    closed = undefined
    if (sign === '\\') {
      at = endOfEscape(source, at)
    } else if (sign === '[') {
      at = endOfClass(source, at)
    } else if (sign === '(') {
      groups.push({ varies: false })
      if (source[at + 1] === '?') at += 1
    } else if (sign === ')') {
      closed = groups.length > 1 ? groups.pop() : undefined
      if (closed?.varies) groups.at(-1)!.varies = true
    } else if (sign === '*' || sign === '+') {
      return `\`${sign}\` has no upper bound: write a number, such as {1,20}`
    } else if (sign === '{') {
      const quantifier = /^\{(\d+)(,?)(\d*)\}/.exec(source.slice(at))
      if (quantifier === null) continue
      const [whole, least, comma, most] = quantifier
      if (comma !== '' && most === '') return `\`${whole}\` has no upper bound`
      if (before?.varies && Number(most === '' ? least : most) > 1)
        return `\`${whole}\` repeats what is repeated itself`
      if (comma !== '' && least !== most) groups.at(-1)!.varies = true
      at += whole.length - 1
    }
  }
  return undefined
}

/** `\Q...\E` is one escape. @returns its last place */
function endOfEscape(source: string, at: number): number {
  if (source[at + 1] !== 'Q') return at + 1
  const end = source.indexOf('\\E', at + 2)
  return end < 0 ? source.length : end + 1
}

/** @returns the place of the bracket that closes a class */
function endOfClass(source: string, at: number): number {
  let end = at + 1
  if (source[end] === '^') end += 1
  if (source[end] === ']') end += 1
  for (; end < source.length && source[end] !== ']'; end += 1) {
    if (source[end] === '\\') end = endOfEscape(source, end)
    else if (source.startsWith('[:', end)) end = Math.max(end, source.indexOf(':]', end) + 1)
  }
  return end
}

/** Where a pattern is first met; the whole text, where it takes too long to find out. */
export function findPattern({ expression }: Pattern, text: string): Span | undefined {
  if (!expression.test(text)) return undefined
  if (!canFindPlace(expression, text.length)) return { start: 0, end: text.length }
  const matcher = expression.matcher(text)
  if (!matcher.find()) return undefined
  const span = { start: matcher.start(), end: matcher.end() }
  countPlace(expression, span.end)
  return span
}

/** Whether a pattern is met by a text as a whole. */
export function isPattern({ expression }: Pattern, text: string): boolean {
  return expression.testExact(text)
}
