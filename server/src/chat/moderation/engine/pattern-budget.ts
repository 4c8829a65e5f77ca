import type { RE2JS } from 're2js'
import type { Pattern } from './patterns.ts'

/*
 * What patterns may cost a message. They take linear time, but times the size of their programs: two hundred large ones and a text
 * made for them would keep everybody waiting for a minute. So steps are counted. Where a character leads from one known state of a pattern to
 * another, as nearly always, nothing is: such a run is charged by the length of the text, once.
 */

/** A step is an instruction that is looked at, some 20 ns: all those of a message take about a tenth of a second. */
const stepsPerMessage = 6_000_000
/** Of each instruction of a state of a pattern that was not known before. */
const stepsOfNew = 10
/** Of each character where all is known. */
const stepsOfKnown = 0.5

class OutOfStepsError extends Error {}
const outOfSteps = new OutOfStepsError('a pattern takes too long on a text')

/** What the run under way may still take. Patterns run one at a time, and outside of a budget as long as they need. */
let left = Number.POSITIVE_INFINITY

function take(steps: number): void {
  left -= steps
  if (left < 0) throw outOfSteps
}

/** Has a pattern count its steps. */
export function meter(expression: RE2JS): void {
  const { dfa } = expression.re2()
  const makeState = dfa.makeState.bind(dfa)
  const match = dfa.match.bind(dfa)
  dfa.makeState = (instructions, ...others) => {
    const state = makeState(instructions, ...others)
    take(stepsOfNew * (state ?? { nfaStates: instructions }).nfaStates.length)
    return state
  }
  dfa.match = (input, position, anchor) => {
    const isMet = match(input, position, anchor)
    // Too many states to remember: what runs now looks at all instructions for each character.
    if (isMet === null) take(mostStepsOf(expression, input.endPos()))
    return isMet
  }
}

/** What looking for the place of a match takes at most that ends there. */
function mostStepsOf(expression: RE2JS, end: number): number {
  return expression.programSize() * end
}

/** Whether a run can find the place of a match. */
export function canFindPlace(expression: RE2JS, end: number): boolean {
  return mostStepsOf(expression, end) <= left
}

export function countPlace(expression: RE2JS, end: number): void {
  left -= mostStepsOf(expression, end)
}

/**
 * The steps of one message. Half of them are set aside, for each pattern its share: so none can use up what another needs. The
 * other half is for whichever come first.
 */
export class PatternBudget {
  readonly #shares: Float64Array
  readonly #own: Float64Array
  #common = 0
  #cut = 0

  /** @param sizes of the programs of the patterns, by their numbers */
  constructor(sizes: readonly number[]) {
    const all = sizes.reduce((sum, size) => sum + size, 0)
    // A quarter alike, since each must look through the text at least, and a quarter by size.
    this.#shares = Float64Array.from(sizes, (size) => (stepsPerMessage / 4) * (1 / sizes.length + size / all))
    this.#own = this.#shares.slice()
  }

  /** Begins with the next message. */
  renew(): void {
    this.#own.set(this.#shares)
    this.#common = stepsPerMessage / 2
    this.#cut = 0
  }

  /** How often a pattern took too long on a text of the message, and was not met therefore. */
  get cut(): number {
    return this.#cut
  }

  /** Runs a pattern over a text. @returns undefined where that took too long */
  run<Found>({ number }: Pattern, text: string, look: () => Found): Found | undefined {
    const own = this.#own[number]!
    const given = own + this.#common
    left = given
    try {
      take(stepsOfKnown * text.length)
      return look()
    } catch (error) {
      if (error !== outOfSteps) throw error
      this.#cut += 1
      return undefined
    } finally {
      const taken = given - Math.max(0, left)
      this.#own[number] = Math.max(0, own - taken)
      this.#common -= Math.max(0, taken - own)
      left = Number.POSITIVE_INFINITY
    }
  }
}
