import type { Message } from '../contract.ts'
import type { PeerKey, UnreadTotal } from './interface.ts'
import { isHeld } from './timeline.ts'

/** Unread messages of every conversation: a count of the service, and the ids of what came after it. */
export interface Unread {
  readonly total: UnreadTotal
  of(key: PeerKey): number
  /** What the service counted, up to the message with this id; without one, up to all that has come. */
  base(key: PeerKey, count: number, upTo?: number): void
  /** A message that has come. */
  add(key: PeerKey, message: Message, me: string | undefined): void
  /** The user has read up to a message. @returns whether the count is known after that */
  read(key: PeerKey, upTo: number): boolean
  /** What this client marks as read counts as read before the service has it. */
  expectRead(key: PeerKey, upTo: number): void
  /** It was refused. */
  unexpect(key: PeerKey): void
  forget(key: PeerKey): void
  keys(): Iterable<PeerKey>
}

interface Count {
  base: number
  upTo: number
  /** Unread messages above `upTo`. A set, since a message may be heard of twice. */
  ids: Set<number>
  /** Read up to here, as far as this client is concerned. */
  expected: number
}

const countable = ['message', 'custom', 'interactive']
/** More ids than this are counted and forgotten, the oldest first. */
const mostIds = 2000

export function createUnread(): Unread {
  const counts = new Map<PeerKey, Count>()

  const countOf = (key: PeerKey): Count => {
    let count = counts.get(key)
    if (count === undefined) {
      count = { base: 0, upTo: 0, ids: new Set(), expected: 0 }
      counts.set(key, count)
    }
    return count
  }
  const above = (ids: Set<number>, limit: number) => new Set([...ids].filter((id) => id > limit))
  const shown = ({ base, upTo, ids, expected }: Count) => {
    if (expected === 0 || expected < upTo) return base + ids.size
    return above(ids, expected).size
  }

  return {
    get total() {
      let messages = 0
      let conversations = 0
      for (const count of counts.values()) {
        const unread = shown(count)
        messages += unread
        if (unread > 0) conversations++
      }
      return { messages, conversations }
    },
    of: (key) => shown(countOf(key)),
    base(key, base, upTo) {
      const count = countOf(key)
      count.base = base
      count.upTo = upTo ?? Math.max(count.upTo, ...count.ids)
      count.ids = above(count.ids, count.upTo)
    },
    add(key, message, me) {
      const count = countOf(key)
      const id = Number(message.id)
      if (id <= count.upTo || isHeld(message)) return
      if (message.sender === me) {
        // Who sends has read.
        count.base = 0
        count.upTo = id
        count.ids = above(count.ids, id)
      } else if (countable.includes(message.category) && message.deletedAt === undefined) {
        count.ids.add(id)
        if (count.ids.size > mostIds) {
          const first = count.ids.values().next().value as number
          count.ids.delete(first)
          count.base++
          count.upTo = Math.max(count.upTo, first)
        }
      }
    },
    read(key, upTo) {
      const count = countOf(key)
      if (count.expected <= upTo) count.expected = 0
      // Of what was counted, the service alone knows what is left; without an end, that may be any of it.
      if (count.base > 0 && (upTo < count.upTo || count.upTo === 0)) return false
      count.base = 0
      count.upTo = Math.max(count.upTo, upTo)
      count.ids = above(count.ids, count.upTo)
      return true
    },
    expectRead(key, upTo) {
      const count = countOf(key)
      count.expected = Math.max(count.expected, upTo)
    },
    unexpect(key) {
      countOf(key).expected = 0
    },
    forget: (key) => void counts.delete(key),
    keys: () => counts.keys(),
  }
}
