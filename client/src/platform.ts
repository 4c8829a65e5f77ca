/** The few things that the client uses of where it runs: browsers, workers, Node.js 20 and React Native have them all. */
export interface Platform {
  readonly fetch: Fetch
  readonly setTimeout: (run: () => void, milliseconds: number) => unknown
  readonly clearTimeout: (timer: never) => void
  readonly AbortController: new () => { readonly signal: Signal; abort(reason?: unknown): void }
  readonly FormData: new () => Form
  readonly crypto?: { getRandomValues(bytes: Uint8Array): Uint8Array }
  /** Browsers and React Native: sends files and says how far it is. */
  readonly XMLHttpRequest?: new () => Xhr
}

/** What is used of `AbortSignal`. */
export interface Signal {
  readonly aborted: boolean
  readonly reason?: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** What is used of `fetch`: pass another one as the option `fetch` to see or change what is sent. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>

export interface FetchInit {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string | Form
  /** Browsers: the request goes on though its page goes. */
  readonly keepalive?: boolean
  // biome-ignore lint/suspicious/noExplicitAny: an AbortSignal, whose type the platform has
  readonly signal?: any
}

export interface FetchAnswer {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
}

/** What is used of `FormData`. */
export interface Form {
  append(name: string, value: unknown, fileName?: string): void
}

interface Xhr {
  readonly upload: { onprogress: ((event: { readonly loaded: number }) => void) | null }
  readonly status: number
  readonly responseText: string
  onload: (() => void) | null
  onerror: (() => void) | null
  onabort: (() => void) | null
  /** After any of these. */
  onloadend: (() => void) | null
  open(method: string, url: string): void
  send(body: Form): void
  abort(): void
  getResponseHeader(name: string): string | null
}

/** Looked at when something is used, so that what is missing can be filled in beforehand. */
export const platform = globalThis as unknown as Platform
