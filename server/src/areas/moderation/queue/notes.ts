import { type addModerationNote, appLimitReached, type BodyOf, limits, type ModerationNote } from '@parley/contract'
import { lockConversationOf } from '../../../chat/conversations/membership.ts'
import { unknownMessage } from '../../../chat/messages/read.ts'
import type { Context } from '../../../context.ts'
import type { Queryable } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { unknownNote } from './errors.ts'

interface NoteRow {
  readonly message: number
  readonly id: number
  readonly text: string
  readonly author: string | null
  readonly createdAt: number
}

const columns = 'message, id, text, author, created_at as "createdAt"'

const selectNotes = statement(`
  select ${columns}
  from moderation_notes
  where app_id = $1
  and message = any($2::bigint[])
  order by message, id`)

const selectMessage = statement(`
  select id
  from messages
  where app_id = $1
  and id = $2
  and not purged`)

const insertNote = statement(`
  insert into moderation_notes (app_id, message, text, author, created_at)
  select $1, $2, $3, $4, $5
  where (select count(*) from moderation_notes where app_id = $1 and message = $2) < $6
  returning ${columns}`)

const deleteNote = statement(`
  delete from moderation_notes
  where app_id = $1
  and message = $2
  and id = $3
  returning id`)

/** The notes beside messages, in the order in which they were left; messages without any are missing. */
export async function readNotesOf(
  on: Queryable,
  appId: number,
  ids: readonly number[],
): Promise<ReadonlyMap<number, ModerationNote[]>> {
  const rows = await on.query<NoteRow>(selectNotes, [appId, ids])
  return new Map([...byMessage(rows)].map(([message, notes]) => [message, notes.map(showNote)]))
}

export function byMessage<Row extends { readonly message: number }>(rows: readonly Row[]): Map<number, Row[]> {
  const groups = new Map<number, Row[]>()
  for (const row of rows) {
    const group = groups.get(row.message)
    if (group === undefined) groups.set(row.message, [row])
    else group.push(row)
  }
  return groups
}

function showNote({ id, text, author, createdAt }: NoteRow): ModerationNote {
  return { id: String(id), text, ...(author !== null && { author }), createdAt }
}

async function requireThere(on: Queryable, appId: number, message: number): Promise<void> {
  if ((await on.query(selectMessage, [appId, message])).length === 0) throw unknownMessage(message)
}

/** @throws 404 `ERR_MESSAGE_ID_NOT_FOUND` */
export async function listNotes({ database }: Context, appId: number, message: number): Promise<ModerationNote[]> {
  await requireThere(database, appId, message)
  return (await readNotesOf(database, appId, [message])).get(message) ?? []
}

/** @throws 404 `ERR_MESSAGE_ID_NOT_FOUND`; 400 where the message has all the notes it can have */
export function addNote(
  { database }: Context,
  appId: number,
  message: number,
  { text, author }: BodyOf<typeof addModerationNote>,
): Promise<ModerationNote> {
  const { notesPerMessage } = limits.moderation
  return database.transaction(async (tx) => {
    await lockConversationOf(tx, appId, message)
    await requireThere(tx, appId, message)
    const values = [appId, message, text, author ?? null, Math.floor(Date.now() / 1000), notesPerMessage]
    const [row] = await tx.query<NoteRow>(insertNote, values)
    if (row === undefined) throw appLimitReached(notesPerMessage, 'notes beside a message')
    return showNote(row)
  })
}

/** @throws 404 `ERR_NOTE_NOT_FOUND` */
export async function removeNote({ database }: Context, appId: number, message: number, id: string): Promise<void> {
  const note = /^[0-9]{1,15}$/.test(id) ? Number(id) : 0
  if ((await database.query(deleteNote, [appId, message, note])).length === 0) throw unknownNote(id)
}
