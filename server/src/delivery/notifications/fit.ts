import { cut } from '../../chat/messages/cut.ts'
import type { Push } from './senders.ts'

/**
 * Makes a payload that is no larger than a provider takes: without the message if need be, then without the app's extras,
 * then with a shorter body.
 * @param make the payload of a notification, as JSON
 * @returns undefined where even that is not enough
 */
export function fit(notification: Push, maxBytes: number, make: (of: Push) => string): string | undefined {
  if (notification.action === 'read') return within([() => make(notification)], maxBytes)
  const { message: _, ...withoutMessage } = notification
  const { custom: _custom, ...bare } = withoutMessage
  const candidates = [notification, withoutMessage, bare].map((one) => () => make(one))
  const shortened = [800, 400, 200, 100, 50].map((length) => () => make({ ...bare, body: cut(bare.body, length) }))
  return within([...candidates, ...shortened], maxBytes)
}

function within(candidates: ReadonlyArray<() => string>, maxBytes: number): string | undefined {
  for (const candidate of candidates) {
    const payload = candidate()
    if (Buffer.byteLength(payload) <= maxBytes) return payload
  }
  return undefined
}
