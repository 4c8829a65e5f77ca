import { type Automaton, buildAutomaton, step } from './automaton.ts'
import type { Requirement } from './requirement.ts'

/**
 * Finds in one pass over a text which of many patterns it may meet. Most texts have nothing that patterns require, and
 * running each costs as much as folding a quarter of the text.
 */
export class PatternScreen {
  /** Of all literals; the patterns that require the one with key `k` are `#requiring[k - 1]`. */
  readonly #automaton: Automaton
  readonly #requiring: ReadonlyArray<readonly number[]>
  readonly #digits: Uint16Array
  /** 1 for each ASCII character that a literal begins with. */
  readonly #begins = new Uint8Array(128)
  /** 1 for each pattern of which no literal is known. */
  readonly #unknown: Uint8Array

  /** @param requirements of each pattern; the place there is its number */
  constructor(requirements: readonly Requirement[]) {
    const requiring = new Map<string, number[]>()
    requirements.forEach(({ literals = [] }, number) => {
      for (const literal of literals) {
        const known = requiring.get(literal)
        if (known === undefined) requiring.set(literal, [number])
        else known.push(number)
      }
    })
    const keys = [...requiring.keys()].sort()
    this.#automaton = buildAutomaton(keys)
    for (const key of keys) this.#begins[key.charCodeAt(0)] = 1
    this.#requiring = keys.map((key) => requiring.get(key)!)
    this.#digits = Uint16Array.from(requirements, ({ digits }) => digits)
    this.#unknown = Uint8Array.from(requirements, ({ literals }) => (literals === undefined ? 1 : 0))
  }

  /** @returns for each pattern, by its number, 1 where the text may meet it, and 0 where it cannot */
  screen(text: string): Uint8Array {
    const possible = this.#unknown.slice()
    const lower = lowerCase(text)
    const { keys, shorter } = this.#automaton
    let digits = 0
    let state = 0
    for (let index = 0; index < lower.length; index += 1) {
      const code = lower.charCodeAt(index)
      if (code >= 0x30 && code <= 0x39) digits += 1
      // Most characters begin nothing, and there is nothing else to be looked up.
      if (state === 0 && code < 128 && this.#begins[code] === 0) continue
      state = step(this.#automaton, state, code)
      for (let at = state; at !== 0; at = shorter[at]!)
        if (keys[at] !== 0) for (const number of this.#requiring[keys[at]! - 1]!) possible[number] = 1
    }
    for (let number = 0; number < possible.length; number += 1) if (this.#digits[number]! > digits) possible[number] = 0
    return possible
  }
}

/** As patterns compare letters from a to z: the long s and the sign of Kelvin are such, too. */
function lowerCase(text: string): string {
  const lower = text.toLowerCase()
  return lower.includes('\u017f') ? lower.replaceAll('\u017f', 's') : lower
}
