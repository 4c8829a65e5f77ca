import type { Queryable } from '../store/database.ts'
import { statement } from '../store/statement.ts'
import type { ChatEvent } from './types.ts'

/** An event as the log keeps it: by reference, so that it is shown with what there is when it is read. */
export interface EventRow {
  readonly id: number
  readonly trigger: ChatEvent['trigger']
  /** Key of the conversation that it happened in. */
  readonly conversation: number | null
  /** The message that it is about. */
  readonly message: number | null
  /** What else it tells; its members are those of the event's type. */
  readonly data: Readonly<Record<string, unknown>>
  /** Epoch seconds. */
  readonly createdAt: number
}

/** Columns of `EventRow`, of the table `events` under the alias `e`. */
export const eventColumns = `e.id, e.trigger, e.conversation, e.message, e.data, e.created_at as "createdAt"`

/**
 * The transaction gets its number before the ids are drawn, as in every transaction that has locked or written something:
 * the relay relies on it (commitWatch.ts).
 */
const insert = statement(`
  insert into events (app_id, id, trigger, conversation, message, data, created_at)
  select $1, nextval('event_ids'), e.trigger, e.conversation, e.message, e.data::json, $6
  from (select pg_current_xact_id() is not null as is_numbered) t
  cross join unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[])
    with ordinality as e(trigger, conversation, message, data, place)
  where t.is_numbered
  order by e.place`)

/** Writes events to the log, in the order given. */
export async function insertEvents(on: Queryable, appId: number, events: readonly ChatEvent[]): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(rowOf)
  await on.query(insert, [
    appId,
    events.map(({ trigger }) => trigger),
    rows.map(({ conversation }) => conversation ?? null),
    rows.map(({ message }) => message ?? null),
    rows.map(({ data }) => JSON.stringify(data)),
    Math.floor(Date.now() / 1000),
  ])
}

interface Stored {
  readonly conversation?: number
  readonly message?: number
  readonly data: object
}

/** What is kept of an event. Never a message or a text; the place only where it is not that of a message. */
function rowOf(event: ChatEvent): Stored {
  switch (event.trigger) {
    case 'message_sent':
    case 'user_mentioned':
      return { conversation: event.place.conversation, message: event.messageId, data: {} }
    case 'message_edited':
    case 'message_deleted': {
      const { place, messageId, actionId } = event
      return { conversation: place.conversation, message: messageId, data: { actionId, ...parts(place) } }
    }
    case 'message_delivery_receipt':
    case 'message_read_receipt':
    case 'message_reaction_added':
    case 'message_reaction_removed': {
      const { trigger, place, messageId, device, ...data } = event
      return { conversation: place.conversation, message: messageId, data: { ...parts(place), ...data } }
    }
    case 'message_delivered_to_all':
    case 'message_read_by_all': {
      const { trigger, place, messageId, ...data } = event
      return { conversation: place.conversation, message: messageId, data: { ...parts(place), ...data } }
    }
    case 'user_blocked':
    case 'user_unblocked':
    case 'user_connection_status_changed': {
      const { trigger, ...data } = event
      return { data }
    }
    case 'group_deleted': {
      const { conversation, guid, group } = event
      return { conversation, data: { guid, group } }
    }
    default: {
      const { trigger, conversation, ...data } = event
      return { conversation, data }
    }
  }
}

function parts({ kind, first, second }: { kind: 1 | 2; first: string; second: string }): object {
  return { kind, first, second }
}
