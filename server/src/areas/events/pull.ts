import {
  type AnswerOf,
  badRequest,
  eventTriggerIds,
  type listEvents,
  type PulledEvent,
  type QueryOf,
} from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import { keepEvents } from '../../events/keeping.ts'
import { type EventRow, eventColumns } from '../../events/rows.ts'
import { showEvents } from '../../events/show.ts'
import { statement } from '../../store/statement.ts'

const selectEvents = statement(`
  select ${eventColumns}
  from events e
  where e.app_id = $1
  and e.id > $2
  and e.id <= $3
  and e.trigger = any($4::text[])
  order by e.id
  limit $5`)

/** The last event of a stretch, where there are more after the cursor than it has. */
const selectEnd = statement(`
  select e.id
  from events e
  where e.app_id = $1
  and e.id > $2
  and e.id <= $3
  order by e.id
  offset $4
  limit 1`)

const defaultLimit = 100
/** How many events one request looks through for those that are asked for. */
const stretch = 10_000

/**
 * A page of an app's events, in the order in which they happened, with those that are still being committed held back
 * with all after them. Keeps the app's events from now on for as long as events are kept.
 * @throws 400 for a cursor from which events are missing by now
 */
export async function pullEvents(
  context: Context,
  app: App,
  { after, limit = defaultLimit, triggers }: QueryOf<typeof listEvents>,
): Promise<AnswerOf<typeof listEvents>> {
  const retention = context.config.eventsRetentionDays * 86_400
  const { from, goneUntil, horizon, lastId } = await keepEvents(context, app, 'pulled', retention)
  if (after === undefined) return { data: [], meta: { cursor: String(Math.max(from, horizon)), more: false } }

  // What is stored before it was for webhooks alone, and has gaps: it is neither listed nor a place to go on from.
  const oldest = Math.max(from, goneUntil)
  const cursor = Number(after) || oldest
  if (cursor < oldest) throw badCursor('is too old: events after it are gone; begin anew with 0 or without it')
  if (cursor > lastId) throw badCursor('is not a cursor of this service')
  const wanted = triggers === undefined || triggers.length === 0 ? eventTriggerIds : triggers
  const end = await readEnd(context, app, cursor, horizon)
  const rows = await context.database.query<EventRow>(selectEvents, [app.appId, cursor, end, wanted, limit + 1])
  const isFull = rows.length > limit
  const page = isFull ? rows.slice(0, limit) : rows
  const next = isFull ? (page.at(-1)?.id ?? cursor) : Math.max(cursor, end)
  return { data: await show(context, app, page), meta: { cursor: String(next), more: isFull || end < horizon } }
}

/** Up to where a request looks: among many events of other triggers it would look for longer than it may take. */
async function readEnd({ database }: Context, { appId }: App, cursor: number, horizon: number): Promise<number> {
  if (horizon - cursor <= stretch) return horizon
  const [last] = await database.query<{ id: number }>(selectEnd, [appId, cursor, horizon, stretch - 1])
  return last?.id ?? horizon
}

function badCursor(message: string): Error {
  return badRequest([{ path: 'query/after', message }])
}

async function show(context: Context, app: App, rows: readonly EventRow[]): Promise<PulledEvent[]> {
  const shown = await showEvents(context, app, rows, 2)
  return rows.map(({ id, trigger, createdAt }) => ({
    id: String(id),
    trigger,
    data: (shown.get(id)?.data ?? {}) as PulledEvent['data'],
    appId: app.name,
    region: app.region,
    createdAt,
  }))
}
