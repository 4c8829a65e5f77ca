import type { Message } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { type JsonText, toJson } from '../json.ts'
import type { RolePolicy } from '../roles/policies.ts'
import { readBlocked } from '../sight/blocks.ts'
import { isThere } from '../sight/participation.ts'
import { readVisible } from '../sight/sight.ts'
import { type Addition, readAdditions } from './additions.ts'
import {
  aboutMessage,
  type Between,
  createBetween,
  createBetweenWriter,
  type Entities,
  type KnownEntities,
  ownEntities,
  readEntities,
} from './entities.ts'
import { readMentions } from './mentions.ts'
import { moderationOfMessages } from './moderation.ts'
import { type OwnReceipts, readOwnReceipts } from './own-receipts.ts'
import type { CountedReaction } from './reactions.ts'
import { type RenderOptions, renderMessage, type WrittenBetween, writeEnds, writeMessage } from './render.ts'
import { type MessageRow, readMessages, type StoredMessage } from './rows.ts'
import type { ThreadCounts } from './threads.ts'
import { isHeld } from './traits.ts'

export interface ShowOptions {
  /** The acting user, who alone is shown what is private to them (savedAt, reactedByMe). Undefined: the app, or everybody. */
  readonly viewer?: string | undefined
  /** Shows the tags: see `RenderOptions`. */
  readonly withTags?: boolean
  /** Answers the message that another one quotes inside it. */
  readonly withQuoted?: boolean
  /** What is set on the viewer's role: with their scope and their resets it hides what messages quote or are about. */
  readonly policy?: RolePolicy | undefined
  /** The viewer has opened what the messages tell of already: nothing of it is hidden. */
  readonly withHidden?: boolean
  /** Says of messages with a thread whether the viewer follows it. */
  readonly withThreadSubscribed?: boolean
  /** Shows the tags of users whom messages mention. */
  readonly withMentionTags?: boolean
  /** Shows what blocks there are between the viewer and users whom messages mention. */
  readonly withMentionBlocks?: boolean
  /** Nothing that a user wrote whom the viewer has blocked is shown inside a message. */
  readonly hidesBlocked?: boolean
  /** Users and groups that were read for this answer already; they are not read again. */
  readonly known?: KnownEntities
  /** The viewer's receipts in all groups that these messages are of, where they were read with the page. */
  readonly ownReceipts?: OwnReceipts | undefined
  /** What else was read with the page. */
  readonly along?: ReadAlong | undefined
}

/** What was read with a page of one history, from whose viewer nothing of that is hidden. */
export interface ReadAlong {
  /** The messages of the page and its neighbour, all of which the viewer sees. */
  readonly messages: ReadonlyArray<StoredMessage<JsonText>>
  /** What hangs on them. */
  readonly reactions: readonly CountedReaction[]
  readonly threads: readonly ThreadCounts[]
}

/** Messages as answers show them; senders and receivers are read once for all of them. */
export async function showMessages(
  on: Queryable,
  appId: number,
  rows: readonly StoredMessage[],
  options: ShowOptions = {},
): Promise<Message[]> {
  const { betweenOf, optionsOf } = await readParts(on, appId, rows, options)
  return rows.map((row) => renderMessage(withoutReceipts(row), betweenOf(row), optionsOf(row)))
}

/** As `showMessages`, written out: what was sent goes through as it is stored. */
export async function writeMessages(
  on: Queryable,
  appId: number,
  rows: ReadonlyArray<StoredMessage<JsonText>>,
  options: ShowOptions = {},
): Promise<JsonText<Message>[]> {
  const { entities, betweenOf, optionsOf } = await readParts(on, appId, rows, options)
  const writeBetween = createBetweenWriter(entities)
  return rows.map((row) => {
    const isPlain = row.subjectId === null && row.category !== 'action'
    return writeMessage(
      withoutReceipts(row),
      isPlain ? writeBetween(row) : writeOne(row, betweenOf(row)),
      optionsOf(row),
    )
  })
}

/** Marks that pass what moderation holds are not about it. */
function withoutReceipts<Row extends MessageRow>(row: Row): Row {
  return isHeld(row) ? { ...row, deliveredAt: null, readAt: null } : row
}

/** What stands around a message that has entities of its own. */
function writeOne(row: MessageRow, { conversationId, entities }: Between): WrittenBetween {
  return { ends: writeEnds(row, conversationId), entities: entities === null ? undefined : toJson(entities) }
}

/** What is shown with each message of a page. */
interface Parts {
  readonly entities: Entities
  betweenOf(row: MessageRow): Between
  optionsOf(row: MessageRow): RenderOptions
}

/** Reads what is shown with messages, once for all of them. */
async function readParts(
  on: Queryable,
  appId: number,
  rows: readonly MessageRow[],
  options: ShowOptions,
): Promise<Parts> {
  const inside = await readInside(on, appId, rows, options)
  const { viewer, withTags } = options
  const [entities, additions, addedInside, ownReceiptsOf] = await Promise.all([
    readEntities(on, appId, inside.size === 0 ? rows : [...rows, ...inside.values()], viewer, options.known),
    readAdditions(on, appId, rows, options),
    readAdditionsInside(on, appId, [...inside.values()], options),
    viewer === undefined ? () => undefined : readOwnReceipts(on, appId, viewer, rows, options.ownReceipts),
  ])
  const around = createAround(entities)
  const showInside = (row: StoredMessage | undefined, { withTags }: ShowOptions): Message | undefined =>
    row && renderMessage(row, around(row), { withTags, additions: addedInside(row.id) })
  const about = (row: MessageRow, subjectId: number): Between => {
    const subject = showInside(inside.get(subjectId), { withTags: true })
    return aboutMessage(row, entities, subject ?? { id: String(subjectId) })
  }
  return {
    entities,
    betweenOf: (row) => (row.subjectId === null ? around(row) : about(row, row.subjectId)),
    optionsOf(row) {
      const [added, receipts] = [additions.get(row.id), ownReceiptsOf(row)]
      const quotedMessage = showsQuoted(row, options) ? showInside(inside.get(row.quotedId), options) : undefined
      return { withTags, additions: receipts === undefined ? added : [...(added ?? []), receipts], quotedMessage }
    },
  }
}

/**
 * A message without what hangs on it, but for its mentions and where moderation stands with it: as it is shown inside another one
 * that quotes it, and to a sender who does not see it any more.
 */
export async function showAlone(
  on: Queryable,
  appId: number,
  row: StoredMessage,
  { viewer, withTags }: Pick<ShowOptions, 'viewer' | 'withTags'>,
): Promise<Message> {
  const [entities, added] = await Promise.all([
    readEntities(on, appId, [row], viewer),
    readAdditionsInside(on, appId, [row], { viewer }),
  ])
  return renderMessage(withoutReceipts(row), createAround(entities)(row), { withTags, additions: added(row.id) })
}

/** What features add to messages that are shown inside others, by id. */
async function readAdditionsInside(
  on: Queryable,
  appId: number,
  rows: readonly StoredMessage[],
  options: ShowOptions,
): Promise<(id: number) => readonly Addition[]> {
  const moderated = rows.filter((row) => (row.traits & moderationOfMessages.bits) !== 0)
  const [mentions, moderation] = await Promise.all([
    readMentions(on, appId, rows, options),
    moderated.length === 0 ? undefined : moderationOfMessages.read(on, appId, moderated, options),
  ])
  return (id) => [mentions.get(id), moderation?.get(id)].filter((addition) => addition !== undefined)
}

/** What stands around messages of a page: actions of group events carry their own entities. */
function createAround(entities: Entities): (row: MessageRow) => Between {
  const between = createBetween(entities)
  return (row) => (row.category === 'action' ? ownEntities(row) : between(row))
}

/** Whether the message that a message quotes is to be shown in it. */
function showsQuoted<Row extends MessageRow>(
  row: Row,
  { withQuoted = true }: ShowOptions,
): row is Row & { readonly quotedId: number } {
  return row.quotedId !== null && withQuoted
}

/**
 * What messages show inside them, by id: those that they quote, and those that an action is about, which are joined when
 * they are read: deleted text does not live on in actions. What the viewer does not see is not among them.
 */
async function readInside(
  on: Queryable,
  appId: number,
  rows: readonly MessageRow[],
  options: ShowOptions,
): Promise<ReadonlyMap<number, StoredMessage>> {
  const ids: number[] = []
  for (const row of rows) {
    if (showsQuoted(row, options)) ids.push(row.quotedId)
    if (row.subjectId !== null) ids.push(row.subjectId)
  }
  const { viewer, policy, withHidden = false, hidesBlocked = false } = options
  // Mostly they were said a moment before, and stand on the same page.
  const near = nearbyOf(ids, options)
  const found = await readMessages(on, appId, near.size === 0 ? ids : ids.filter((id) => !near.has(id)))
  if (found.size === 0) return near
  if (withHidden) return new Map([...near, ...found])
  if (viewer === undefined) return new Map([...found].filter(([, message]) => isThere(undefined, message)))
  const messages = [...found.values()]
  const [visible, blocked] = await Promise.all([
    readVisible(on, appId, { uid: viewer, policy }, messages),
    hidesBlocked
      ? readBlocked(
          on,
          appId,
          viewer,
          messages.map(({ sender }) => sender),
        )
      : new Set<string>(),
  ])
  const shown = messages.filter(({ id, sender }) => visible.has(id) && !blocked.has(sender))
  return new Map([...near, ...shown.map((message) => [message.id, message] as const)])
}

function nearbyOf(ids: readonly number[], { along }: ShowOptions): Map<number, StoredMessage> {
  const near = new Map<number, StoredMessage>()
  if (along === undefined || ids.length === 0) return near
  const wanted = new Set(ids)
  for (const row of along.messages) if (wanted.has(row.id)) near.set(row.id, { ...row, data: JSON.parse(row.data) })
  return near
}
