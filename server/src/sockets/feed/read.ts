import { setTimeout as delay } from 'node:timers/promises'
import { type AnswerOf, badRequest, type listMyEvents, type QueryOf } from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import type { Viewer } from '../../chat/sight/sight.ts'
import type { Context } from '../../context.ts'
import { type Keeping, keepEvents } from '../../events/keeping.ts'
import type { StoredRow } from '../../events/notes.ts'
import { eventColumns } from '../../events/rows.ts'
import { statement } from '../../store/statement.ts'
import { framesOf } from './frames.ts'

/** Seconds for which events are kept for users after one of them has asked. */
const keptFor = 86_400
const defaultLimit = 100
/** How long a request waits for what was being committed when it came, in milliseconds, and how often it looks. */
const horizonWaitMs = { most: 500, every: 15 }

/**
 * In each conversation that the user takes part in, or took part in, from a place on. A look into the index for each of them is
 * cheap; looking through what happened in the app meanwhile is not.
 */
const selectEvents = statement(`
  select ${eventColumns}
  from conversation_states s
  cross join lateral (
    select e.*
    from events e
    where e.app_id = s.app_id
    and e.conversation = s.conversation
    and e.id > $3
    and e.id <= $4
    order by e.id
    limit $5
  ) e
  where s.app_id = $1
  and s.uid = $2
  order by e.id
  limit $5`)

/**
 * What the sockets of a user were sent since a place in the log, as frames. Nothing is skipped: what is still being committed holds
 * back all after it.
 * @throws 400 for a place that this service never gave out
 */
export async function readFeed(
  context: Context,
  app: App,
  viewer: Viewer,
  { after, limit = defaultLimit }: QueryOf<typeof listMyEvents>,
): Promise<AnswerOf<typeof listMyEvents>> {
  const keeping = await whenHorizonReached(context, app)
  const { from, goneUntil, horizon, lastId, isReached } = keeping
  const newest = String(Math.max(from, horizon))
  if (after === undefined) return { data: [], meta: { after: newest, more: false } }

  const place = Number(after)
  if (place > lastId) throw badRequest([{ path: 'query/after', message: 'is not a place that this service gave out' }])
  if (place < Math.max(from, goneUntil)) return { data: [], meta: { after: newest, more: false, reload: true } }
  const rows = await context.database.query<StoredRow>(selectEvents, [app.appId, viewer.uid, place, horizon, limit + 1])
  const isFull = rows.length > limit
  const page = isFull ? rows.slice(0, limit) : rows
  const frames = await framesOf(context, app, viewer, page)
  const next = isFull ? (page.at(-1)?.id ?? place) : Math.max(place, horizon)
  return {
    data: page.flatMap(({ id }) => {
      const frame = frames.get(id)
      return frame === undefined ? [] : [{ id: String(id), frame }]
    }),
    meta: { after: String(next), more: isFull || !isReached },
  }
}

/**
 * Waits for what was being written when the request came: a socket that was opened before hears of everything later, so that the two
 * together miss nothing.
 */
async function whenHorizonReached(context: Context, app: App): Promise<Keeping & { readonly isReached: boolean }> {
  const asked = await keepEvents(context, app, 'followed', keptFor)
  const deadline = performance.now() + horizonWaitMs.most
  let now = asked
  while (now.horizon < asked.lastId && performance.now() < deadline) {
    await delay(horizonWaitMs.every)
    now = await keepEvents(context, app, 'followed', keptFor)
  }
  return { ...now, isReached: now.horizon >= asked.lastId }
}
