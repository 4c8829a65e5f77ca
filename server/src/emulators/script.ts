/** What to answer instead of accepting. */
export interface Scripted {
  readonly status: number
  /** In the words of the service; absent: whatever it says with that status. */
  readonly reason?: string
  /** Seconds. */
  readonly retryAfter?: number
}

/** What an emulator was told to answer from outside, as its `POST /behaviour` takes it. */
export interface Script {
  /**
   * `{"status": 503, "reason": "UNAVAILABLE", "retryAfter": 2, "times": 10}`: so the next ten are answered, without `times` all
   * from now on; `{}`: as usual again.
   * @returns what is wrong with it
   */
  read(text: string): string | undefined
  /** For something that nothing is wrong with; undefined: accept. */
  next(): Scripted | undefined
}

export function createScript(): Script {
  let scripted: Scripted | undefined
  let left = 0
  return {
    read(text) {
      let given: Partial<Scripted> & { readonly times?: number }
      try {
        given = text === '' ? {} : JSON.parse(text)
      } catch {
        return 'it is no JSON'
      }
      const { status, reason, retryAfter, times = Number.POSITIVE_INFINITY } = given
      if (status === undefined) scripted = undefined
      else if (!Number.isInteger(status) || status < 200 || status > 599) return 'status must be from 200 to 599'
      else
        scripted = { status, ...(reason !== undefined && { reason }), ...(retryAfter !== undefined && { retryAfter }) }
      left = times
      return undefined
    },
    next() {
      if (scripted === undefined || left <= 0) return undefined
      left--
      return scripted
    },
  }
}

/** Path that every emulator takes a script at. */
export const scriptPath = '/behaviour'
