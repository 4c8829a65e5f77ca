import type { AppSettings, NotificationReason, UnreadChannel } from '@parley/contract'
import { type Decision, decide, decidedGone, type Gate, type Recipient } from '../../../chat/notifications/decide.ts'
import { timezoneOf } from '../../../chat/notifications/preferences.ts'
import { firstKnown, localTime } from '../../../chat/notifications/schedule.ts'
import type { AppNotifications } from '../../../chat/notifications/settings.ts'
import { sendingOf } from '../happenings.ts'
import type { WindowMessage } from './messages.ts'
import type { Window } from './windows.ts'

/** What was decided of a window: either why nothing is sent, or the messages that it is about, newest first. */
export interface DecidedWindow {
  readonly reason: NotificationReason | undefined
  /** Of the newest message that it is about, else of one that it is not. */
  readonly gates: readonly Gate[]
  readonly announced: readonly WindowMessage[]
  /** The ids of what was decided so: what it is about, else what it is not. Empty where nothing was left. */
  readonly decided: readonly number[]
}

export interface DecideOptions {
  readonly channel: UnreadChannel
  readonly app: AppNotifications
  readonly defaults: Pick<AppSettings, 'timezone' | 'pushWaitOnlineSeconds'>
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * Asks of each message of a window whether its user is notified of it, as things are at the end of the window.
 * @param messages newest first
 * @param alsoSent what was sent to the user beside what the window knows, as keys of conversations
 */
export function decideWindow(
  window: Window,
  messages: readonly WindowMessage[],
  alsoSent: readonly number[],
  options: DecideOptions,
): DecidedWindow {
  const mail = mailFactsOf(window, alsoSent, options)
  const decided = messages.flatMap((message) => {
    const happening = sendingOf(message, window.kind)
    if (happening === undefined) return []
    const recipient = recipientOf(window, message, options.now)
    return { message, ...decide(happening, recipient, options.app, options.defaults, options.now, mail) }
  })
  const open = decided.filter(({ reason }) => reason === undefined)
  const newest = decided[0]
  // All of it was deleted, or reset.
  if (newest === undefined) {
    return { ...decidedGone('message', { isInTime: options.now < window.expiresAt }), announced: [], decided: [] }
  }
  const [last] = open
  if (last === undefined) return { ...pick(decided), announced: [], decided: decided.map(({ message }) => message.id) }
  const reason = isAfterNotified(window, last.message) ? undefined : 'ALREADY_TOLD'
  const about = open.map(({ message }) => message)
  return { reason, gates: last.gates, announced: reason === undefined ? about : [], decided: about.map(({ id }) => id) }
}

/** What is unread still says more than what was read, which is behind all. */
function pick(decided: readonly Decision[]): Pick<DecidedWindow, 'reason' | 'gates'> {
  const { reason, gates } = decided.find((one) => one.reason !== 'ALREADY_READ') ?? (decided[0] as Decision)
  return { reason, gates }
}

function recipientOf(window: Window, { followsThread, isBlocked, hasRead }: WindowMessage, now: number): Recipient {
  const { uid, preferences, timezone, isMuted, mutedUntil, isActive, takesPart, expiresAt } = window
  return {
    ...{ uid, followsThread, isBlocked, hasRead },
    stored: { preferences: preferences ?? {}, timezone },
    mutedUntil: isMuted ? mutedUntil : undefined,
    atSending: {
      ...{ isActive, takesPart, hasDevice: undefined, isShown: undefined },
      // What is deleted or reset is not read at all.
      message: 'there',
      isInTime: now < expiresAt,
    },
  }
}

/** Quotas are of a day as the user's clock has it. */
function mailFactsOf(window: Window, alsoSent: readonly number[], { channel, defaults, now }: DecideOptions) {
  const stored = { preferences: window.preferences ?? {}, timezone: window.timezone }
  const timezone = firstKnown([timezoneOf(stored, defaults), defaults.timezone])
  const today = localTime(now, timezone).date
  const ofToday = window.sent.filter(([, at]) => localTime(at, timezone).date === today)
  const sent = [...ofToday.map(([conversation]) => conversation), ...alsoSent]
  return {
    ...{ channel, address: window.address, isUnsubscribed: window.isUnsubscribed },
    sentToday: sent.length,
    sentTodayHere: sent.filter((conversation) => conversation === window.conversation).length,
  }
}

function isAfterNotified({ notifiedSentAt, notifiedId }: Window, { sentAt, id }: WindowMessage): boolean {
  return sentAt > notifiedSentAt || (sentAt === notifiedSentAt && id > notifiedId)
}
