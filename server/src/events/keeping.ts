import type { App } from '../chat/identity.ts'
import type { Database } from '../store/database.ts'
import type { Invalidation } from '../store/invalidation.ts'
import { statement } from '../store/statement.ts'
import type { Events } from './index.ts'
import { listenersTopic } from './listening.ts'

/** How an app's events are kept for those who ask for them. */
export interface Keeping {
  /** Epoch seconds; null where they never were. */
  readonly until: number | null
  /** All events after this place are kept. */
  readonly from: number
  /** Events up to this place are deleted for their age. */
  readonly goneUntil: number
  /** Up to where every event is committed. */
  readonly horizon: number
  /** The last id that was drawn. */
  readonly lastId: number
}

/** For whom: the app, which pulls all of them (`GET /events`), or its users, who follow their own (`GET /me/events`). */
export type Reader = 'pulled' | 'followed'

const columnsFor = (reader: Reader) => `events_${reader}_until as until, events_${reader}_from as from,
    events_gone_until as "goneUntil",
    (select id from event_horizon) as horizon,
    (select last_value - case when is_called then 0 else 1 end from event_ids) as "lastId"`

const selectFor = (reader: Reader) =>
  statement(`
  select ${columnsFor(reader)}
  from apps
  where app_id = $1`)

/**
 * Where it had lapsed it begins again, at a place of its own: cursors from before must not go on as if nothing had
 * been missed. Parameters: app, epoch seconds, until when.
 */
const prolongFor = (reader: Reader) =>
  statement(`
  update apps
  set events_${reader}_from = case
      when events_${reader}_until > $2 then events_${reader}_from
      else nextval('event_ids')
    end,
    events_${reader}_until = $3
  where app_id = $1
  returning ${columnsFor(reader)}`)

const select = { pulled: selectFor('pulled'), followed: selectFor('followed') }
const prolong = { pulled: prolongFor('pulled'), followed: prolongFor('followed') }

/** Prolonged when so much of the time for which events are kept has gone by, not by each call. */
const prolongEvery = 1 / 50

/** Sees to it that the app's events are kept for `seconds` from now, in every process. */
export async function keepEvents(
  { database, invalidation, events }: { database: Database; invalidation: Invalidation; events: Events },
  app: App,
  reader: Reader,
  seconds: number,
): Promise<Keeping> {
  const now = Math.floor(Date.now() / 1000)
  const [keeping] = await database.query<Keeping>(select[reader], [app.appId])
  if (keeping === undefined) throw new Error(`the app ${app.name} is gone`)
  if ((keeping.until ?? 0) > now + seconds * (1 - prolongEvery)) return keeping

  return database.transaction(async (tx) => {
    const [prolonged] = await tx.query<Keeping>(prolong[reader], [app.appId, now, now + seconds])
    if (prolonged === undefined) throw new Error(`the app ${app.name} is gone`)
    await invalidation.announce(tx, listenersTopic, String(app.appId))
    tx.afterCommit(() => events.forget(app.appId))
    return prolonged
  })
}
