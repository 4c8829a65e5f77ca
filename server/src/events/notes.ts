import { type Parts, readStored, type StoredEvent } from '../chat/events/stored.ts'
import { readKind, storedKind } from '../chat/kind.ts'
import type { Queryable } from '../store/database.ts'
import { statement } from '../store/statement.ts'
import type { EventRow } from './rows.ts'
import type { EventTrigger, Place } from './types.ts'

/**
 * What is no event of the contract, and is kept for users alone who were not connected when their sockets were sent it: webhooks and
 * `GET /events` have nothing of it.
 */
export interface Note {
  readonly note: NoteKind
  readonly place: Place
  /** The message that it is about. */
  readonly messageId: number
  /** Who did it; of a decision of moderation whom it concerns. */
  readonly uid: string
}

const noteKinds = [
  'message_pinned',
  'message_unpinned',
  'message_saved',
  'message_unsaved',
  'goal_reached',
  'moderation_status_changed',
] as const
export type NoteKind = (typeof noteKinds)[number]

/** A note as it is read from the log. */
export interface StoredNote extends Parts {
  readonly note: NoteKind
  readonly messageId: number
  readonly uid: string
}

/** As events are inserted (rows.ts): the transaction has its number before the id is drawn. */
const insert = statement(`
  insert into events (app_id, id, trigger, conversation, message, data, created_at)
  select $1, nextval('event_ids'), $2, $3, $4, $5::json, $6
  where pg_current_xact_id() is not null`)

export async function insertNote(on: Queryable, appId: number, { note, place, messageId, uid }: Note): Promise<void> {
  const { conversation, kind, first, second } = place
  const data = JSON.stringify({ kind: storedKind(kind), first, second, uid })
  await on.query(insert, [appId, note, conversation, messageId, data, Math.floor(Date.now() / 1000)])
}

/** A row of the log, event or note. */
export function readEventOrNote(row: EventRow | StoredRow): StoredEvent | StoredNote {
  if (!isNote(row.trigger)) return readStored(row as EventRow)
  const { kind, first, second, uid } = row.data as unknown as Record<'kind' | 'first' | 'second' | 'uid', string>
  return { note: row.trigger, messageId: row.message ?? 0, kind: readKind(kind), first, second, uid }
}

/** What `EventRow` says, of an event or a note. */
export interface StoredRow extends Omit<EventRow, 'trigger'> {
  readonly trigger: EventTrigger | NoteKind
}

function isNote(trigger: string): trigger is NoteKind {
  return (noteKinds as readonly string[]).includes(trigger)
}
