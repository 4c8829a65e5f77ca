import type { TriggerSource } from '../../events/listening.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

const select = statement(`
  select distinct t.event
  from webhooks w
  join webhook_triggers t on t.app_id = w.app_id and t.webhook_id = w.id
  where w.app_id = $1
  and w.enabled
  and t.event is not null`)

/** The triggers of events that the enabled webhooks of an app wait for. */
export function listenedEvents(on: Queryable): TriggerSource {
  return async (appId) => (await on.query<{ event: string }>(select, [appId])).map(({ event }) => event)
}
