import type { User } from '../contract.ts'
import { type CreateCell, createViews } from './cell.ts'
import { cancel, later, now, type Timer } from './here.ts'
import type { PeerKey, View } from './interface.ts'
import { peerOf, receiverOf } from './peers.ts'

export interface Typing {
  view(key: PeerKey): View<readonly User[]>
  heard(key: PeerKey, user: User, isTyping: boolean): void
  /** The user types, or has stopped; said to others now and then. */
  set(key: PeerKey, isTyping: boolean): void
  /** Nobody types as far as is known: the connection has ended. */
  clear(): void
}

/** Whoever is not heard of again has stopped. */
const forgetAfterMs = 8000
const sayAgainAfterMs = 3000
const endAfterMs = 5000

export function createTyping(cell: CreateCell, send: (frame: object) => void): Typing {
  const typists = new Map<PeerKey, Map<string, { user: User; timer: Timer }>>()
  const views = createViews(cell, (key) => [...(typists.get(key)?.values() ?? [])].map(({ user }) => user))
  const own = new Map<PeerKey, { saidAt: number; timer: Timer }>()

  const forget = (key: PeerKey, uid: string) => {
    const there = typists.get(key)
    const known = there?.get(uid)
    if (there === undefined || known === undefined) return
    cancel(known.timer)
    there.delete(uid)
    if (there.size === 0) typists.delete(key)
    views.changed(key)
  }
  const say = (key: PeerKey, action: 'started' | 'ended') =>
    send({ type: 'typing_indicator', ...receiverOf(peerOf(key)), body: { action } })
  const end = (key: PeerKey) => {
    cancel(own.get(key)?.timer)
    if (own.delete(key)) say(key, 'ended')
  }

  return {
    view: views.of,
    heard(key, user, isTyping) {
      if (!isTyping) {
        forget(key, user.uid)
        return
      }
      const there = typists.get(key) ?? new Map()
      typists.set(key, there)
      const known = there.get(user.uid)
      cancel(known?.timer)
      there.set(user.uid, { user, timer: later(() => forget(key, user.uid), forgetAfterMs) })
      if (known === undefined) views.changed(key)
    },
    set(key, isTyping) {
      if (!isTyping) {
        end(key)
        return
      }
      const known = own.get(key)
      cancel(known?.timer)
      const isDue = known === undefined || now() - known.saidAt > sayAgainAfterMs
      if (isDue) say(key, 'started')
      const saidAt = isDue ? now() : known.saidAt
      own.set(key, { saidAt, timer: later(() => end(key), endAfterMs) })
    },
    clear() {
      for (const { timer } of own.values()) cancel(timer)
      own.clear()
      for (const [key, there] of typists) for (const uid of [...there.keys()]) forget(key, uid)
    },
  }
}
