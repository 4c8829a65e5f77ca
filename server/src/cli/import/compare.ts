import { createDigestSet } from './digest.ts'
import type { InputFile } from './input.ts'
import { identityOf } from './muids.ts'
import { conversationOf, makeRecordReader } from './records.ts'
import type { Service } from './service.ts'

/** How many messages the service holds of the conversations of an import, against what the import has of them. */
export interface Comparison {
  readonly conversations: number
  readonly same: number
  /** Conversations with messages beside those of this import. */
  readonly more: number
  readonly fewer: readonly { readonly conversation: string; readonly imported: number; readonly held: number }[]
}

/**
 * Compares the messages that were stored or already there, by conversation, with the counts of the service.
 *
 * A message that stands twice in the file is accepted twice and held once. Where a conversation seems to have too few,
 * the file is therefore read again and repeated messages of that conversation are taken off.
 */
export async function compareCounts(
  service: Service,
  accepted: ReadonlyMap<string, number>,
  messages: InputFile,
): Promise<Comparison> {
  const held = await service.countMessages()
  const needsResync = new Set<string>()
  for (const [conversation, count] of accepted) {
    if ((held.get(conversation) ?? 0) < count) needsResync.add(conversation)
  }
  const repeats = needsResync.size === 0 ? new Map<string, number>() : await countRepeats(messages, needsResync)

  let same = 0
  let more = 0
  const fewer = []
  for (const [conversation, count] of accepted) {
    const there = held.get(conversation) ?? 0
    const imported = count - (repeats.get(conversation) ?? 0)
    if (there === imported) same += 1
    else if (there > imported) more += 1
    else fewer.push({ conversation, imported, held: there })
  }
  return { conversations: accepted.size, same, more, fewer }
}

/** How often an id comes again within one of these conversations. */
async function countRepeats(messages: InputFile, conversations: ReadonlySet<string>): Promise<Map<string, number>> {
  const seen = createDigestSet()
  const readRecord = makeRecordReader('messages')
  const repeats = new Map<string, number>()
  for await (const lines of messages.lines()) {
    for (const line of lines) {
      const result = readRecord(line)
      if (!('record' in result)) continue
      const conversation = conversationOf(result.record)
      if (conversation === undefined || !conversations.has(conversation)) continue
      if (!seen.add(`${result.key} ${identityOf(result.record)}`))
        repeats.set(conversation, (repeats.get(conversation) ?? 0) + 1)
    }
  }
  return repeats
}
