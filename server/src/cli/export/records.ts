import { type Catalogue, columnOf } from './catalogue.ts'
import type { ExportedTable } from './places.ts'

/** Kinds of receivers and conversations, as records name them. */
const kinds: Readonly<Record<string, string>> = { 1: 'user', 2: 'group' }

type Write = (text: string) => string

const numbers = /^(smallint|integer|bigint|double precision)$/

/** How the text that the database gives of a value of a type stands in a record. */
function writerOf(member: string, type: string): Write {
  if (member === 'receiverType') return (text) => `"${kinds[text]}"`
  if (numbers.test(type)) return (text) => text
  if (type === 'boolean') return (text) => (text === 't' || text === 'true' ? 'true' : 'false')
  // Written anew, so that it has one form whatever it was stored with.
  if (type === 'json' || type === 'jsonb' || type.endsWith('[]')) return (text) => JSON.stringify(JSON.parse(text))
  return JSON.stringify
}

/** Names a conversation: `user/<uid>/<uid>` or `group/<guid>`. */
const conversationName = `case c.kind when 1 then 'user/' || c.first || '/' || c.second when 2 then 'group/' || c.first end`

/** Who reacted to a message, in the order in which they did. */
const reactions = `case when t.traits & 128 <> 0 then (
      select json_agg(json_build_object('reaction', r.reaction, 'uid', r.uid, 'reactedAt', r.reacted_at) order by r.id)
      from reactions r
      where r.app_id = t.app_id
      and r.message_id = t.id
    ) end::text`

/** A group's password, where what is kept of it can be checked by any service: version 2, 16 bytes of salt, 32 of key. */
const passwordHash = `case when length(t.password_digest) = 49 and get_byte(t.password_digest, 0) = 2 then
      concat_ws(chr(36), 'scrypt', '16384', '8', '1', encode(substr(t.password_digest, 2, 16), 'base64'),
        encode(substr(t.password_digest, 18, 32), 'base64'))
    end`

function selected(member: string, column: string, type: string): string {
  if (column === 'conversation') return conversationName
  if (member === 'passwordHash') return passwordHash
  return type.endsWith('[]') ? `array_to_json(t.${column})::text` : `t.${column}::text`
}

/** What is read for the records of a place, and how one is written of a row. */
export interface Reading {
  /** `$1` is the app. */
  readonly sql: string
  write(row: readonly (string | null)[]): string
}

export function readingOf(catalogue: Catalogue, place: ExportedTable): Reading {
  const { table, where, order } = place
  const members = [...place.members].map(([member, column]) => {
    const { type } = columnOf(catalogue, place, column)
    const isText = column === 'conversation' || member === 'passwordHash'
    return { member, value: selected(member, column, type), write: isText ? JSON.stringify : writerOf(member, type) }
  })
  if (place.file === 'messages')
    members.push({ member: 'reactions', value: reactions, write: (text) => JSON.stringify(JSON.parse(text)) })
  const join = [...place.members.values()].includes('conversation')
    ? 'left join conversations c on c.app_id = t.app_id and c.key = t.conversation'
    : ''
  return {
    sql: `select ${members.map(({ value }) => value).join(', ')}
      from ${table} t
      ${join}
      where t.app_id = $1
      ${where === undefined ? '' : `and (${where})`}
      order by ${order.replace(/(^|, )(?=\w)(?!c\.)/g, '$1t.')}`,
    write(row) {
      let line = '{'
      for (let i = 0; i < members.length; i++) {
        const text = row[i]
        if (text === null || text === undefined) continue
        const { member, write } = members[i] as (typeof members)[number]
        line += `${line.length > 1 ? ',' : ''}"${member}":${write(text)}`
      }
      return `${line}}`
    },
  }
}
