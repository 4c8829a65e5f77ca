import type { Hands } from '../outbound/hands.ts'
import type { DueNotification } from './due.ts'
import type { Flight } from './flights.ts'
import type { Rendered as RenderedPush } from './render.ts'
import type { RenderedTakeBack } from './take-backs/render.ts'
import type { RenderedUnread } from './unread/render.ts'

export type Rendered = RenderedPush | RenderedTakeBack | RenderedUnread

/** What is about to be sent, with what it says by now. */
export interface Ready extends DueNotification {
  readonly chain: string | undefined
  /** Undefined: what it is about is gone. */
  readonly rendered: Rendered | undefined
  /** Milliseconds of this process's clock. */
  readonly readyAt: number
  /** Where it was handed over, and has never waited. */
  readonly flight?: Flight
}

/** Those who send in this process. */
export type SendingHands = Hands<Ready>

/** What is sent to one device about one message goes out in order, so that an edit is not overtaken by what it replaces. */
function chainOf({ message, uid, digest }: DueNotification): string | undefined {
  return message === null ? undefined : `${message} ${uid} ${digest?.toString('latin1') ?? ''}`
}

/** @returns what is due, ready for an attempt */
export function makeReady(
  due: DueNotification,
  rendered: Rendered | undefined,
  more?: Pick<Ready, 'id' | 'flight'>,
): Ready {
  return Object.assign(due, { chain: chainOf(due), rendered, readyAt: performance.now() }, more)
}
