import type { TSchema } from 'typebox'
import { readEpochSeconds } from './import-flaws.ts'
import { ImportMessage } from './import-messages.ts'
import { ImportGroup, ImportMember, ImportUser } from './import-profiles.ts'
import type { ImportKind } from './import-records.ts'

type JsonRecord = Readonly<Record<string, unknown>>

/** A record as imports take it, made of one as lists of the API answer it. */
export interface ListedRecord {
  /** The very object that was given where nothing had to be translated. */
  readonly record: JsonRecord
  /** Names of its members that an import does not know, and that nothing else in it tells. */
  readonly ignored: readonly string[]
}

const namesOf = (schema: TSchema & { readonly properties: object }) => Object.keys(schema.properties)

/** What an import makes by itself: these members of lists are not missed. */
const derived = {
  users: ['status', 'conversationId', 'updatedAt'],
  groups: ['membersCount', 'onlineMembersCount', 'conversationId', 'updatedAt', 'hasJoined', 'joinedAt', 'scope'],
  // A list of members tells of the user, too, who has a record of their own.
  members: [...namesOf(ImportUser), 'status', 'conversationId', 'updatedAt'],
  messages: [
    ...['conversationId', 'parentId', 'quotedMessageId', 'quotedMessage', 'updatedAt', 'replyCount'],
    // What an export of this service has besides.
    ...['unreadRepliesCount', 'mentions', 'subjectId', 'mentioned', 'traits', 'imported'],
  ],
} as const satisfies Record<ImportKind, readonly string[]>

const known: Readonly<Record<ImportKind, ReadonlySet<string>>> = {
  users: new Set([...namesOf(ImportUser), ...derived.users]),
  groups: new Set([...namesOf(ImportGroup), ...derived.groups]),
  members: new Set([...namesOf(ImportMember), ...derived.members]),
  messages: new Set([...namesOf(ImportMessage), ...derived.messages]),
}

/** What the service itself writes into `data`; it is made anew whenever a message is shown. */
const shownInData = ['entities', 'mentions', 'reactions', 'moderation']

/**
 * Takes a record of a list for one of an import: members get their `memberId`, messages without a `muid` that of their
 * `id`, replies a `parentMuid` for their `parentId`, reactions with persons become a map. What an export says of group
 * messages as unread is left out. A record that was written for an import stays as it is.
 * @param muidOf the muid of the message that has this id in the lists; the id itself where it had none
 */
export function takeListed(
  kind: ImportKind,
  sent: JsonRecord,
  muidOf: (id: string) => string = (id) => id,
): ListedRecord {
  const ignored: string[] = []
  for (const name in sent) if (!known[kind].has(name)) ignored.push(name)
  if (kind === 'members') return { record: memberOf(sent), ignored }
  if (kind === 'messages') return { record: messageOf(sent, muidOf, ignored), ignored }
  return { record: sent, ignored }
}

/** Remembers by which muid messages are imported that lists name by their id. */
export function createMuidsById(): { add(message: JsonRecord): void; muidOf(id: string): string } {
  const muids = new Map<string, string>()
  return {
    add({ id, muid }) {
      const listed = idOf(id)
      if (listed !== undefined && typeof muid === 'string' && muid !== listed) muids.set(listed, muid)
    },
    muidOf: (id) => muids.get(id) ?? id,
  }
}

function memberOf(sent: JsonRecord): JsonRecord {
  const { memberId, guid, uid } = sent
  if (memberId !== undefined || typeof guid !== 'string' || typeof uid !== 'string') return sent
  return { ...sent, memberId: `${guid}_member_${uid}` }
}

/** In an export every message says whether it counts, but who has read it is said by marks, which do not come with it. */
function withoutMarks(exported: JsonRecord): JsonRecord {
  const { countsAsUnread, ...rest } = exported
  return rest
}

const isOfExport = ({ traits, receiverType, countsAsUnread }: JsonRecord) =>
  typeof traits === 'number' && receiverType === 'group' && countsAsUnread !== undefined

function messageOf(given: JsonRecord, muidOf: (id: string) => string, ignored: string[]): JsonRecord {
  const sent = isOfExport(given) ? withoutMarks(given) : given
  const changes: Record<string, unknown> = {}
  const id = idOf(sent.id)
  if (sent.muid === undefined && id !== undefined) changes.muid = id
  const parentId = idOf(sent.parentId)
  if (sent.parentMuid === undefined && parentId !== undefined) changes.parentMuid = muidOf(parentId)
  const quotedId = idOf(sent.quotedMessageId)
  if (sent.quotedMuid === undefined && quotedId !== undefined) changes.quotedMuid = muidOf(quotedId)
  if (Array.isArray(sent.reactions)) {
    changes.reactions = reactionsOf(sent.reactions)
    if (changes.reactions === undefined) ignored.push('reactions')
  }
  const { data } = sent
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) {
    const subject =
      sent.subjectMuid === undefined ? (idOf(sent.subjectId) ?? subjectOf(sent, data as JsonRecord)) : undefined
    if (subject !== undefined) changes.subjectMuid = muidOf(subject)
    const content = contentOf(sent.category === 'action', data as JsonRecord)
    if (content !== data) changes.data = content
  }
  for (const _ in changes) return { ...sent, ...changes }
  return sent
}

/** Lists of reactions name each person; the reactions of a message are counts, which tell nobody's name. */
function reactionsOf(listed: readonly unknown[]): Record<string, unknown[]> | undefined {
  const given: Record<string, unknown[]> = Object.create(null)
  for (const entry of listed) {
    const { reaction, uid, reactedAt } = (entry ?? {}) as { reaction?: unknown; uid?: unknown; reactedAt?: unknown }
    if (typeof reaction !== 'string' || typeof uid !== 'string') return undefined
    const isKnown = readEpochSeconds(reactedAt) !== undefined
    given[reaction] = [...(given[reaction] ?? []), isKnown ? { uid, reactedAt } : uid]
  }
  return { ...given }
}

/** The id of the message that an action message is about. */
function subjectOf({ category, type }: JsonRecord, data: JsonRecord): string | undefined {
  if (category !== 'action' || type !== 'message') return undefined
  const { entities } = data as { entities?: { on?: { entity?: { id?: unknown } } } }
  return idOf(entities?.on?.entity?.id)
}

function contentOf(isAction: boolean, data: JsonRecord): JsonRecord {
  const shown = isAction ? [] : shownInData.filter((name) => Object.hasOwn(data, name))
  if (shown.length === 0) return data
  return Object.fromEntries(Object.entries(data).filter(([name]) => !shown.includes(name)))
}

function idOf(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value
  return typeof value === 'number' ? String(value) : undefined
}
