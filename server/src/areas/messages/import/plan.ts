import type { ConversationKind } from '../../../chat/kind.ts'
import { partsOf } from '../../../chat/naming.ts'
import type { ImportRow } from './row.ts'

/** What identifies a conversation. */
export interface NamedConversation {
  readonly appId: number
  readonly key: number
  readonly kind: ConversationKind
  readonly first: string
  readonly second: string
}

/** A conversation that a batch writes into, as it stands under its lock. */
export interface LockedConversation extends NamedConversation {
  readonly createdAt: number
  readonly lastSentAt: number | null
  readonly lastId: number | null
  readonly listedSentAt: number | null
  readonly listedId: number | null
}

/** A message stored before, sent or imported, whose muid a batch names. */
export interface KnownMessage {
  readonly appId: number
  readonly muid: string
  readonly id: number
  readonly conversation: number
  readonly sender: string
  readonly sentAt: number
  readonly parentId: number | null
  /** Moderation holds it: it takes no replies. */
  readonly isHeld: boolean
}

export type ImportRefusal =
  /** Somebody whom it names was erased since it was admitted. */
  | 'ERR_IMPORT_UID_ERASED'
  | 'ERR_UID_NOT_FOUND'
  | 'ERR_GUID_NOT_FOUND'
  | 'ERR_IMPORT_MUID_ALREADY_EXISTS'
  /** The muid is taken, but by another message: this one is not there yet. */
  | 'MUID_OF_ANOTHER_MESSAGE'
  | 'ERR_WRONG_MESSAGE_THREAD'
  | 'ERR_MESSAGE_THREAD_NESTING'
  /** The message that an action message is about is not there. */
  | 'ERR_MESSAGE_ID_NOT_FOUND'

/** A message that is to be stored. */
export interface PlannedMessage<Conversation = LockedConversation> {
  readonly row: ImportRow
  readonly conversation: Conversation
  /** The message that it answers: stored before, by its id, or another row of the batch. */
  readonly parent: number | ImportRow | null
  /** The same of the message that it is about, where it is an action message. */
  readonly subject: number | ImportRow | null
  /** The same of the message that it quotes; null also where that is not in the conversation. */
  readonly quoted: number | ImportRow | null
}

/**
 * Decides about each row of a batch: stored, or why not. Of rows with the same muid the first that fits counts.
 * @param isAdmitted whether everybody whom a row names is still there
 */
export function planImport<Conversation extends NamedConversation>(
  rows: readonly ImportRow[],
  conversations: readonly Conversation[],
  known: readonly KnownMessage[],
  isAdmitted: (row: ImportRow) => boolean = () => true,
): Array<PlannedMessage<Conversation> | ImportRefusal> {
  const byName = new Map(conversations.map((found) => [nameOf(found, [found.first, found.second]), found]))
  const conversationOf = (row: ImportRow) => byName.get(nameOf(row, partsOf(row)))
  const stored = new Map<string, KnownMessage[]>()
  for (const message of known) {
    const key = muidKey(message.appId, message.muid)
    stored.set(key, [...(stored.get(key) ?? []), message])
  }
  const firstOf = new Map<string, ImportRow>()
  for (const row of rows) {
    const key = muidKey(row.appId, row.muid)
    if (!firstOf.has(key) && !stored.has(key) && isAdmitted(row)) firstOf.set(key, row)
  }

  const findParent = (row: ImportRow, conversation: Conversation): number | ImportRow | null | ImportRefusal => {
    if (row.parentMuid === null) return null
    const key = muidKey(row.appId, row.parentMuid)
    const here = stored.get(key)?.find((message) => message.conversation === conversation.key && !message.isHeld)
    if (here !== undefined) return here.parentId === null ? here.id : 'ERR_MESSAGE_THREAD_NESTING'
    const parent = firstOf.get(key)
    if (parent === undefined || conversationOf(parent) !== conversation) return 'ERR_WRONG_MESSAGE_THREAD'
    return parent.parentMuid === null ? parent : 'ERR_MESSAGE_THREAD_NESTING'
  }

  /** A message that a row names: stored in its conversation, or another row of the batch. */
  const findHere = (row: ImportRow, muid: string, conversation: Conversation, withHeld: boolean) => {
    const key = muidKey(row.appId, muid)
    const here = stored
      .get(key)
      ?.find((message) => message.conversation === conversation.key && (withHeld || !message.isHeld))
    if (here !== undefined) return here.id
    const found = firstOf.get(key)
    return found !== undefined && conversationOf(found) === conversation ? found : undefined
  }

  const findSubject = (row: ImportRow, conversation: Conversation): number | ImportRow | null | ImportRefusal => {
    if (row.subjectMuid === null) return null
    return findHere(row, row.subjectMuid, conversation, true) ?? 'ERR_MESSAGE_ID_NOT_FOUND'
  }

  const findQuoted = (row: ImportRow, conversation: Conversation): number | ImportRow | null =>
    row.quotedMuid === null ? null : (findHere(row, row.quotedMuid, conversation, false) ?? null)

  /** Is the message that has this muid the very one of the row? */
  const isSame = (row: ImportRow, conversation: Conversation, key: string): boolean => {
    const holders = stored.get(key)
    if (holders === undefined) {
      const first = firstOf.get(key)
      return first?.sender === row.sender && first.sentAt === row.sentAt && conversationOf(first) === conversation
    }
    return holders.some(
      (holder) =>
        holder.sender === row.sender && holder.sentAt === row.sentAt && holder.conversation === conversation.key,
    )
  }

  const taken = new Set(stored.keys())
  return rows.map((row) => {
    if (!isAdmitted(row)) return 'ERR_IMPORT_UID_ERASED'
    const conversation = conversationOf(row)
    if (conversation === undefined) return row.kind === 'user' ? 'ERR_UID_NOT_FOUND' : 'ERR_GUID_NOT_FOUND'
    const key = muidKey(row.appId, row.muid)
    if (taken.has(key)) {
      return isSame(row, conversation, key) ? 'ERR_IMPORT_MUID_ALREADY_EXISTS' : 'MUID_OF_ANOTHER_MESSAGE'
    }
    const parent = findParent(row, conversation)
    if (typeof parent === 'string') return parent
    const subject = findSubject(row, conversation)
    if (typeof subject === 'string') return subject
    taken.add(key)
    return { row, conversation, parent, subject, quoted: findQuoted(row, conversation) }
  })
}

/** Ids of messages that are there, by what identifies a row. */
export function idsByMuid(known: readonly KnownMessage[]): (row: ImportRow) => number | undefined {
  const ids = new Map(known.map(({ appId, muid, id }) => [muidKey(appId, muid), id]))
  return (row) => ids.get(muidKey(row.appId, row.muid))
}

/** The name of a conversation among those of all apps. */
export function nameOf(
  { appId, kind }: Pick<ImportRow, 'appId' | 'kind'>,
  [first, second]: readonly [string, string],
): string {
  return `${appId} ${kind} ${first} ${second}`
}

function muidKey(appId: number, muid: string): string {
  return `${appId} ${muid}`
}
