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

const defaultLimit = 100

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

  const cursor = Number(after)
  if (cursor !== 0 && cursor < Math.max(from, goneUntil)) {
    throw badCursor('is too old: events after it are gone; begin anew with 0 or without it')
  }
  if (cursor > lastId) throw badCursor('is not a cursor of this service')
  const wanted = triggers === undefined || triggers.length === 0 ? eventTriggerIds : triggers
  const rows = await context.database.query<EventRow>(selectEvents, [app.appId, cursor, horizon, wanted, limit + 1])
  const more = rows.length > limit
  const page = more ? rows.slice(0, limit) : rows
  const next = more ? (page.at(-1)?.id ?? cursor) : Math.max(cursor, horizon)
  return { data: await show(context, app, page), meta: { cursor: String(next), more } }
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
