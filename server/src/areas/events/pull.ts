import { type AnswerOf, badRequest, type listEvents, type PulledEvent, type QueryOf } from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import { listenersTopic } from '../../events/listening.ts'
import { type EventRow, eventColumns } from '../../events/rows.ts'
import { showEvents } from '../../events/show.ts'
import { statement } from '../../store/statement.ts'

/** How an app's events are kept for those who pull them. */
interface Pulling {
  /** Epoch seconds; null where they never were. */
  readonly until: number | null
  /** All events after this place are kept. */
  readonly from: number
  /** Events up to this place are deleted for their age. */
  readonly goneUntil: number
  /** Up to where the log is settled. */
  readonly horizon: number
  /** The last id that was drawn. */
  readonly lastId: number
}

const pullingColumns = `events_pulled_until as until, events_pulled_from as from, events_gone_until as "goneUntil",
    (select id from event_horizon) as horizon,
    (select last_value - case when is_called then 0 else 1 end from event_ids) as "lastId"`

const selectPulling = statement(`
  select ${pullingColumns}
  from apps
  where app_id = $1`)

/**
 * Where pulling had lapsed it begins anew, at a place of its own: cursors from before must not go on as if nothing had
 * been missed. Parameters: app, epoch seconds, until when.
 */
const prolong = statement(`
  update apps
  set events_pulled_from = case
      when events_pulled_until > $2 then events_pulled_from
      else nextval('event_ids')
    end,
    events_pulled_until = $3
  where app_id = $1
  returning ${pullingColumns}`)

const selectEvents = statement(`
  select ${eventColumns}
  from events e
  where e.app_id = $1
  and e.id > $2
  and e.id <= $3
  and ($4::text[] is null or e.trigger = any($4))
  order by e.id
  limit $5`)

/** Prolonged when so much of the time for which events are kept has gone by, not by each call. */
const prolongEvery = 1 / 50
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
  const { from, goneUntil, horizon, lastId } = await keepPulling(context, app)
  if (after === undefined) return { data: [], meta: { cursor: String(Math.max(from, horizon)), more: false } }

  const cursor = Number(after)
  if (cursor !== 0 && cursor < Math.max(from, goneUntil)) {
    throw badCursor('is too old: events after it are gone; begin anew with 0 or without it')
  }
  if (cursor > lastId) throw badCursor('is not a cursor of this service')
  const wanted = triggers === undefined || triggers.length === 0 ? null : triggers
  const rows = await context.database.query<EventRow>(selectEvents, [app.appId, cursor, horizon, wanted, limit + 1])
  const more = rows.length > limit
  const page = more ? rows.slice(0, limit) : rows
  const next = more ? (page.at(-1)?.id ?? cursor) : Math.max(cursor, horizon)
  return { data: await show(context, app, page), meta: { cursor: String(next), more } }
}

function badCursor(message: string): Error {
  return badRequest([{ path: 'query/after', message }])
}

/** Sees to it that the app's events are kept, in every process. */
async function keepPulling({ database, invalidation, events, config }: Context, app: App): Promise<Pulling> {
  const now = Math.floor(Date.now() / 1000)
  const retention = config.eventsRetentionDays * 86_400
  const [pulling] = await database.query<Pulling>(selectPulling, [app.appId])
  if (pulling === undefined) throw new Error(`the app ${app.name} is gone`)
  if ((pulling.until ?? 0) > now + retention * (1 - prolongEvery)) return pulling

  return database.transaction(async (tx) => {
    const [prolonged] = await tx.query<Pulling>(prolong, [app.appId, now, now + retention])
    if (prolonged === undefined) throw new Error(`the app ${app.name} is gone`)
    await invalidation.announce(tx, listenersTopic, String(app.appId))
    tx.afterCommit(() => events.forget(app.appId))
    return prolonged
  })
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
