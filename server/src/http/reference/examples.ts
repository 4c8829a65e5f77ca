import { readFileSync } from 'node:fs'

const file = new URL('../../../../docs/examples.json', import.meta.url)

/** A call, and how it was answered. */
export interface CallExample {
  readonly request: {
    readonly params?: Readonly<Record<string, string>>
    readonly query?: Readonly<Record<string, string>>
    readonly body?: unknown
    /** `onBehalfOf` */
    readonly as?: string
    readonly token?: string
  }
  readonly answer: unknown
}

/** What tests have recorded: `server/test/http/examples.test.ts`. */
export interface Examples {
  /** By the ids of operations. */
  readonly operations: Readonly<Record<string, CallExample>>
  /** By the names of frames. */
  readonly frames: Readonly<Record<string, unknown>>
}

export const noExamples: Examples = { operations: {}, frames: {} }

export function readExamples(): Examples {
  return JSON.parse(readFileSync(file, 'utf8')) as Examples
}
