import type { JsonText } from '../json.ts'
import { readKind } from '../kind.ts'
import type { StoredMessage } from './rows.ts'

/*
 * Many messages as one text, for pages: the driver makes a string of each column of each row, which takes longer than all
 * that is done with them afterwards. The separators stand in no column: uids and categories have none of them, and JSON has
 * no such character unescaped.
 */

const betweenMessages = '\x1e'
const betweenColumns = '\x1f'

/** The type that nearly all messages have: it goes without saying. */
const usualType = 'text'

/** When a message was delivered and read, as SQL. */
export interface ReceiptTimes {
  readonly deliveredAt: string
  readonly readAt: string
}

const ownTimes: ReceiptTimes = { deliveredAt: 'm.delivered_at', readAt: 'm.read_at' }

/** What few messages have, each value behind its letter: null disappears. None of the values has a blank. */
const factsWith = ({ deliveredAt, readAt }: ReceiptTimes) => [
  `'a' || nullif(m.traits, 0)`,
  `'b' || nullif(m.updated_at, m.sent_at)`,
  `'c' || ${deliveredAt}`,
  `'d' || ${readAt}`,
  `'e' || m.parent_id`,
  `'f' || m.quoted_id`,
  `'g' || m.subject_id`,
  `'h' || m.edited_at`,
  `'i' || m.edited_by`,
  `'j' || m.deleted_at`,
  `'k' || m.deleted_by`,
  `'l' || array_to_string(m.mentioned, ',')`,
]

/** Most messages have none of them, which is seen sooner than written. */
const hasFacts = ({ deliveredAt, readAt }: ReceiptTimes) => `m.traits <> 0 or m.updated_at <> m.sent_at
    or coalesce(${deliveredAt}, ${readAt}, m.parent_id, m.quoted_id, m.subject_id, m.edited_at, m.deleted_at) is not null
    or coalesce(m.edited_by, m.deleted_by) is not null or m.mentioned is not null`

const columnsWith = (times: ReceiptTimes) => [
  'm.id',
  'm.conversation',
  'm.kind',
  'm.sender',
  'm.receiver',
  'm.category',
  'm.sent_at',
  `case m.type when '${usualType}' then '' else to_json(m.type)::text end`,
  `case when ${hasFacts(times)} then concat_ws(' ', ${factsWith(times).join(', ')}) else '' end`,
  `coalesce(to_json(m.muid)::text, '')`,
  `coalesce(to_json(m.tags)::text, '')`,
  'm.data',
]

/**
 * An aggregate of rows `m` of `messages`, null where there is none. `unpackMessages` reads it.
 * @param times those that messages have of their own without it
 */
export function packMessages(times: ReceiptTimes = ownTimes): string {
  return `string_agg(concat_ws(E'\\x1f', ${columnsWith(times).join(', ')}), E'\\x1e')`
}

type Mutable<Row> = { -readonly [Name in keyof Row]: Row[Name] }
type Unpacked = Mutable<StoredMessage<JsonText>>

/** Reads what `packMessages` gives. */
export function unpackMessages(packed: string | null): Unpacked[] {
  return packed === null ? [] : packed.split(betweenMessages).map(unpackMessage)
}

type Columns = readonly [
  id: string,
  conversation: string,
  kind: string,
  sender: string,
  receiver: string,
  category: string,
  sentAt: string,
  type: JsonText<string> | '',
  facts: string,
  muid: JsonText<string> | '',
  tags: JsonText<string[]> | '',
  data: JsonText,
]

function unpackMessage(packed: string): Unpacked {
  const row = packed.split(betweenColumns) as unknown as Columns
  const sentAt = Number(row[6])
  const message: Unpacked = {
    id: Number(row[0]),
    conversation: Number(row[1]),
    kind: readKind(Number(row[2])),
    sender: row[3],
    receiver: row[4],
    category: row[5],
    sentAt,
    type: row[7] === '' ? usualType : textOf(row[7]),
    muid: row[9] === '' ? null : textOf(row[9]),
    tags: row[10] === '' ? null : JSON.parse(row[10]),
    data: row[11],
    traits: 0,
    updatedAt: sentAt,
    deliveredAt: null,
    readAt: null,
    parentId: null,
    quotedId: null,
    subjectId: null,
    editedAt: null,
    editedBy: null,
    deletedAt: null,
    deletedBy: null,
    mentioned: null,
  }
  if (row[8] !== '') for (const fact of row[8].split(' ')) addFact(message, fact.charAt(0), fact.slice(1))
  return message
}

/** In the order of `factsWith`. */
function addFact(message: Unpacked, letter: string, value: string): void {
  switch (letter) {
    case 'a':
      message.traits = Number(value)
      return
    case 'b':
      message.updatedAt = Number(value)
      return
    case 'c':
      message.deliveredAt = Number(value)
      return
    case 'd':
      message.readAt = Number(value)
      return
    case 'e':
      message.parentId = Number(value)
      return
    case 'f':
      message.quotedId = Number(value)
      return
    case 'g':
      message.subjectId = Number(value)
      return
    case 'h':
      message.editedAt = Number(value)
      return
    case 'i':
      message.editedBy = value
      return
    case 'j':
      message.deletedAt = Number(value)
      return
    case 'k':
      message.deletedBy = value
      return
    case 'l':
      message.mentioned = value === '' ? [] : value.split(',')
  }
}

/** Nearly all texts are written as they are. */
function textOf(json: JsonText<string>): string {
  return json.includes('\\') ? JSON.parse(json) : json.slice(1, -1)
}
