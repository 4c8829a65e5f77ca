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

/** A folded text that is put together in room that is used again: it holds until `begin` is called for another one. */
export class Folding implements FoldedText {
  text = ''
  codes = new Uint16Array(1024)
  runs = new Uint16Array(1024)
  starts = new Int32Array(1024)
  ends = new Int32Array(1024)
  length = 0
  proper = 0

  begin(text: string): void {
    this.text = text
    this.length = 0
    this.put(separator, 0, 0)
  }

  /** Another character, or the last one once more. */
  put(code: number, start: number, end: number): void {
    const next = this.length
    if (next > 0 && this.codes[next - 1] === code) {
      this.runs[next - 1]! += 1
      this.ends[next - 1] = end
      return
    }
    if (next === this.codes.length) this.#grow()
    this.codes[next] = code
    this.runs[next] = 1
    this.starts[next] = start
    this.ends[next] = end
    this.length = next + 1
  }

  /** The text itself ends here. */
  endProper(): void {
    this.proper = this.length
  }

  #grow(): void {
    const { codes, runs, starts, ends } = this
    const size = 2 * codes.length
    this.codes = new Uint16Array(size)
    this.runs = new Uint16Array(size)
    this.starts = new Int32Array(size)
    this.ends = new Int32Array(size)
    this.codes.set(codes)
    this.runs.set(runs)
    this.starts.set(starts)
    this.ends.set(ends)
  }
}

/** Room for texts that are folded one beside the other, used again once all are done with. */
export class FoldingRoom {
  readonly #foldings: Folding[] = []
  #taken = 0

  /** What was taken before is used again. */
  clear(): void {
    this.#taken = 0
  }

  take(): Folding {
    const folding = this.#foldings[this.#taken] ?? new Folding()
    this.#foldings[this.#taken] = folding
    this.#taken += 1
    return folding
  }
}
