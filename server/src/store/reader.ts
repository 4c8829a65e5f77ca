/** On whose behalf something is read. Lists are taken in turn: between apps, and within an app between its users. */
export interface Reader {
  readonly appId: number
  /** The acting user; absent where the app itself reads, by an API key. */
  readonly uid: string | undefined
  /** A user with a token, who may be anybody: they get a part of the time only, so that others need not wait for all of it. */
  readonly isPaced?: boolean
  /** Aborted once nobody waits for the answer any more. */
  readonly signal?: AbortSignal
  /** Whether it is by now: to be asked at one moment, where nothing is to be ended later. */
  readonly isGone?: boolean
}

/** What the service reads for itself, for no request. */
export const ofService: Reader = { appId: 0, uid: undefined }

/** What would be read took longer than it may. */
export class ReadTimeoutError extends Error {
  constructor(what: string, limitMs: number) {
    super(`This ${what} took longer than ${limitMs / 1000} s. Ask for less, or try again.`)
    this.name = 'ReadTimeoutError'
  }
}

/** Too much waits already. */
export class ReadsFullError extends Error {
  /** Whose requests fill the queue: those of one user (or of an API key), or those of all together. */
  readonly of: 'reader' | 'all'

  constructor(of: 'reader' | 'all') {
    super(of === 'reader' ? 'Too many of your requests wait already.' : 'Too many requests wait already.')
    this.name = 'ReadsFullError'
    this.of = of
  }
}

/** Whoever asked has gone; nobody hears of this. */
export class ReadAbandonedError extends Error {
  constructor() {
    super('nobody waits for the answer any more')
    this.name = 'ReadAbandonedError'
  }
}
