import type { Message } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { readGroups, showGroup } from '../groups/rows.ts'
import { conversationId } from '../naming.ts'
import type { RolePolicy } from '../roles/policies.ts'
import { readVisible } from '../sight/sight.ts'
import { readUsers, showDeletedUser, showUser } from '../users/rows.ts'
import { addTo, readAdditions } from './additions.ts'
import { readMentions } from './mentions.ts'
import { readMessages, type StoredMessage } from './rows.ts'

export interface ShowOptions {
  /** The acting user; what is private to him (saved, reactedByMe) is shown to nobody else. */
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
}

/** Names and faces of those whom messages mention as sender or receiver, as they are now. */
export interface Entities {
  user(uid: string): object
  group(guid: string): object
}

/** Messages as answers show them; senders and receivers are read once for all of them. */
export async function showMessages(
  on: Queryable,
  appId: number,
  rows: readonly StoredMessage[],
  options: ShowOptions = {},
): Promise<Message[]> {
  const inside = await readInside(on, appId, rows, options)
  const [entities, additions, mentionsInside] = await Promise.all([
    readEntities(on, appId, [...rows, ...inside.values()]),
    readAdditions(on, appId, rows, options),
    readMentions(on, appId, [...inside.values()], options),
  ])
  const showInside = (row: StoredMessage | undefined, showOptions: ShowOptions): Message | undefined =>
    row && addTo(showMessage(row, entities, showOptions), [mentionsInside.get(row.id) ?? {}])
  return rows.map((row) => {
    const subject = row.subjectId === null ? undefined : showInside(inside.get(row.subjectId), { withTags: true })
    const shown = showMessage(row, entities, options)
    const message = addTo(
      row.subjectId === null ? shown : aboutMessage(shown, row, subject, entities),
      additions.get(row.id) ?? [],
    )
    const quotedMessage = quotedOf(row, options).map((id) => showInside(inside.get(id), options))[0]
    return quotedMessage === undefined ? message : { ...message, quotedMessage }
  })
}

/** A message as it is shown inside another one that quotes it: without what hangs on it, but for its mentions. */
export async function showQuoted(on: Queryable, appId: number, row: StoredMessage): Promise<Message> {
  const [entities, mentions] = await Promise.all([readEntities(on, appId, [row]), readMentions(on, appId, [row], {})])
  return addTo(showMessage(row, entities), [mentions.get(row.id) ?? {}])
}

/** The id of the message that a message quotes, where it is to be shown. */
function quotedOf({ quotedId }: StoredMessage, { withQuoted = true }: ShowOptions): number[] {
  return quotedId === null || !withQuoted ? [] : [quotedId]
}

/**
 * What messages show inside them, by id: those that they quote, and those that an action tells of, which are joined when
 * they are read: deleted text does not live on in actions. What the viewer does not see is not among them.
 */
async function readInside(
  on: Queryable,
  appId: number,
  rows: readonly StoredMessage[],
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

async function readEntities(on: Queryable, appId: number, rows: readonly StoredMessage[]): Promise<Entities> {
  const uids = new Set<string>()
  const guids = new Set<string>()
  for (const row of rows) {
    uids.add(row.sender)
    if (row.kind === 1) uids.add(row.receiver)
    else guids.add(row.receiver)
  }
  const [users, groups] = await Promise.all([readUsers(on, appId, uids), readGroups(on, appId, guids)])
  return {
    user(uid) {
      const user = users.get(uid)
      return user === undefined ? showDeletedUser(uid) : showUser(user)
    },
    group(guid) {
      const group = groups.get(guid)
      return group === undefined ? { guid } : showGroup(group)
    },
  }
}

/** One message; `data` is what was sent, with the entities of its sender and receiver. */
export function showMessage(row: StoredMessage, entities: Entities, { withTags = false }: ShowOptions = {}): Message {
  const conversation = conversationId(row.kind, row.kind === 2 ? row.receiver : row.sender, row.receiver)
  return {
    id: String(row.id),
    ...(row.muid !== null && { muid: row.muid }),
    conversationId: conversation,
    sender: row.sender,
    receiverType: row.kind === 1 ? 'user' : 'group',
    receiver: row.receiver,
    category: row.category,
    type: row.type,
    data:
      row.category === 'action' ? row.data : { ...row.data, entities: messageEntities(row, entities, conversation) },
    ...(row.parentId !== null && { parentId: String(row.parentId) }),
    ...(row.quotedId !== null && { quotedMessageId: String(row.quotedId) }),
    ...(withTags && row.tags !== null && row.tags.length > 0 && { tags: row.tags }),
    sentAt: row.sentAt,
    ...(row.deliveredAt !== null && { deliveredAt: row.deliveredAt }),
    ...(row.readAt !== null && { readAt: row.readAt }),
    ...(row.editedAt !== null && { editedAt: row.editedAt }),
    ...(row.editedBy !== null && { editedBy: row.editedBy }),
    ...(row.deletedAt !== null && { deletedAt: row.deletedAt }),
    ...(row.deletedBy !== null && { deletedBy: row.deletedBy }),
    updatedAt: row.updatedAt,
  }
}

/** The action message of an edit or a deletion, with the message that it is about as it is now. */
function aboutMessage(shown: Message, row: StoredMessage, subject: Message | undefined, entities: Entities): Message {
  const receiver = row.kind === 1 ? entities.user(row.receiver) : entities.group(row.receiver)
  return {
    ...shown,
    data: {
      ...row.data,
      entities: {
        by: { entity: entities.user(row.sender), entityType: 'user' },
        for: { entity: receiver, entityType: row.kind === 1 ? 'user' : 'group' },
        on: { entity: subject ?? { id: String(row.subjectId) }, entityType: 'message' },
      },
    },
  }
}

/** `data.entities`: the receiver carries the id of the conversation. */
export function messageEntities(
  row: Pick<StoredMessage, 'sender' | 'kind' | 'receiver'>,
  entities: Entities,
  conversation: string,
): object {
  return {
    sender: { entity: entities.user(row.sender), entityType: 'user' },
    receiver:
      row.kind === 1
        ? { entity: { ...entities.user(row.receiver), conversationId: conversation }, entityType: 'user' }
        : { entity: entities.group(row.receiver), entityType: 'group' },
  }
}
