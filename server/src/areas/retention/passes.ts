import type { RetentionMode } from '@parley/contract'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** What is gone through by one rule. */
export interface Pass {
  readonly appId: number
  /** Key of a conversation with a rule of its own; 0: all others of the app. */
  readonly place: number
  readonly mode: RetentionMode
  readonly days: number
}

/** What apps and groups have set, where that removes anything, with the defaults of the deployment. */
const select = statement(`
  with running as (
    select app_id, coalesce((settings ->> 'messageRetentionDays')::int, $1::int) as days,
      coalesce(settings ->> 'messageRetention', $2) as mode
    from apps
    where paused_at is null
    and removing_at is null
    and app_id = coalesce($3, app_id)
  )
  select a.app_id as "appId", 0 as place, a.days, a.mode
  from running a
  where a.days > 0
  and coalesce($4, 0) = 0
  union all
  select a.app_id, g.conversation, r.days, r.mode
  from running a
  join group_retention r on r.app_id = a.app_id and r.days > 0
  join groups g on g.app_id = r.app_id and g.guid = r.guid
  where g.conversation = coalesce($4, g.conversation)
  order by 1, 2`)

/** @param appId only of this app @param place only this one */
export function readPasses(
  on: Queryable,
  { appDefaults }: Context['config'],
  appId?: number,
  place?: number,
): Promise<Pass[]> {
  const { messageRetentionDays, messageRetention } = appDefaults
  return on.query<Pass>(select, [messageRetentionDays, messageRetention, appId ?? null, place ?? null])
}
