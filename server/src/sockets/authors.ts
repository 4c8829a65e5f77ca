import { createCache } from '../cache.ts'
import { readMessages } from '../chat/messages/rows.ts'
import type { Queryable } from '../store/database.ts'

/** Senders of messages in groups, to whom receipts go; most receipts are for what was sent a moment ago. */
export interface Authors {
  set(appId: number, messageId: number, uid: string): void
  /** @returns undefined for a message that is not there */
  of(appId: number, messageId: number): Promise<string | undefined>
  /** Their uid may be somebody else's soon. */
  forget(appId: number, uid: string): void
}

export function createAuthors(on: Queryable): Authors {
  const known = createCache<string, string>({ max: 20_000 })
  return {
    set: (appId, messageId, uid) => void known.set(`${appId} ${messageId}`, uid),
    async of(appId, messageId) {
      const key = `${appId} ${messageId}`
      const kept = known.get(key)
      if (kept !== undefined) return kept
      const author = (await readMessages(on, appId, [messageId])).get(messageId)?.sender
      if (author !== undefined) known.set(key, author)
      return author
    },
    forget(appId, uid) {
      for (const [key, author] of known) if (author === uid && key.startsWith(`${appId} `)) known.delete(key)
    },
  }
}
