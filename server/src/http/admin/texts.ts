/**
 * Takes what people wrote out of an answer: the content of messages, wherever they stand in it, what they quote, and what rules of
 * moderation found in them. Who, to whom and when stays.
 * @param isOpen whether a conversation may be read
 * @returns how many texts were taken out
 */
export function leaveOutTexts(answer: unknown, isOpen: (conversation: string) => boolean): number {
  return walk(answer, isOpen, false)
}

/** @param isRead whether it belongs to a message of a conversation that may be read */
function walk(value: unknown, isOpen: (conversation: string) => boolean, isRead: boolean): number {
  if (Array.isArray(value)) return value.reduce((count: number, item) => count + walk(item, isOpen, isRead), 0)
  if (typeof value !== 'object' || value === null) return 0
  const object = value as Record<string, unknown>
  const conversation = conversationOf(object)
  const mayRead = conversation === undefined ? isRead : isOpen(conversation)
  let count = mayRead ? 0 : takeOut(object)
  for (const member of Object.values(object)) count += walk(member, isOpen, mayRead)
  return count
}

/** The conversation that an object is of: its own, or that of the message that it is about. */
function conversationOf(object: Record<string, unknown>): string | undefined {
  const own = object.conversationId
  if (typeof own === 'string') return own
  const message = (object.message ?? object.resource) as { conversationId?: unknown } | null | undefined
  return typeof message?.conversationId === 'string' ? message.conversationId : undefined
}

function takeOut(object: Record<string, unknown>): number {
  if (isMessage(object)) {
    const { data, quotedMessage: _, ...rest } = object
    for (const name of Object.keys(object)) if (!(name in rest)) delete object[name]
    object.data = { entities: (data as { entities?: unknown }).entities }
    return 1
  }
  let count = 0
  // An example of a dry run: what the rule looked at.
  if (typeof object.messageId === 'string' && typeof object.text === 'string') {
    delete object.text
    count++
  }
  // What an engine answered, which may quote the message.
  if (typeof object.responseBodyTruncated === 'boolean') {
    for (const name of ['responseBody', 'validationErrors']) {
      if (!(name in object)) continue
      delete object[name]
      count++
    }
  }
  // What a rule found: `{start, end, text}`.
  const match = object.match as { text?: unknown } | null | undefined
  if (typeof match?.text === 'string') {
    delete match.text
    count++
  }
  return count
}

function isMessage({ category, type, data }: Record<string, unknown>): boolean {
  return typeof category === 'string' && typeof type === 'string' && typeof data === 'object' && data !== null
}
