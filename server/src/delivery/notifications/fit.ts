import { cut } from '../../chat/messages/cut.ts'
import type { Push } from './senders.ts'

/**
 * Makes a payload that is no larger than a provider takes: without the message if need be, then without the app's extras,
 * then with a shorter body.
 * @param make the payload of a notification, as JSON
 * @returns undefined where even that is not enough
 */
export function fit(notification: Push, maxBytes: number, make: (of: Push) => string): string | undefined {
  const fits = (payload: string) => Buffer.byteLength(payload) <= maxBytes
  const whole = make(notification)
  // Nearly all do.
  if (fits(whole)) return whole
  if (notification.action === 'read') return undefined
  const { message: _, ...withoutMessage } = notification
  const { custom: _custom, ...bare } = withoutMessage
  for (const shorter of [
    withoutMessage,
    bare,
    ...lengths.map((length) => ({ ...bare, body: cut(bare.body, length) })),
  ]) {
    const payload = make(shorter)
    if (fits(payload)) return payload
  }
  return undefined
}

/** Characters of the body, one after the other. */
const lengths = [800, 400, 200, 100, 50]
