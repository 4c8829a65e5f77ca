import { nowMs } from '../../store/clock.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { EndpointKey } from '../outbound/endpoints.ts'

/** A delivery that is to be attempted now. */
export interface DueDelivery {
  /** That of the event. */
  readonly id: number
  readonly trigger: string
  /** Key of the conversation; first attempts within one are made in order. */
  readonly conversation: number | null
  readonly sample: boolean
  /** Made so far. */
  readonly attempts: number
  /** How many of the delays between attempts are used up. */
  readonly step: number
  /** Epoch milliseconds. Another value after the attempt means that somebody asked for it again meanwhile. */
  readonly dueAt: number
}

/** First attempts in the order of events; beside them those to try again, longest due first, by indexes of their own. */
const select = statement(`
  (
    select id, trigger, conversation, sample, attempts, step, due_at as "dueAt"
    from webhook_deliveries
    where app_id = $1
    and webhook = $2
    and due_at is not null
    and attempts = 0
    and id > $3
    order by id
    limit $4
  )
  union all
  (
    select id, trigger, conversation, sample, attempts, step, due_at as "dueAt"
    from webhook_deliveries
    where app_id = $1
    and webhook = $2
    and due_at is not null
    and attempts > 0
    and due_at <= ${nowMs}
    and id <> all($5::bigint[])
    order by due_at
    limit $6
  )`)

/**
 * What is due for a webhook.
 * @param after first attempts of later events only
 * @param except deliveries that are under way
 */
export async function selectDue(
  on: Queryable,
  { appId, endpoint }: EndpointKey,
  options: { readonly after: number; readonly except: readonly number[]; readonly limit: number },
): Promise<DueDelivery[]> {
  const { after, except, limit } = options
  // Those to try again get a part of the room, so that neither sort holds up the other.
  const again = Math.max(1, Math.floor(limit / 4))
  const rows = await on.query<DueDelivery>(select, [appId, endpoint, after, limit, except, again])
  return rows.slice(0, limit === 1 ? 1 : rows.length)
}
