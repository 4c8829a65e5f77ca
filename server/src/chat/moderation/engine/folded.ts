/** Stands between words, at the beginning and at the end: a blank, a comma, the change from one script to another. */
export const separator = 0x20

/**
 * A text as words are looked for in it: letters without width, case, marks and look-alikes, leet read as letters,
 * repeated letters once, and one separator between words. Each place knows where it stands in the original.
 */
export interface FoldedText {
  /** The original. */
  readonly text: string
  /** Folded characters, UTF-16. The first and the last are separators. */
  readonly codes: Uint16Array
  /** How often each stands there in a row. */
  readonly runs: Uint16Array
  /** Where each begins in the original, and where it ends. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** How many there are. */
  readonly length: number
  /** How many of them are the text itself. What follows are words of it once more, as they can be read otherwise. */
  readonly proper: number
}

/** Puts a folded text together. One is used for all texts: `begin` forgets the one before. */
export class Folding {
  #codes = new Uint16Array(4096)
  #runs = new Uint16Array(4096)
  #starts = new Int32Array(4096)
  #ends = new Int32Array(4096)
  #length = 0

  begin(): void {
    this.#length = 0
    this.put(separator, 0, 0)
  }

  get length(): number {
    return this.#length
  }

  /** Another character, or the last one once more. */
  put(code: number, start: number, end: number): void {
    const last = this.#length - 1
    if (last >= 0 && this.#codes[last] === code) {
      this.#runs[last]! += 1
      this.#ends[last] = end
      return
    }
    if (this.#length === this.#codes.length) this.#grow()
    this.#codes[last + 1] = code
    this.#runs[last + 1] = 1
    this.#starts[last + 1] = start
    this.#ends[last + 1] = end
    this.#length += 1
  }

  /** @param proper where the text itself ends */
  end(text: string, proper: number): FoldedText {
    const length = this.#length
    return {
      text,
      codes: this.#codes.slice(0, length),
      runs: this.#runs.slice(0, length),
      starts: this.#starts.slice(0, length),
      ends: this.#ends.slice(0, length),
      length,
      proper,
    }
  }

  #grow(): void {
    const size = 2 * this.#codes.length
    const [codes, runs, starts, ends] = [this.#codes, this.#runs, this.#starts, this.#ends]
    this.#codes = new Uint16Array(size)
    this.#runs = new Uint16Array(size)
    this.#starts = new Int32Array(size)
    this.#ends = new Int32Array(size)
    this.#codes.set(codes)
    this.#runs.set(runs)
    this.#starts.set(starts)
    this.#ends.set(ends)
  }
}
