import { type ErrorCode, type ErrorDetail, type ImportKind, isPreviousId, takeListed } from '@parley/contract'
import { heldTraits } from '../../chat/messages/traits.ts'
import { givableUid } from '../../chat/naming.ts'
import type { Line } from './input.ts'

/** Why a record was not stored, as the service says it or as this command found it. */
export interface RecordError {
  readonly code: string
  readonly message?: string
  readonly devMessage?: string
  readonly details?: readonly ErrorDetail[]
}

/** A record that was not stored: one line of the report. */
export interface Refusal {
  readonly kind: ImportKind
  readonly line: number
  /** Its own id; null where it has none. */
  readonly key: string | null
  readonly error: RecordError
  /** The record, or the text of a line that holds none, or null where not even that can be shown. */
  readonly record: unknown
}

/** A record on its way to the service, with what the command has to know of it. */
export interface Outgoing {
  readonly line: number
  /** Its own id, under which the service answers for it. */
  readonly key: string
  /** Records of one sequence are sent one after the other, in the order of the file. */
  readonly sequence: string
  /** The id that a message had in the previous system, where the record has one: the service may have given it another. */
  readonly id: string | undefined
  /** The conversation of a message, as the service names it. */
  readonly conversation: string | undefined
  /** The line as it stood in the file, where it did not have to be translated: it is sent as it is. */
  readonly text: string
  readonly bytes: number
}

export const idFields = { users: 'uid', groups: 'guid', members: 'memberId', messages: 'muid' } as const

const formatErrors = {
  users: 'ERR_IMPORT_INVALID_USER_FORMAT',
  groups: 'ERR_IMPORT_INVALID_GROUP_FORMAT',
  members: 'ERR_IMPORT_INVALID_MEMBER_FORMAT',
  messages: 'ERR_IMPORT_INVALID_MESSAGE_FORMAT',
} as const satisfies Record<ImportKind, ErrorCode>

export type JsonRecord = Readonly<Record<string, unknown>>

/** How a message is called in the service. */
export interface MuidName {
  /** `first`: nobody had this muid before; `repeat`: the very same message again; `shared`: that of another message. */
  readonly kind: 'first' | 'repeat' | 'shared'
  /** The muid to send it under. */
  readonly muid: string
}

/** The record of a line. */
export interface ReadRecord {
  readonly record: JsonRecord
  readonly key: string
  /** Of a message that was read to be sent: whether its muid, which is its key here, is the one of the file. */
  readonly name?: MuidName['kind']
  /** Its members that an import does not know. */
  readonly ignored: readonly string[]
  /** It came as lists of the API answer it, or has other names for messages, and is another object than that of the line. */
  readonly isTranslated: boolean
}

/**
 * Why a message of an export is not sent: `held` where moderation there did not let everybody see it, or it hangs on such a one; `gone`
 * where it tells of a message that was deleted for good.
 */
export type Aside = 'held' | 'gone'

/** A line of a file, read. */
export type ReadLine = ReadRecord | { readonly refusal: Refusal } | { readonly aside: Aside }

/** Gives messages the names by which they are sent, in the order of their file. */
export interface MessageNames {
  /** The muid of the message that lists give this id. */
  muidOf(id: string): string
  /** How a message is called, which takes it for sent; and the record, whose references are names in the service. */
  nameOf(sent: JsonRecord, taken: JsonRecord, muid: string): { readonly name: MuidName; readonly record: JsonRecord }
  /** Whether a message that others name, by the id that lists give it, came before. */
  isThere(id: string): boolean
}

export interface Reading {
  /** Messages are read as they are sent; without it as they stand in the file. */
  readonly names?: MessageNames
  /** The file is of an export, which has all that an app has: what it names and does not have is gone. */
  readonly isExport?: boolean
}

/** Makes the reader of one file of records. */
export function makeRecordReader(kind: ImportKind, reading: Reading = {}): (line: Line) => ReadLine {
  const held = new Set<string>()
  return (line) => readRecord(kind, line, reading, held)
}

/** Reads the record of a line: it must be a JSON object with an id of its own, else no answer could be matched to it. */
function readRecord(kind: ImportKind, line: Line, { names, isExport }: Reading, held: Set<string>): ReadLine {
  const refuse = (record: unknown, message: string, path = '') => {
    const error = { code: formatErrors[kind], message, details: [{ path, message }] }
    return { refusal: { kind, line: line.number, key: null, error, record } }
  }
  if (line.text === undefined) return refuse(null, line.problem ?? 'the line cannot be read')
  let record: unknown
  try {
    record = JSON.parse(line.text)
  } catch (error) {
    return refuse(line.text.slice(0, 1000), `the line is not valid JSON: ${(error as Error).message}`)
  }
  if (!isJsonObject(record)) return refuse(record, 'the record must be a JSON object')
  if (kind === 'messages' && isHeld(record, held)) {
    held.add(String(record.id))
    return { aside: 'held' }
  }
  const { subjectId } = record
  if (isExport && names !== undefined && subjectId !== undefined && !names.isThere(String(subjectId)))
    return { aside: 'gone' }
  const taken = takeListed(kind, isExport ? withoutFormer(record) : record, names?.muidOf)
  const field = idFields[kind]
  const key = taken.record[field]
  if (typeof key !== 'string' || key === '') return refuse(record, `${field} is required and must be a string`, field)
  if (names === undefined) return { ...taken, key, isTranslated: taken.record !== record }
  const { name, record: named } = names.nameOf(record, taken.record, key)
  return { ...taken, record: named, key: name.muid, name: name.kind, isTranslated: named !== record }
}

/** What hangs on such a message goes with it: replies, and what tells of its edits. Without it they would be refused. */
function isHeld({ traits, parentId, subjectId }: JsonRecord, held: ReadonlySet<string>): boolean {
  if (typeof traits === 'number' && (traits & heldTraits) !== 0) return true
  return held.size > 0 && [parentId, subjectId].some((id) => id != null && held.has(String(id)))
}

const hands = ['sender', 'editedBy', 'deletedBy', 'pinnedBy'] as const

/** A former holder of a uid that is somebody else's by now has one in an export that nobody can have. */
function withoutFormer(record: JsonRecord): JsonRecord {
  const given: Record<string, string> = {}
  for (const hand of hands) {
    const uid = record[hand]
    if (typeof uid === 'string' && givableUid(uid) !== uid) given[hand] = givableUid(uid)
  }
  return Object.keys(given).length === 0 ? record : { ...record, ...given }
}

/** Makes a record ready for sending. */
export function toOutgoing(kind: ImportKind, line: Line, { record, key, isTranslated }: ReadRecord): Outgoing {
  const text = isTranslated ? JSON.stringify(record) : (line.text ?? '')
  const conversation = kind === 'messages' ? conversationOf(record) : undefined
  // Members go by their group, so that requests at the same time do not wait for each other's lock on it.
  const sequence =
    kind === 'members' && typeof record.guid === 'string' ? record.guid.toLowerCase() : (conversation ?? key)
  return {
    line: line.number,
    key,
    sequence,
    id: kind === 'messages' ? previousIdOf(record) : undefined,
    conversation,
    text,
    bytes: isTranslated ? Buffer.byteLength(text) : line.bytes,
  }
}

function previousIdOf({ id }: JsonRecord): string | undefined {
  // JSON does not tell which of several such numbers it was.
  const isRounded = typeof id === 'number' && Number.isInteger(id) && !Number.isSafeInteger(id)
  return isPreviousId(id) && !isRounded ? String(id) : undefined
}

/** The id of a message's conversation on the wire; undefined where the record does not say who talks to whom. */
export function conversationOf(message: JsonRecord): string | undefined {
  const { sender, receiver, receiverType } = message
  if (typeof sender !== 'string' || typeof receiver !== 'string') return undefined
  if (receiverType === 'group') return `group_${receiver.toLowerCase()}`
  if (receiverType !== 'user') return undefined
  const [first, second] = [sender.toLowerCase(), receiver.toLowerCase()].sort()
  return `${first}_user_${second}`
}

export function isJsonObject(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object that a JSON text is; undefined where it is none. */
export function parseObject(text: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
