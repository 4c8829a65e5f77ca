import type { NotificationTrigger, UserPreferencesIn } from '@parley/contract'
import { type ConversationKind, kindSql } from '../../chat/kind.ts'
import type { EventTrigger } from '../../events/types.ts'
import { nowMs } from '../../store/clock.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { EndpointKey } from '../outbound/endpoints.ts'
import { conversationOf, preferencesJoin } from './facts.ts'

/** A notification that is to be sent now. */
export interface DueNotification {
  readonly id: number
  readonly uid: string
  readonly provider: number
  readonly digest: Buffer | null
  /** The push token that the digest is of; null where it is registered no more. */
  readonly sealed: Buffer | null
  readonly platform: string | null
  readonly trigger: NotificationTrigger
  readonly eventId: number
  readonly event: EventTrigger | null
  readonly data: Readonly<Record<string, unknown>> | null
  readonly conversation: number
  readonly message: number | null
  readonly reaction: number | null
  readonly kind: ConversationKind
  readonly first: string
  readonly second: string
  readonly attempts: number
  readonly createdAt: number
  readonly expiresAt: number
  readonly preferences: UserPreferencesIn | null
  readonly role: string | null
}

const select = statement(`
  select d.id, d.uid, d.provider, d.digest, t.sealed, d.platform, d.trigger, d.event as "eventId", e.trigger as event,
    e.data, d.conversation, d.message,
    d.reaction, ${kindSql('d.kind')} as kind, c.first, c.second, d.attempts, d.created_at as "createdAt", d.expires_at as "expiresAt",
    p.preferences, u.role
  from (
    select *
    from notification_deliveries
    where app_id = $1
    and day = 0
    and provider = $2
    and due_at <= ${nowMs}
    and id <> all($3::bigint[])
    order by due_at
    limit $4
  ) d
  cross join lateral (${conversationOf('d')}
  ) c
  left join lateral (
    select e.trigger, e.data
    from events e
    where e.app_id = d.app_id
    and e.id = d.event
    order by e.id
    limit 1
  ) e on true
  left join users u on u.app_id = d.app_id and u.uid = d.uid
  left join lateral (
    select t.sealed
    from push_tokens t
    where t.app_id = d.app_id
    and t.provider = d.provider
    and t.digest = d.digest
    and t.uid = d.uid
    order by t.provider, t.digest
    limit 1
  ) t on true
  ${preferencesJoin('d.uid')}
  order by d.due_at`)

/** What is due for a provider, longest due first. @param except what is under way */
export function selectDue(
  on: Queryable,
  { appId, endpoint }: EndpointKey,
  { except, limit }: { readonly except: readonly number[]; readonly limit: number },
): Promise<DueNotification[]> {
  return on.query<DueNotification>(select, [appId, endpoint, except, limit])
}
