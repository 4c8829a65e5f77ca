import type { Message } from '@parley/contract'
import { type JsonText, toJson } from '../json.ts'
import type { ConversationKind } from '../kind.ts'
import { shownUid } from '../naming.ts'
import { showActionData } from './action-entities.ts'
import type { Addition } from './additions.ts'
import type { Between } from './entities.ts'

/** Who writes a message, and to whom. */
export type Ends = Pick<DraftView, 'sender' | 'kind' | 'receiver'>

/** What answers show of a message that is about to be stored. */
export interface DraftView<Data = Readonly<Record<string, unknown>>> {
  readonly muid: string | null
  readonly sender: string
  readonly kind: ConversationKind
  readonly receiver: string
  readonly category: string
  readonly type: string
  /**
   * What was sent, as it is stored. It has no member that rendering adds (`reserved` in areas/messages/content.ts), and
   * nothing but `dataOf` looks into it.
   */
  readonly data: Data
  readonly parentId: number | null
  readonly quotedId: number | null
  readonly tags: readonly string[] | null
}

/**
 * What answers show of a message. Whoever shows one fills it: what is read from the database, what was sent a moment ago,
 * what is imported, what a group event leaves. A field that is added here must be filled by all of them.
 */
export interface MessageView<Data = Readonly<Record<string, unknown>>> extends DraftView<Data> {
  readonly id: number
  readonly sentAt: number
  readonly updatedAt: number
  readonly deliveredAt: number | null
  readonly readAt: number | null
  readonly editedAt: number | null
  readonly editedBy: string | null
  readonly deletedAt: number | null
  readonly deletedBy: string | null
}

/** The view of a new message, which nothing has happened to yet. */
export function viewOfNew<Data = Readonly<Record<string, unknown>>>(
  draft: Omit<DraftView, 'data'>,
  data: Data,
  id: number,
  sentAt: number,
): MessageView<Data> {
  // One literal: an object that is spread together costs more than all the rest of a send's answer.
  return {
    id,
    muid: draft.muid,
    sender: draft.sender,
    kind: draft.kind,
    receiver: draft.receiver,
    category: draft.category,
    type: draft.type,
    data,
    parentId: draft.parentId,
    quotedId: draft.quotedId,
    tags: draft.tags,
    sentAt,
    updatedAt: sentAt,
    deliveredAt: null,
    readAt: null,
    editedAt: null,
    editedBy: null,
    deletedAt: null,
    deletedBy: null,
  }
}

export interface RenderOptions {
  /**
   * Shows the tags. Lists of messages leave them out unless they are asked for, webhooks and pulled events always; everything
   * else shows them to everybody. What only some may see is an addition that looks at `viewer`, as `savedAt` is (saves.ts).
   */
  readonly withTags?: boolean | undefined
  /** What features add to it. */
  readonly additions?: readonly Addition[] | undefined
  /** The message that it quotes, rendered. */
  readonly quotedMessage?: Message | undefined
}

/** A message as answers, frames and events show it. Nothing else makes one: what is true of it is true everywhere. */
export function renderMessage(view: MessageView, between: Between, options: RenderOptions = {}): Message {
  return renderAround(view, between, dataOf(view, between, options.additions ?? none), options)
}

/** What is the same between a sender and a receiver, written out. */
export interface WrittenBetween {
  /** The members of a message from `conversationId` to `receiver`. */
  readonly ends: string
  /** `data.entities`; undefined where the message carries its own. */
  readonly entities: JsonText | undefined
}

/** Writes out `ends` of messages from a sender to a receiver: identifiers have nothing that JSON escapes. */
export function writeEnds({ sender, kind, receiver }: Ends, conversationId: string): string {
  return `"conversationId":"${conversationId}","sender":"${shownUid(sender)}","receiverType":"${kind}","receiver":"${receiver}"`
}

/**
 * What `renderMessage` gives, written out: what was sent is put in as it is stored. Most of what chats read comes through
 * here, so it is one text from the start.
 */
export function writeMessage(
  view: MessageView<JsonText>,
  { ends, entities }: WrittenBetween,
  { withTags = false, additions = none, quotedMessage }: RenderOptions = {},
): JsonText<Message> {
  let text = `{"id":"${view.id}",`
  if (view.muid !== null) text += `"muid":${toJson(view.muid)},`
  text += `${ends},"category":"${view.category}","type":${writeType(view.type)},"data":${writeData(view.data, entities, additions)}`
  if (view.parentId !== null) text += `,"parentId":"${view.parentId}"`
  if (view.quotedId !== null) text += `,"quotedMessageId":"${view.quotedId}"`
  if (quotedMessage !== undefined) text += `,"quotedMessage":${toJson(quotedMessage)}`
  if (withTags && view.tags !== null && view.tags.length > 0) text += `,"tags":${toJson(view.tags)}`
  text += `,"sentAt":${view.sentAt}`
  if (view.deliveredAt !== null) text += `,"deliveredAt":${view.deliveredAt}`
  if (view.readAt !== null) text += `,"readAt":${view.readAt}`
  if (view.editedAt !== null) text += `,"editedAt":${view.editedAt}`
  if (view.editedBy !== null) text += `,"editedBy":"${shownUid(view.editedBy)}"`
  if (view.deletedAt !== null) text += `,"deletedAt":${view.deletedAt}`
  if (view.deletedBy !== null) text += `,"deletedBy":"${shownUid(view.deletedBy)}"`
  text += `,"updatedAt":${view.updatedAt}`
  for (const { fields } of additions) if (fields !== undefined) text += writeMembers(fields)
  return `${text}}` as JsonText<Message>
}

/** Nearly all are one of a few. */
function writeType(type: string): string {
  return type === 'text' ? '"text"' : toJson(type)
}

function writeMembers(members: Readonly<Record<string, unknown>>): string {
  let text = ''
  for (const name in members) {
    const value = members[name]
    if (value !== undefined) text += `,"${name}":${typeof value === 'number' ? value : toJson(value)}`
  }
  return text
}

/** All but what is in `data`. */
function renderAround(
  view: MessageView<unknown>,
  between: Between,
  data: Record<string, unknown>,
  { withTags = false, additions = none, quotedMessage }: RenderOptions,
): Message {
  // In steps instead of conditional spreads, each of which would copy what is there so far: pages are many messages.
  const message = { id: String(view.id) } as Message
  if (view.muid !== null) message.muid = view.muid
  message.conversationId = between.conversationId
  message.sender = shownUid(view.sender)
  message.receiverType = view.kind
  message.receiver = view.receiver
  message.category = view.category
  message.type = view.type
  message.data = data
  if (view.parentId !== null) message.parentId = String(view.parentId)
  if (view.quotedId !== null) message.quotedMessageId = String(view.quotedId)
  if (quotedMessage !== undefined) message.quotedMessage = quotedMessage
  if (withTags && view.tags !== null && view.tags.length > 0) message.tags = [...view.tags]
  message.sentAt = view.sentAt
  if (view.deliveredAt !== null) message.deliveredAt = view.deliveredAt
  if (view.readAt !== null) message.readAt = view.readAt
  if (view.editedAt !== null) message.editedAt = view.editedAt
  if (view.editedBy !== null) message.editedBy = shownUid(view.editedBy)
  if (view.deletedAt !== null) message.deletedAt = view.deletedAt
  if (view.deletedBy !== null) message.deletedBy = shownUid(view.deletedBy)
  message.updatedAt = view.updatedAt
  for (const { fields } of additions) if (fields !== undefined) Object.assign(message, fields)
  return message
}

/** A message that is about to be stored, as it will be shown, but for its id and its times. */
export function renderDraft(draft: DraftView, between: Between): Omit<Message, 'id' | 'sentAt' | 'updatedAt'> {
  const {
    id: _,
    sentAt: __,
    updatedAt: ___,
    ...shown
  } = renderMessage(viewOfNew(draft, draft.data, 0, 0), between, { withTags: true })
  return shown
}

const none: readonly Addition[] = []

/** What was sent, the entities, and what features add: none has a member of another. */
function dataOf(view: DraftView, { entities }: Between, additions: readonly Addition[]): Record<string, unknown> {
  const data: Record<string, unknown> =
    entities === null ? { ...showActionData(view.data) } : { ...view.data, entities }
  for (const { data: added } of additions) if (added !== undefined) Object.assign(data, added)
  return data
}

/** As `dataOf`, of what is written out. */
function writeData(sent: JsonText, entities: JsonText | undefined, additions: readonly Addition[]): string {
  let added = entities === undefined ? '' : `,"entities":${entities}`
  for (const { data } of additions) if (data !== undefined) added += writeMembers(data)
  const stored = entities === undefined ? toJson(showActionData(JSON.parse(sent))) : sent
  if (added === '') return stored
  const inner = stored.slice(stored.indexOf('{') + 1, stored.lastIndexOf('}'))
  return isBlank(inner) ? `{${added.slice(1)}}` : `{${inner}${added}}`
}

function isBlank(text: string): boolean {
  // Nearly all have a member, whose name comes first.
  return !text.startsWith('"') && text.trim() === ''
}
