import { createHash } from 'node:crypto'
import { createDigestSet } from './digest.ts'
import { conversationOf, type JsonRecord, type MuidName } from './records.ts'

const longestMuid = 255
const suffixLength = 11

/**
 * Tells messages apart that share a muid. The service takes a muid once in an app, but the systems that histories come
 * from gave them per sender or not at all carefully; a message must not be lost for that. The first in the file keeps its
 * muid, another message gets one with a suffix made of what it says, the same in every run and wherever it comes again.
 * Remembers 16 bytes of each message.
 */
export function createMuidNames(): (message: JsonRecord, muid: string) => MuidName {
  const muids = createDigestSet()
  const messages = createDigestSet()
  return (message, muid) => {
    const identity = identityOf(message)
    const isNew = messages.add(`${muid} ${identity}`)
    if (muids.add(muid)) return { kind: 'first', muid }
    const suffixed = muid.slice(0, longestMuid - suffixLength) + suffixOf(identity)
    if (!isNew) return { kind: 'repeat', muid: muids.has(suffixed) ? suffixed : muid }
    muids.add(suffixed)
    return { kind: 'shared', muid: suffixed }
  }
}

function suffixOf(identity: string): string {
  const digest = createHash('sha256').update(identity).digest('hex')
  return `~${digest.slice(0, suffixLength - 1)}`
}

/** What makes a message this one and no other: who said what to whom, and when. */
export function identityOf(message: JsonRecord): string {
  const { sender, sentAt, category, type, data } = message
  return JSON.stringify([conversationOf(message), String(sender).toLowerCase(), String(sentAt), category, type, data])
}
