import { storedDataOf } from '../chat/events/stored.ts'
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
  /** What else it says; its members are those of the event's type. */
  readonly data: Readonly<Record<string, unknown>>
  /** Epoch seconds. */
  readonly createdAt: number
}

/** Columns of `EventRow`, of the table `events` under the alias `e`. */
export const eventColumns = `e.id, e.trigger, e.conversation, e.message, e.data, e.created_at as "createdAt"`

/**
 * The transaction gets its number before the ids are drawn, as in every transaction that has locked or written something:
 * the relay relies on it (store/writers-before.ts).
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
  await on.query(insert, [
    appId,
    events.map(({ trigger }) => trigger),
    events.map((event) => ('place' in event ? event.place.conversation : 'guid' in event ? event.conversation : null)),
    events.map((event) => ('messageId' in event ? event.messageId : null)),
    events.map(storedDataOf),
    Math.floor(Date.now() / 1000),
  ])
}
