/** What every text has that a pattern is met by. */
export interface Requirement {
  /** Digits from 0 to 9, at least so many. */
  readonly digits: number
  /** One of these stands in it, as `lowerCase` of pattern-screen.ts has it; undefined where nothing is known. */
  readonly literals: readonly string[] | undefined
}

/** What a part of a pattern requires. */
interface Part extends Requirement {
  /** All texts that it is met by, in lower case; undefined where they are many, or not known. */
  readonly exact: readonly string[] | undefined
}

const nothing: Part = { digits: 0, literals: undefined, exact: [''] }
const anything: Part = { digits: 0, literals: undefined, exact: undefined }
const digit: Part = { digits: 1, literals: undefined, exact: undefined }
/** More alternatives say too little to be looked for. */
const mostAlternatives = 16
/** The beginning of a long one says as much as the whole. */
const longestLiteral = 24

/** Thrown where a pattern says what is not read here; nothing is known of it then. */
class Unread extends Error {}

/**
 * Reads what a pattern requires, so that it need not be run on texts without. It knows what people write in patterns, and
 * nothing of the rest: then it requires less, or nothing.
 * @param source a pattern that compiles
 */
export function requirementOf(source: string): Requirement {
  try {
    const { digits, literals } = sealed(new Reader(source).readWhole())
    return { digits, literals }
  } catch (error) {
    if (error instanceof Unread) return { digits: 0, literals: undefined }
    throw error
  }
}

const groupStart = /^\((?:\?(?:P?<\w+>|[a-zA-Z-]*:))?/
const flags = /^\(\?[a-zA-Z-]+\)/
const quantifier = /^(?:([?*+])|\{(\d+)(,?)(\d*)\})\??/
const digitClass = /^\[(?:\d-\d|\d|\\d)+\]/
/** A class of few characters, each for itself. */
const plainClass = /^\[([\w.:@/,;!?=%&# ]{1,4})\]/
const otherClass = /^\[\^?\]?(?:\[:\^?\w+:\]|\\[^QpPx0-7]|[^\]\\])*\]/

/** Goes through a pattern once. */
class Reader {
  #rest: string

  constructor(source: string) {
    this.#rest = source
  }

  readWhole(): Part {
    const whole = this.#readAlternatives()
    if (this.#rest !== '') throw new Unread()
    return whole
  }

  #take(expression: RegExp): RegExpExecArray | undefined {
    const found = expression.exec(this.#rest)
    if (found === null) return undefined
    this.#rest = this.#rest.slice(found[0].length)
    return found
  }

  #readAlternatives(): Part {
    let all = this.#readSequence()
    while (this.#rest.startsWith('|')) {
      this.#rest = this.#rest.slice(1)
      all = either(all, this.#readSequence())
    }
    return all
  }

  #readSequence(): Part {
    const sequence = new Sequence()
    while (this.#rest !== '' && this.#rest[0] !== '|' && this.#rest[0] !== ')') sequence.add(this.#readQuantified())
    return sequence.end()
  }

  #readQuantified(): Part {
    const part = this.#readOne()
    const found = this.#take(quantifier)
    if (found === undefined) return part
    const [, sign, least, comma, most] = found
    if (sign !== undefined) return repeated(part, sign === '+' ? 1 : 0, sign === '?' ? 1 : undefined)
    const times = Number(least)
    if (comma === '') return repeated(part, times, times)
    return repeated(part, times, most === '' ? undefined : Number(most))
  }

  #readOne(): Part {
    if (this.#take(flags)) {
      // It would be about what stands before.
      if (quantifier.test(this.#rest)) throw new Unread()
      return nothing
    }
    if (this.#take(groupStart)) {
      if (this.#rest.startsWith('?')) throw new Unread()
      const inside = this.#readAlternatives()
      if (this.#take(/^\)/) === undefined) throw new Unread()
      return inside
    }
    if (this.#rest.startsWith('[')) return this.#readClass()
    if (this.#rest.startsWith('\\')) return this.#readEscape()
    const [character] = this.#take(/^./su)!
    if (character === '^' || character === '$') return nothing
    return character === '.' ? anything : literal(character)
  }

  #readClass(): Part {
    if (this.#take(digitClass)) return digit
    const plain = this.#take(plainClass)
    if (plain !== undefined) return Array.from(plain[1]!, literal).reduce(either)
    if (this.#take(otherClass) === undefined) throw new Unread()
    return anything
  }

  #readEscape(): Part {
    const escaped = this.#take(/^\\(.)/su)?.[1]
    if (escaped === undefined) throw new Unread()
    if (escaped === 'd') return digit
    if ('DwWsS'.includes(escaped)) return anything
    if ('bBAz'.includes(escaped)) return nothing
    if (/[^\w\s\x80-\u{10ffff}]/u.test(escaped)) return literal(escaped)
    throw new Unread()
  }
}

function literal(character: string): Part {
  if (character > '\x7f') return anything
  return { digits: /\d/.test(character) ? 1 : 0, literals: undefined, exact: [character.toLowerCase()] }
}

function either(one: Part, other: Part): Part {
  const digits = Math.min(one.digits, other.digits)
  const exact = one.exact && other.exact && union(one.exact, other.exact)
  if (exact !== undefined) return { digits, literals: undefined, exact }
  const [first, second] = [sealed(one).literals, sealed(other).literals]
  return { digits, literals: first && second && union(first, second), exact: undefined }
}

/** Parts that follow each other. */
class Sequence {
  #digits = 0
  #literals: readonly string[] | undefined
  /** What the last parts are, as far as that is known exactly, and whether these are all parts. */
  #end: readonly string[] | undefined = ['']
  #isWhole = true

  add({ digits, literals, exact }: Part): void {
    this.#digits += digits
    this.#literals = better(this.#literals, literals)
    const longer = this.#end && exact && product(this.#end, exact)
    if (longer === undefined) {
      this.#literals = better(this.#literals, withoutEmpty(this.#end))
      this.#isWhole = false
    }
    this.#end = longer ?? exact
  }

  end(): Part {
    const part = { digits: this.#digits, literals: this.#literals, exact: this.#end }
    return this.#isWhole ? part : sealed(part)
  }
}

function repeated(part: Part, least: number, most: number | undefined): Part {
  if (least === 0) {
    const exact = most === 1 && part.exact ? union(part.exact, ['']) : undefined
    return { ...anything, exact }
  }
  const digits = least * part.digits
  if (most === 1) return part
  let exact = least === most && least <= longestLiteral ? part.exact : undefined
  for (let time = 1; time < least && exact !== undefined; time += 1) exact = product(exact, part.exact!)
  return exact === undefined ? { ...sealed(part), digits } : { digits, literals: part.literals, exact }
}

/** Where nothing more can follow, what is known exactly is one of the literals, too. */
function sealed({ digits, literals, exact }: Part): Part {
  return { digits, literals: better(literals, withoutEmpty(exact)), exact: undefined }
}

/** Alternatives of which one must stand there; none, where it may be the empty one. */
function withoutEmpty(exact: readonly string[] | undefined): readonly string[] | undefined {
  return exact?.includes('') ? undefined : exact
}

/** The one whose shortest literal is longer: it stands in fewer texts. */
function better(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return shortest(other) > shortest(one) ? other : one
}

const shortest = (literals: readonly string[]) => Math.min(...literals.map(({ length }) => length))

function union(one: readonly string[], other: readonly string[]): readonly string[] | undefined {
  const all = [...new Set([...one, ...other])]
  return all.length > mostAlternatives ? undefined : all
}

function product(one: readonly string[], other: readonly string[]): readonly string[] | undefined {
  if (one.length * other.length > mostAlternatives) return undefined
  const all = one.flatMap((start) => other.map((end) => start + end))
  return all.some(({ length }) => length > longestLiteral) ? undefined : all
}
