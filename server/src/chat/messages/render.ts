import { Message } from '@parley/contract'
import fastJson from 'fast-json-stringify'
import { type JsonText, toJson } from '../json.ts'
import { shownUid } from '../naming.ts'
import type { Addition } from './additions.ts'
import type { Between } from './entities.ts'

/** What answers show of a message that is about to be stored. */
export interface DraftView<Data = Readonly<Record<string, unknown>>> {
  readonly muid: string | null
  readonly sender: string
  /** 1 one-to-one, 2 group */
  readonly kind: 1 | 2
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
export function viewOfNew(draft: DraftView, id: number, sentAt: number): MessageView {
  // One literal: an object that is spread together costs more than all the rest of a send's answer.
  return {
    id,
    muid: draft.muid,
    sender: draft.sender,
    kind: draft.kind,
    receiver: draft.receiver,
    category: draft.category,
    type: draft.type,
    data: draft.data,
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
  /** Tags are answered only where they are asked for, and to the one who sends. */
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

const stringify = fastJson(Message)
const noData = {}
const placeOfData = '"data":'

/**
 * The same message, written out. What was sent is put in as it is stored; all the rest is rendered as ever.
 * @param entities those of `between`, written out
 */
export function writeMessage(
  view: MessageView<JsonText>,
  between: Between,
  entities: JsonText | undefined,
  options: RenderOptions = {},
): JsonText<Message> {
  const text = stringify(renderAround(view, between, noData, options))
  // All that comes before it are strings, in which no quote stands without a backslash: so this is `data` itself.
  const at = text.indexOf(placeOfData) + placeOfData.length
  const data = writeData(view.data, entities, options.additions ?? none)
  return (text.slice(0, at) + data + text.slice(at + 2)) as JsonText<Message>
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
  message.receiverType = view.kind === 1 ? 'user' : 'group'
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
  if (view.editedBy !== null) message.editedBy = view.editedBy
  if (view.deletedAt !== null) message.deletedAt = view.deletedAt
  if (view.deletedBy !== null) message.deletedBy = view.deletedBy
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
  } = renderMessage(viewOfNew(draft, 0, 0), between, { withTags: true })
  return shown
}

const none: readonly Addition[] = []

/** What was sent, the entities, and what features add: none has a member of another. */
function dataOf(view: DraftView, { entities }: Between, additions: readonly Addition[]): Record<string, unknown> {
  const data: Record<string, unknown> = { ...view.data }
  if (entities !== null) data.entities = entities
  for (const { data: added } of additions) if (added !== undefined) Object.assign(data, added)
  return data
}

/** As `dataOf`, of what is written out. */
function writeData(stored: JsonText, entities: JsonText | undefined, additions: readonly Addition[]): string {
  const added = entities === undefined ? [] : [`"entities":${entities}`]
  for (const { data } of additions) {
    for (const name in data) added.push(`${toJson(name)}:${toJson(data[name])}`)
  }
  if (added.length === 0) return stored
  const inner = stored.slice(stored.indexOf('{') + 1, stored.lastIndexOf('}'))
  return `{${inner.trim() === '' ? '' : `${inner},`}${added.join(',')}}`
}
