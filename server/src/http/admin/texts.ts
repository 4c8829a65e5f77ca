/** Which texts of an answer may be seen, and which of them are. */
export interface Reader {
  /** Whether a conversation may be read. */
  isOpen(conversation: string): boolean
  /** A text of a conversation is in the answer. */
  onRead?(conversation: string): void
}

/**
 * Takes what people wrote out of an answer: the content and the tags of messages, wherever they stand in it, what they quote, what rules of
 * moderation found in them, what engines said about them, what endpoints and providers answered, and the remarks of those who
 * flagged them. Who, to whom and when stays.
 * @returns how many texts were taken out
 */
export function leaveOutTexts(answer: unknown, reader: Reader): number {
  return walk(answer, reader, undefined)
}

/** @param of the conversation that it belongs to, where that may be read */
function walk(value: unknown, reader: Reader, of: string | undefined): number {
  if (Array.isArray(value)) return value.reduce((count: number, item) => count + walk(item, reader, of), 0)
  if (typeof value !== 'object' || value === null) return 0
  const object = value as Record<string, unknown>
  const own = conversationOf(object)
  const read = own === undefined ? of : reader.isOpen(own) ? own : undefined
  let count = 0
  if (read === undefined && !(own === undefined && reader.isOpen(anywhere))) count = takeOut(object)
  else if (read !== undefined && hasTexts(object)) reader.onRead?.(read)
  for (const member of Object.values(object)) count += walk(member, reader, read)
  return count
}

/** What belongs to no conversation that the answer names. */
const anywhere = ''

/** The conversation that an object is of: its own, that of the message that it is about, or that of the event that it delivers. */
function conversationOf(object: Record<string, unknown>): string | undefined {
  const delivered = (object.body as { data?: Record<string, unknown> } | null | undefined)?.data
  const { conversationId, message, resource } = delivered ?? object
  if (typeof conversationId === 'string') return conversationId
  const about = (message ?? resource) as { conversationId?: unknown } | null | undefined
  return typeof about?.conversationId === 'string' ? about.conversationId : undefined
}

/** Members of an object that can hold what people wrote. */
function textsOf(object: Record<string, unknown>): string[] {
  const names: string[] = []
  // An example of a dry run: what the rule looked at.
  if (typeof object.messageId === 'string' && typeof object.text === 'string') names.push('text')
  // What an engine answered, which may quote the message.
  if (typeof object.responseBodyTruncated === 'boolean') names.push('responseBody', 'validationErrors')
  // What an engine said about a message that was held back.
  if (typeof object.ruleId === 'string' && typeof object.reason === 'string') names.push('reason')
  // What somebody wrote who flagged a message; in their own data, it is without their uid.
  const isFlag = typeof object.uid === 'string' || typeof object.messageId === 'string'
  if (isFlag && typeof object.remark === 'string') names.push('remark')
  // An edit that waits for a decision, in the data of its author.
  if (typeof object.messageId === 'string' && isContent(object.data)) names.push('data')
  return names.filter((name) => name in object)
}

/** An object within another one, with its member that can hold what people wrote. */
type Inner = readonly [holder: Record<string, unknown>, name: string]

function innerTextsOf(object: Record<string, unknown>): Inner[] {
  const { match, answer } = object
  const inner: Inner[] = []
  const add = (holder: unknown, name: string) => {
    const held = holder as Record<string, unknown> | null | undefined
    if (typeof held?.[name] === 'string') inner.push([held, name])
  }
  // What a rule found: `{start, end, text}`.
  add(match, 'text')
  // What an endpoint of webhooks answered, or a provider of notifications: it may repeat what it was sent. Trials send what nobody wrote.
  if (typeof object.eventId === 'string' && object.test !== true) add(answer, 'excerpt')
  if (typeof object.notificationTriggered === 'boolean') {
    add(answer, 'text')
    // That of an answer may be in the words of the provider; its status stays.
    if (answer !== undefined) add(object, 'error')
  }
  return inner
}

function takeOut(object: Record<string, unknown>): number {
  if (isMessage(object)) {
    // Tags are words of whoever sent it, too.
    const { data, quotedMessage: _, tags: __, ...rest } = object
    for (const name of Object.keys(object)) if (!(name in rest)) delete object[name]
    object.data = { entities: (data as { entities?: unknown }).entities }
    return 1
  }
  const names = textsOf(object)
  for (const name of names) delete object[name]
  const inner = innerTextsOf(object)
  for (const [holder, name] of inner) delete holder[name]
  return names.length + inner.length
}

function hasTexts(object: Record<string, unknown>): boolean {
  return isMessage(object) || textsOf(object).length > 0 || innerTextsOf(object).length > 0
}

function isMessage({ category, type, data }: Record<string, unknown>): boolean {
  return typeof category === 'string' && typeof type === 'string' && isContent(data)
}

function isContent(data: unknown): boolean {
  return typeof data === 'object' && data !== null
}
