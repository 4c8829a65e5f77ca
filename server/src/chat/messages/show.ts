import type { Message } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { type JsonText, toJson } from '../json.ts'
import type { RolePolicy } from '../roles/policies.ts'
import { readVisible } from '../sight/sight.ts'
import { type Addition, readAdditions } from './additions.ts'
import {
  aboutMessage,
  type Between,
  createBetween,
  createEntitiesWriter,
  type Entities,
  type KnownEntities,
  ownEntities,
  readEntities,
} from './entities.ts'
import { readMentions } from './mentions.ts'
import { readOwnReceipts } from './own-receipts.ts'
import { type RenderOptions, renderMessage, writeMessage } from './render.ts'
import { type MessageRow, readMessages, type StoredMessage } from './rows.ts'

export interface ShowOptions {
  /** The acting user; what is private to them (saved, reactedByMe) is shown to nobody else. */
  readonly viewer?: string | undefined
  /** Tags are answered only where they are asked for, and to the one who sends. */
  readonly withTags?: boolean
  /** Answers the message that another one quotes inside it. */
  readonly withQuoted?: boolean
  /** What is set on the viewer's role: with their scope and their resets it hides what messages quote or tell of. */
  readonly policy?: RolePolicy | undefined
  /** The viewer has opened what the messages tell of already: nothing of it is hidden. */
  readonly withHidden?: boolean
  /** Says of messages with a thread whether the viewer follows it. */
  readonly withThreadSubscribed?: boolean
  /** Shows the tags of users whom messages mention. */
  readonly withMentionTags?: boolean
  /** Shows what blocks there are between the viewer and users whom messages mention. */
  readonly withMentionBlocks?: boolean
  /** Users and groups that were read for this answer already. */
  readonly known?: KnownEntities
}

/** Messages as answers show them; senders and receivers are read once for all of them. */
export async function showMessages(
  on: Queryable,
  appId: number,
  rows: readonly StoredMessage[],
  options: ShowOptions = {},
): Promise<Message[]> {
  const { partsOf } = await readParts(on, appId, rows, options)
  return rows.map((row) => {
    const { between, ...parts } = partsOf(row)
    return renderMessage(row, between, parts)
  })
}

/** As `showMessages`, written out: what was sent goes through as it is stored. */
export async function writeMessages(
  on: Queryable,
  appId: number,
  rows: ReadonlyArray<StoredMessage<JsonText>>,
  options: ShowOptions = {},
): Promise<JsonText<Message>[]> {
  const { partsOf, entities } = await readParts(on, appId, rows, options)
  const writeBetween = createEntitiesWriter(entities)
  return rows.map((row) => {
    const { between, ...parts } = partsOf(row)
    const isPlain = row.subjectId === null && between.entities !== null
    const written = isPlain ? writeBetween(row) : between.entities === null ? undefined : toJson(between.entities)
    return writeMessage(row, between, written, parts)
  })
}

interface Parts extends RenderOptions {
  readonly between: Between
}

/** Reads what is shown with messages, once for all of them. */
async function readParts(
  on: Queryable,
  appId: number,
  rows: readonly MessageRow[],
  options: ShowOptions,
): Promise<{ partsOf: (row: MessageRow) => Parts; entities: Entities }> {
  const inside = await readInside(on, appId, rows, options)
  const { viewer } = options
  const [entities, additions, mentionsInside, receipts] = await Promise.all([
    readEntities(on, appId, [...rows, ...inside.values()], options.known),
    readAdditions(on, appId, rows, options),
    readMentions(on, appId, [...inside.values()], options),
    viewer === undefined ? undefined : readOwnReceipts(on, appId, viewer, rows),
  ])
  const around = createAround(entities)
  const showInside = (row: StoredMessage | undefined, { withTags }: ShowOptions): Message | undefined =>
    row && renderMessage(row, around(row), { withTags, additions: inOne(mentionsInside.get(row.id)) })
  const about = (row: MessageRow, subjectId: number): Between => {
    const subject = showInside(inside.get(subjectId), { withTags: true })
    return aboutMessage(row, entities, subject ?? { id: String(subjectId) })
  }
  const partsOf = (row: MessageRow): Parts => ({
    between: row.subjectId === null ? around(row) : about(row, row.subjectId),
    withTags: options.withTags,
    additions: [...(additions.get(row.id) ?? []), ...inOne(receipts?.get(row.id))],
    quotedMessage: quotedOf(row, options).map((id) => showInside(inside.get(id), options))[0],
  })
  return { partsOf, entities }
}

/** A message as it is shown inside another one that quotes it: without what hangs on it, but for its mentions. */
export async function showQuoted(on: Queryable, appId: number, row: StoredMessage): Promise<Message> {
  const [entities, mentions] = await Promise.all([readEntities(on, appId, [row]), readMentions(on, appId, [row], {})])
  return renderMessage(row, createAround(entities)(row), { additions: inOne(mentions.get(row.id)) })
}

/** What stands around messages of a page: actions of group events carry their own entities. */
function createAround(entities: Entities): (row: MessageRow) => Between {
  const between = createBetween(entities)
  return (row) => (row.category === 'action' ? ownEntities(row) : between(row))
}

function inOne(addition: Addition | undefined): readonly Addition[] {
  return addition === undefined ? [] : [addition]
}

/** The id of the message that a message quotes, where it is to be shown. */
function quotedOf({ quotedId }: MessageRow, { withQuoted = true }: ShowOptions): number[] {
  return quotedId === null || !withQuoted ? [] : [quotedId]
}

/**
 * What messages show inside them, by id: those that they quote, and those that an action tells of, which are joined when
 * they are read: deleted text does not live on in actions. What the viewer does not see is not among them.
 */
async function readInside(
  on: Queryable,
  appId: number,
  rows: readonly MessageRow[],
  options: ShowOptions,
): Promise<ReadonlyMap<number, StoredMessage>> {
  const found = await readMessages(
    on,
    appId,
    rows.flatMap((row) => [...quotedOf(row, options), ...(row.subjectId === null ? [] : [row.subjectId])]),
  )
  const { viewer, policy, withHidden = false } = options
  if (viewer === undefined || withHidden || found.size === 0) return found
  const visible = await readVisible(on, appId, { uid: viewer, policy }, [...found.values()])
  return new Map([...found].filter(([id]) => visible.has(id)))
}
