import { type ImportMessage, limits, readEpochSeconds, readOptionalTime } from '@parley/contract'
import { type JsonText, toJson } from '../../../chat/json.ts'
import type { ConversationKind } from '../../../chat/kind.ts'
import { attachmentsOf, traits, traitsOf } from '../../../chat/messages/traits.ts'
import { removeReserved } from '../content.ts'
import { mentionedIn } from '../mentions/text.ts'

/** One imported message on its way into the database. Ids are in lower case, times in epoch seconds. */
export interface ImportRow {
  readonly appId: number
  readonly muid: string
  readonly sender: string
  /** 1 one-to-one, 2 group */
  readonly kind: ConversationKind
  readonly receiver: string
  readonly category: string
  readonly type: string
  /** As it is stored: without what only the service writes, empty where the message was deleted. */
  readonly data: JsonText
  readonly tags: readonly string[]
  readonly mentioned: readonly string[]
  readonly traits: number
  readonly countable: boolean
  readonly sentAt: number
  /** Explicit times of the receiver; one who has read a message has received it. */
  readonly deliveredAt: number | null
  readonly readAt: number | null
  readonly editedAt: number | null
  readonly deletedAt: number | null
  /** The message that this one answers in its thread. */
  readonly parentMuid: string | null
  /** The message that this action message tells of. */
  readonly subjectMuid: string | null
  readonly reactions: ReadonlyArray<{ readonly reaction: string; readonly uid: string }>
}

/** Makes a row of a record that passed its check. */
export function toImportRow(appId: number, message: ImportMessage): ImportRow {
  const { category = 'message', tags = [] } = message
  const type = message.type ?? (category === 'interactive' ? 'card' : 'text')
  const sender = message.sender.toLowerCase()
  const receiver = message.receiver.toLowerCase()
  const kind = message.receiverType
  const deletedAt = readOptionalTime(message.deletedAt)
  const data =
    deletedAt !== null
      ? {}
      : category === 'action'
        ? actionOf(type, message.data)
        : contentOf(category, type, message.data)
  // History that mentions more users than one may today is taken as it is: the first of them count.
  const mentioned = mentionedIn(data).slice(0, limits.mentionsPerMessage)
  const reactions = reactionsOf(message)
  const readAt = readOptionalTime(message.readAt)
  return {
    appId,
    muid: message.muid,
    sender,
    kind,
    receiver,
    category,
    type,
    data: toJson(data),
    tags: deletedAt === null ? [...new Set(tags)] : [],
    mentioned,
    traits: traitsOf({ type, data, mentioned }) | (reactions.length > 0 ? traits.reactions : 0),
    // What is imported into groups leaves nothing unread.
    countable: kind === 'user' && sender !== receiver && !uncounted.includes(category) && deletedAt === null,
    sentAt: readEpochSeconds(message.sentAt) as number,
    deliveredAt: readOptionalTime(message.deliveredAt) ?? readAt,
    readAt,
    editedAt: readOptionalTime(message.editedAt),
    deletedAt,
    parentMuid: message.parentMuid ?? null,
    subjectMuid: category === 'action' && type === 'message' ? (message.subjectMuid ?? null) : null,
    reactions,
  }
}

const uncounted = ['call', 'action']

const mediaTypes = ['image', 'file', 'audio', 'video']

function contentOf(category: string, type: string, sent: ImportMessage['data']): Record<string, unknown> {
  const data: Record<string, unknown> = { ...sent }
  removeReserved(data)
  // As in what is sent live: front ends look for the file there.
  if (category === 'message' && mediaTypes.includes(type)) data.url ??= attachmentsOf(data)[0]?.url
  return data
}

/**
 * What an action message holds: that of a group its users and the group as they were, that of an edit or deletion nothing of
 * the message, whose text would live on in it. Metadata of that time may be private and is left out.
 */
function actionOf(type: string, sent: ImportMessage['data']): Record<string, unknown> {
  const { action, entities = {}, extras } = (sent ?? {}) as ActionData
  if (type === 'message') return { action }
  const sides = (['by', 'on', 'for'] as const).flatMap((side) => {
    const found = entities[side]
    if (typeof found?.entity !== 'object' || found.entity === null) return []
    const { metadata: _, ...entity } = found.entity
    return [[side, { entity, entityType: side === 'for' ? 'group' : 'user' }] as const]
  })
  const scope = extras?.scope
  return { action, entities: Object.fromEntries(sides), ...(scope !== undefined && { extras: { scope } }) }
}

interface ActionData {
  readonly action?: string
  readonly entities?: Partial<Record<'by' | 'on' | 'for', { readonly entity?: Record<string, unknown> | null }>>
  readonly extras?: { readonly scope?: unknown }
}

/** Each user's reaction once, in the order of the record. */
function reactionsOf({ reactions = {} }: ImportMessage): Array<{ reaction: string; uid: string }> {
  return Object.entries(reactions).flatMap(([reaction, uids]) =>
    [...new Set(uids.map((uid) => uid.toLowerCase()))].map((uid) => ({ reaction, uid })),
  )
}
