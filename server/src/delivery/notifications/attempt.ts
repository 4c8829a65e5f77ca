import { traceOf } from '../../chat/events/stored.ts'
import type { App } from '../../chat/identity.ts'
import type { Log } from '../../log.ts'
import type { FileLinks } from '../../media/links.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Span, Tracing } from '../../tracing/tracing.ts'
import type { Some } from '../outbound/keyed-queue.ts'
import type { DueNotification } from './due.ts'
import type { SendAttempt } from './results.ts'
import { type Addressed, type Notice, type Sender, sendingId } from './senders.ts'

export interface AttemptOptions {
  /** @throws Error where it cannot be unsealed */
  readonly openToken: (sealed: Buffer) => string
  readonly fileLinks: FileLinks
  readonly log: Log
  readonly tracing: Tracing | undefined
}

/** Who sends, and for whom. */
export interface Sending {
  readonly app: App
  readonly kind: string
  readonly sender: Sender
}

/** A notification that is ready to be sent. */
export interface Sendable {
  readonly due: DueNotification
  readonly notice: Notice
}

/** What came of one attempt at one or several notifications. */
export interface Attempted {
  /** In the order given; undefined: it was not sent, as there was no room for it. */
  readonly attempts: ReadonlyArray<SendAttempt | undefined>
  /** What it says of the provider; absent: it was not called, or not properly. */
  readonly ofProvider?: SendAttempt
}

type Fault = SendAttempt & { readonly isOurs: true }

/** Sends to one device or user, or, where the provider takes that, to several at once. @throws Error where the database is away */
export function attempt(options: AttemptOptions, to: Sending, all: Some<Sendable>): Promise<Attempted> {
  const { tracing } = options
  return tracing === undefined ? attemptAll(options, to, all) : attemptTraced(options, tracing, to, all)
}

async function attemptTraced(
  options: AttemptOptions,
  tracing: Tracing,
  to: Sending,
  all: Some<Sendable>,
): Promise<Attempted> {
  const spans = all.map(({ due, notice }) => spanOf(tracing, to, due, 'channel' in notice ? notice.channel : 'push'))
  try {
    const made = await attemptAll(options, to, all, spans)
    for (const [i, span] of spans.entries()) endSpan(span, made.attempts[i])
    return made
  } catch (error) {
    for (const span of spans) span?.end(error)
    throw error
  }
}

/** A part of the trace of what a notification is about, where that is traced. */
function spanOf(tracing: Tracing, { app, kind }: Sending, due: DueNotification, channel: string): Span | undefined {
  return tracing.follow(channel, due.data === null ? undefined : traceOf(due.data), {
    kind: 'client',
    attributes: {
      ...{ 'parley.app': app.name, 'parley.provider': kind, 'parley.notification': sendingId(app, due.id) },
      ...{ 'parley.trigger': due.trigger, 'parley.attempt': due.attempts + 1 },
    },
  })
}

function endSpan(span: Span | undefined, made: SendAttempt | undefined): void {
  if (span === undefined) return
  span.setAttributes({ 'parley.outcome': made?.outcome ?? 'not sent', 'http.response.status_code': made?.status })
  span.end(made === undefined || made.outcome === 'accepted' ? undefined : made.outcome)
}

async function attemptAll(
  options: AttemptOptions,
  to: Sending,
  all: Some<Sendable>,
  spans: ReadonlyArray<Span | undefined> = [],
): Promise<Attempted> {
  const { batch, send } = to.sender
  if (batch === undefined) {
    const [one] = all
    try {
      const { sending, notice } = await address(options, to, one, spans[0])
      const made = withoutWords(await send(sending, notice), notice)
      return { attempts: [made], ofProvider: made }
    } catch (error) {
      return { attempts: [faultOf(options, to, one, error)] }
    }
  }
  const addressed = await Promise.all(
    all.map((one, i) => address(options, to, one, spans[i]).catch((error) => faultOf(options, to, one, error))),
  )
  const [first, ...others] = addressed.flatMap((one) => (isFault(one) ? [] : one))
  if (first === undefined) return { attempts: addressed.filter(isFault) }
  const { whole, attempts } = await batch.send([first, ...others])
  const made = attempts.values()
  return { attempts: addressed.map((one) => (isFault(one) ? one : made.next().value)), ofProvider: whole }
}

/**
 * Of e-mails and SMS, what the provider said is not kept beyond its codes: it may name the address, and repeat any of the messages that are
 * listed, so that nobody could tell when it has to go.
 */
function withoutWords({ text, ...made }: SendAttempt, notice: Notice): SendAttempt {
  return text === undefined || 'channel' in notice ? made : { ...made, text }
}

async function address(
  { openToken, fileLinks }: AttemptOptions,
  { app }: Sending,
  one: Sendable,
  span: Span | undefined,
): Promise<Addressed> {
  const { id, sealed, platform, expiresAt } = one.due
  const token = sealed === null ? '' : tokenOf(openToken, sealed)
  const notice = await fileLinks.inValue(app, one.notice)
  const leading = span === undefined ? {} : { trace: span.traceparent }
  return { sending: { id: sendingId(app, id), token, platform: platform ?? '', expiresAt, ...leading }, notice }
}

/** @throws Error where the database is away */
function faultOf({ log }: AttemptOptions, { app, kind }: Sending, { due }: Sendable, error: unknown): Fault {
  if (isConnectionFailure(error)) throw error
  log.error({ err: error, app: app.name, notification: due.id, provider: kind }, 'a notification could not be sent')
  const outcome = error instanceof TokenUnreadable ? 'refused' : 'failed'
  return { outcome, error: (error as Error).message.slice(0, 300), durationMs: 0, isOurs: true }
}

function isFault(made: object): made is Fault {
  return 'isOurs' in made
}

/** Trying again does not help. */
class TokenUnreadable extends Error {}

function tokenOf(openToken: AttemptOptions['openToken'], sealed: Buffer): string {
  try {
    return openToken(sealed)
  } catch (cause) {
    throw new TokenUnreadable('the push token cannot be unsealed', { cause })
  }
}
