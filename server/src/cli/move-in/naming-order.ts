import type { JsonRecord } from '../import/records.ts'
import { subjectOf } from './facts.ts'

/** Ids of the messages that a message replies to, quotes or is about. */
export function namesIn(row: JsonRecord): string[] {
  return [row.parentId, row.quotedMessageId, subjectOf(row)].flatMap((id) => (id === undefined ? [] : String(id)))
}

/** Puts messages behind those that they name, and changes their order in nothing else. */
export interface NamingOrder {
  /** Takes the next message. @returns those that may come now, in their order */
  take(row: JsonRecord): JsonRecord[]
  /** What still waits at the end, as messages do that name each other. */
  rest(): JsonRecord[]
}

/**
 * History is listed by time, and a reply may be dated before what it replies to, by a clock that was wrong.
 * @param named ids of messages that others name, and that come
 */
export function createNamingOrder(named: ReadonlySet<string>): NamingOrder {
  const there = new Set<string>()
  /** By the id that they wait for. */
  const waiting = new Map<string, JsonRecord[]>()
  const isFree = (row: JsonRecord): boolean => {
    const missing = namesIn(row).find((id) => named.has(id) && !there.has(id))
    if (missing === undefined) return true
    waiting.set(missing, [...(waiting.get(missing) ?? []), row])
    return false
  }
  return {
    take(row) {
      const free = isFree(row) ? [row] : []
      for (const { id } of free) {
        const name = String(id)
        if (!named.has(name)) continue
        there.add(name)
        const released = waiting.get(name) ?? []
        waiting.delete(name)
        for (const other of released) if (isFree(other)) free.push(other)
      }
      return free
    },
    rest() {
      const rows = [...waiting.values()].flat()
      waiting.clear()
      return rows
    },
  }
}
