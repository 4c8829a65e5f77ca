import {
  type ImportMessage,
  importedId,
  isPreviousId,
  isWebAddress,
  limits,
  mediaTypes,
  readEpochSeconds,
  readOptionalTime,
} from '@parley/contract'
import { systemUid } from '../../../chat/apps.ts'
import { type JsonText, toJson } from '../../../chat/json.ts'
import type { ConversationKind } from '../../../chat/kind.ts'
import { attachmentsOf, traits, traitsOf } from '../../../chat/messages/traits.ts'
import { removeReserved } from '../content.ts'
import { mentionedIn } from '../mentions/text.ts'
import { handsOf } from './hands.ts'

/** One imported message on its way into the database. Ids are in lower case, times in epoch seconds. */
export interface ImportRow {
  readonly appId: number
  readonly muid: string
  /** That of the previous system, where it can be taken as it is. */
  readonly givenId: number | null
  /** It came with an id, also where that cannot be taken. */
  readonly hasId: boolean
  readonly sender: string
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
  readonly editedBy: string | null
  readonly deletedAt: number | null
  readonly deletedBy: string | null
  /** The message that this one answers in its thread. */
  readonly parentMuid: string | null
  /** The message that this action message is about. */
  readonly subjectMuid: string | null
  /** The message that it quotes. */
  readonly quotedMuid: string | null
  readonly reactions: ReadonlyArray<{ readonly reaction: string; readonly uid: string; readonly reactedAt: number }>
  readonly pin: { readonly by: string; readonly at: number } | null
  readonly saves: ReadonlyArray<{ readonly uid: string; readonly at: number }>
  /** Who else had a hand in it: see `handsOf`. */
  readonly hands: readonly string[]
}

/** Most records have none of what could be a list. */
const none: readonly never[] = []
const nothingKept = { pin: null, saves: none } as const

/** Makes a row of a record that passed its check. */
export function toImportRow(appId: number, message: ImportMessage): ImportRow {
  const { category = 'message', tags = none } = message
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
  const editedAt = readOptionalTime(message.editedAt)
  const editedBy = editedAt === null ? null : (message.editedBy?.toLowerCase() ?? sender)
  // In groups others may have deleted it.
  const deletedBy = deletedAt === null ? null : (message.deletedBy?.toLowerCase() ?? (kind === 'user' ? sender : null))
  const { pin, saves } = keptOf(message, deletedAt !== null || category === 'action')
  const hangsOn =
    (reactions.length > 0 ? traits.reactions : 0) |
    (pin === null ? 0 : traits.pinned) |
    (saves.length > 0 ? traits.saved : 0)
  const mayCount = sender !== receiver && !uncounted.includes(category) && deletedAt === null
  return {
    appId,
    muid: message.muid,
    givenId: importedId(message.id) ?? null,
    hasId: isPreviousId(message.id),
    sender,
    kind,
    receiver,
    category,
    type,
    data: toJson(data),
    tags: deletedAt === null && tags.length > 0 ? [...new Set(tags)] : none,
    mentioned,
    traits: traitsOf({ type, data, mentioned }) | hangsOn,
    // What is imported into groups leaves nothing unread, unless it says so.
    countable: mayCount && (message.countsAsUnread ?? kind === 'user'),
    sentAt: readEpochSeconds(message.sentAt) as number,
    deliveredAt: readOptionalTime(message.deliveredAt) ?? readAt,
    readAt,
    editedAt,
    editedBy,
    deletedAt,
    deletedBy,
    parentMuid: message.parentMuid ?? null,
    subjectMuid: category === 'action' && type === 'message' ? (message.subjectMuid ?? null) : null,
    quotedMuid: deletedAt === null && category !== 'action' ? (message.quotedMuid ?? null) : null,
    reactions,
    pin,
    saves,
    hands: handsOf({ sender, category, editedBy, deletedBy, pin }, data),
  }
}

const uncounted = ['call', 'action']

function contentOf(category: string, type: string, sent: ImportMessage['data']): Record<string, unknown> {
  const data: Record<string, unknown> = { ...sent }
  removeReserved(data)
  // As in what is sent live: front ends look for the file there.
  if (category === 'message' && mediaTypes.includes(type) && !isWebAddress(data.url)) {
    data.url = attachmentsOf(data)[0]?.url
  }
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

/** Each user's reaction once, in the order of the record. Without a time of their own they take that of the message. */
function reactionsOf({ reactions, sentAt }: ImportMessage): ImportRow['reactions'] {
  if (reactions === undefined) return none
  const time = readEpochSeconds(sentAt) as number
  return Object.entries(reactions).flatMap(([reaction, given]) => {
    const times = new Map<string, number>()
    for (const entry of given) {
      const { uid, reactedAt } = typeof entry === 'string' ? { uid: entry, reactedAt: undefined } : entry
      if (!times.has(uid.toLowerCase())) times.set(uid.toLowerCase(), readOptionalTime(reactedAt) ?? time)
    }
    return [...times].map(([uid, reactedAt]) => ({ reaction, uid, reactedAt }))
  })
}

/** Who pinned and saved a message, and when; of what is deleted or an action there is nothing to keep. */
function keptOf(message: ImportMessage, isNothing: boolean): Pick<ImportRow, 'pin' | 'saves'> {
  if (isNothing || (message.savedBy === undefined && message.pinnedAt === undefined)) return nothingKept
  const pinnedAt = readOptionalTime(message.pinnedAt)
  const saves = Object.entries(message.savedBy ?? {}).map(([uid, at]) => ({
    uid: uid.toLowerCase(),
    at: readEpochSeconds(at) as number,
  }))
  const pin = pinnedAt === null ? null : { by: message.pinnedBy?.toLowerCase() ?? systemUid, at: pinnedAt }
  return { pin, saves: [...new Map(saves.map((save) => [save.uid, save])).values()] }
}
