import type { Config } from '../../../config/index.ts'
import type { ConnectionSettings } from '../../../store/connection.ts'
import type { DataKeys } from '../../../store/secrets.ts'
import type { SpanOutcome } from '../../../tracing/tracing.ts'
import type { EndpointKey } from '../../outbound/endpoints.ts'
import type { SendResult } from '../results.ts'

/** The settings that it goes by. */
export type ThreadConfig = Pick<
  Config,
  | 'appDefaults'
  | 'listTimeoutSeconds'
  | 'logLevel'
  | 'mailReplies'
  | 'notifications'
  | 'outbound'
  | 'publicUrl'
  | 'tracing'
>

/** What the thread that plans and sends notifications is started with: what can be copied. */
export interface ThreadData {
  readonly config: ThreadConfig
  readonly connection: ConnectionSettings
  /** The database is a child of this service, on this machine. */
  readonly ownDatabase: boolean
  /** How long the database may take to answer before it counts as away, in milliseconds, if not as usual. */
  readonly patienceMs: number | undefined
  readonly keys: DataKeys
  /** What every line of the log of this process has. */
  readonly logged: object
}

/** What it is asked to do. */
export type Task = { readonly plan: number } | { readonly send: EndpointKey }

export type ToThread =
  | { readonly type: 'do'; readonly id: number; readonly task: Task }
  | { readonly type: 'wake'; readonly appIds: readonly number[] }
  /** Secrets are kept with other keys from now on. */
  | { readonly type: 'keys'; readonly keys: DataKeys }
  /** Asks whether it gets to run. */
  | { readonly type: 'echo' }
  | { readonly type: 'stop' }
  | { readonly type: 'close' }

/** An error: between threads it would lose its code. */
export interface Failure {
  readonly name: string
  readonly message: string
  readonly code: string | undefined
  readonly stack: string | undefined
}

export type FromThread =
  /** It has begun, and has a lower priority than others. @see lowerThreadPriority */
  | { readonly type: 'begun'; readonly systemId: number }
  | { readonly type: 'echo' }
  | { readonly type: 'done'; readonly id: number; readonly error?: Failure }
  /** Attempts of a provider came to this. */
  | { readonly type: 'ended'; readonly provider: string; readonly results: ReadonlyArray<Pick<SendResult, 'status'>> }
  | { readonly type: 'spans'; readonly outcome: SpanOutcome; readonly count: number }
  /** A line of the log. */
  | { readonly type: 'line'; readonly line: string }
