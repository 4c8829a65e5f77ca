import type { Queryable } from '../../store/database.ts'
import { type GroupRow, readGroups, showGroupOrDeleted } from '../groups/rows.ts'
import { type JsonText, toJson } from '../json.ts'
import { conversationId } from '../naming.ts'
import { readAway } from '../users/block-info.ts'
import { readUsers, showUserOrDeleted, type UserRow, withoutPresence } from '../users/rows.ts'
import { type Ends, type WrittenBetween, writeEnds } from './render.ts'

/** Names and faces of those whom messages mention as sender or receiver, as they are now. */
export interface Entities {
  user(uid: string): object
  group(guid: string): object
  /** The same, written out. */
  writtenUser(uid: string): JsonText
  writtenGroup(guid: string): JsonText
}

/** Entities that were written out before, by uid and by guid. */
export interface WrittenEntities {
  readonly users: ReadonlyMap<string, { readonly text: JsonText }>
  readonly groups: ReadonlyMap<string, { readonly text: JsonText }>
}

/**
 * What is the same for all messages from a sender to a receiver: the id of their conversation, and `data.entities`; null
 * where the message carries its own, as the actions of group events do.
 */
export interface Between {
  readonly conversationId: string
  readonly entities: Readonly<Record<string, unknown>> | null
}

/** For one message, with the two entities as they are shown: the receiver of a one-to-one message carries the id. */
export function between(ends: Ends, sender: object, receiver: object): Between {
  const id = conversationOf(ends)
  return {
    conversationId: id,
    entities: {
      sender: { entity: sender, entityType: 'user' },
      receiver:
        ends.kind === 'user'
          ? { entity: { ...receiver, conversationId: id }, entityType: 'user' }
          : { entity: receiver, entityType: 'group' },
    },
  }
}

/** For many messages: made once for each sender and receiver, so that one who writes them out can do that once too. */
export function createBetween(entities: Entities): (ends: Ends) => Between {
  const made = new Map<string, Between>()
  return (ends) => once(made, keyOf(ends), () => between(ends, entities.user(ends.sender), receiverOf(ends, entities)))
}

/** The entities of `between`, out of the two entities written out. */
function writeEntities(ends: Ends, sender: JsonText, receiver: JsonText): JsonText {
  const shown =
    ends.kind === 'user'
      ? `{"entity":${receiver.slice(0, -1)},"conversationId":"${conversationOf(ends)}"},"entityType":"user"}`
      : `{"entity":${receiver},"entityType":"group"}`
  return `{"sender":{"entity":${sender},"entityType":"user"},"receiver":${shown}}` as JsonText
}

/** For one message that is written out: as `between`, with the two entities as they are written out. */
export function writeBetween(ends: Ends, sender: JsonText, receiver: JsonText): WrittenBetween {
  return { ends: writeEnds(ends, conversationOf(ends)), entities: writeEntities(ends, sender, receiver) }
}

/** For many messages that are written out: each user and group once, and what lies between two of them too. */
export function createBetweenWriter(entities: Entities): (ends: Ends) => WrittenBetween {
  const made = new Map<string, WrittenBetween>()
  const make = (ends: Ends) => {
    const { sender, kind, receiver } = ends
    const written = kind === 'user' ? entities.writtenUser(receiver) : entities.writtenGroup(receiver)
    return writeBetween(ends, entities.writtenUser(sender), written)
  }
  return (ends) => once(made, keyOf(ends), () => make(ends))
}

/** For a message that carries its entities in its `data`. */
export function ownEntities(ends: Ends): Between {
  return { conversationId: conversationOf(ends), entities: null }
}

/** For the action message of an edit or deletion: who did it, for whom, to which message. */
export function aboutMessage(ends: Ends, entities: Entities, subject: object): Between {
  return {
    conversationId: conversationOf(ends),
    entities: {
      by: { entity: entities.user(ends.sender), entityType: 'user' },
      for:
        ends.kind === 'user'
          ? { entity: entities.user(ends.receiver), entityType: 'user' }
          : { entity: entities.group(ends.receiver), entityType: 'group' },
      on: { entity: subject, entityType: 'message' },
    },
  }
}

function conversationOf({ kind, sender, receiver }: Ends): string {
  return conversationId(kind, kind === 'group' ? receiver : sender, receiver)
}

/** Rows that were read a moment ago, so that they need not be read again. */
export interface KnownEntities {
  readonly users?: readonly UserRow[]
  readonly groups?: readonly GroupRow[]
  /** Of the users, those whose presence the viewer is not shown; absent where that was not asked. */
  readonly away?: ReadonlySet<string> | undefined
  /** Those of the users and groups that were written out before. */
  readonly written?: WrittenEntities | undefined
}

/** Reads the senders and receivers of messages, once for all of them, as a viewer sees them. */
export async function readEntities(
  on: Queryable,
  appId: number,
  messages: readonly Ends[],
  viewer: string | undefined,
  { users: knownUsers = [], groups: knownGroups = [], away: knownAway, written }: KnownEntities = {},
): Promise<Entities> {
  const users = new Map(knownUsers.map((user) => [user.uid, user]))
  const groups = new Map(knownGroups.map((group) => [group.guid, group]))
  const uids = new Set<string>()
  const guids = new Set<string>()
  for (const { sender, kind, receiver } of messages) {
    if (!users.has(sender)) uids.add(sender)
    if (kind === 'group') {
      if (!groups.has(receiver)) guids.add(receiver)
    } else if (!users.has(receiver)) uids.add(receiver)
  }
  const [otherUsers, otherGroups] = await Promise.all([readUsers(on, appId, uids), readGroups(on, appId, guids)])
  for (const [uid, user] of otherUsers) users.set(uid, user)
  for (const [guid, group] of otherGroups) groups.set(guid, group)
  const away = await readAway(on, appId, viewer, (knownAway === undefined ? users : otherUsers).values())
  return entitiesOf(users, groups, knownAway === undefined ? away : new Set([...knownAway, ...away]), written)
}

/**
 * Senders and receivers out of what was read.
 * @param away uids of those whose presence is not shown
 * @param known those of them that were written out before
 */
export function entitiesOf(
  users: ReadonlyMap<string, UserRow>,
  groups: ReadonlyMap<string, GroupRow>,
  away: ReadonlySet<string> = new Set(),
  known?: WrittenEntities,
): Entities {
  const [shownUsers, shownGroups] = [new Map<string, object>(), new Map<string, object>()]
  const [writtenUsers, writtenGroups] = [new Map<string, JsonText>(), new Map<string, JsonText>()]
  const showEntity = (uid: string) => {
    const user = showUserOrDeleted(uid, users.get(uid))
    return away.has(uid) ? withoutPresence(user) : user
  }
  const user = (uid: string) => once(shownUsers, uid, () => showEntity(uid))
  const group = (guid: string) => once(shownGroups, guid, () => showGroupOrDeleted(guid, groups.get(guid)))
  return {
    user,
    group,
    writtenUser(uid) {
      const before = away.has(uid) ? undefined : known?.users.get(uid)
      return before?.text ?? once(writtenUsers, uid, () => toJson(user(uid)))
    },
    writtenGroup: (guid) => known?.groups.get(guid)?.text ?? once(writtenGroups, guid, () => toJson(group(guid))),
  }
}

function keyOf({ kind, sender, receiver }: Ends): string {
  return `${kind} ${sender} ${receiver}`
}

function receiverOf({ kind, receiver }: Ends, entities: Entities): object {
  return kind === 'user' ? entities.user(receiver) : entities.group(receiver)
}

function once<Key, Value>(made: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = made.get(key)
  if (known !== undefined) return known
  const fresh = make()
  made.set(key, fresh)
  return fresh
}
