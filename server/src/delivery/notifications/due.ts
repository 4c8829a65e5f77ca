import type { NotificationTrigger, UserPreferencesIn } from '@parley/contract'
import { type ConversationKind, kindSql } from '../../chat/kind.ts'
import { noEvent } from '../../chat/notifications/shown.ts'
import { hasCleared, notHeldIn } from '../../chat/sight/participation.ts'
import type { EventTrigger } from '../../events/types.ts'
import { nowMs } from '../../store/clock.ts'
import type { Queryable } from '../../store/database.ts'
import { inOrder, statement } from '../../store/statement.ts'
import type { EndpointKey } from '../outbound/endpoints.ts'
import { conversationOf, followsThreadSql, isBlockedSql, mutesJoin, preferencesJoin, stateJoin } from './facts.ts'
import { actedJoin, quotedJoin } from './happenings.ts'
import { ofThemselves } from './triggers.ts'

/** A notification that is to be sent now, with all that decides whether it still is, but for what the message says. */
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
  /** Null: its conversation is gone, which may happen while it is planned. */
  readonly kind: ConversationKind | null
  readonly first: string
  readonly second: string
  readonly attempts: number
  /** An attempt had no answer: see `SendAttempt`. */
  readonly mayHaveArrived: boolean
  readonly createdAt: number
  readonly expiresAt: number
  readonly preferences: UserPreferencesIn | null
  readonly timezone: string | null
  readonly role: string | null
  /** Epoch milliseconds; null: for ever, where it `isMuted`. */
  readonly mutedUntil: number | null
  readonly isMuted: boolean
  readonly followsThread: boolean
  readonly isBlocked: boolean
  readonly hasRead: boolean
  readonly hasCleared: boolean
  readonly isActive: boolean
  readonly takesPart: boolean
  /** Permissions are set in the group. */
  readonly isRestricted: boolean
  /** It is about a reaction, which was taken back since. */
  readonly isTakenBack: boolean
  /** It takes back a message that is gone with its conversation, and with all that said where it was sent to. */
  readonly isOfRemoved: boolean
  /** Who wrote the message, and the one that it quotes. */
  readonly sender: string | null
  readonly quotedSender: string | null
  /** Who did what the action message of the event is about. */
  readonly actedBy: string | null
}

/** What is true or false comes as the bits of one number: the driver takes as long for each column as for a text. */
const flags = {
  isMuted: 'mu.uid is not null',
  followsThread: followsThreadSql('d.uid', 'm.parent_id'),
  isBlocked: isBlockedSql('d.uid', 'c.kind', 'any(h.actors)'),
  hasRead: 'coalesce((s.read_sent_at, s.read_id) >= (m.sent_at, m.id), false)',
  hasCleared: `coalesce(${hasCleared('(m.sent_at, m.id)')}, false)`,
  isActive: 'u.uid is not null and u.deactivated_at is null',
  takesPart: 'c.kind = 1 or g.uid is not null',
  isRestricted: 'coalesce(g.permissions_version <> 0, false)',
  isTakenBack: `d.reaction is not null and not exists (
      select
      from reactions r
      where r.app_id = d.app_id
      and r.message_id = d.message
      and r.id = d.reaction
      offset 0
    )`,
  mayHaveArrived: 'd.reason is not null',
  isOfRemoved: `d.event = ${noEvent} and c.kind is null`,
} as const
const flagNames = Object.keys(flags) as Array<keyof typeof flags>
const flagsSql = Object.values(flags)
  .map((is, bit) => `case when ${is} then ${1 << bit} else 0 end`)
  .join(`\n      + `)

type Columns = readonly [
  id: number,
  uid: string,
  digest: Buffer | null,
  sealed: Buffer | null,
  platform: string | null,
  trigger: NotificationTrigger,
  eventId: number,
  event: EventTrigger | null,
  data: Readonly<Record<string, unknown>> | null,
  conversation: number,
  message: number | null,
  reaction: number | null,
  kind: ConversationKind | null,
  first: string,
  second: string,
  attempts: number,
  createdAt: number,
  expiresAt: number,
  preferences: UserPreferencesIn | null,
  timezone: string | null,
  role: string | null,
  mutedUntil: number | null,
  flags: number,
  sender: string | null,
  quotedSender: string | null,
  actedBy: string | null,
]

/** What is taken back without an event says itself what it is about. */
const orOfNoEvent = (value: string, own: string) =>
  `case when d.event = ${noEvent} then coalesce(${value}, ${own}) else ${value} end`

/** As when it was planned (`candidates.ts`), but of single users, who may have left by now; in one statement, each found by key. */
const select = inOrder(
  statement(`
  select d.id, d.uid, d.digest, t.sealed, d.platform, d.trigger, d.event, ${orOfNoEvent('e.trigger', 'd.trigger')}, e.data, d.conversation,
    ${orOfNoEvent('d.message', 'd.messages[1]')}, d.reaction, ${kindSql(orOfNoEvent('c.kind', 'd.kind'))}, coalesce(c.first, d.receiver),
    coalesce(c.second, ''), d.attempts, d.created_at, d.expires_at, p.preferences, p.timezone, u.role, mu.until,
    ${flagsSql},
    m.sender, q.sender, a.sender
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
  left join lateral (${conversationOf('d')}
  ) c on true
  left join lateral (
    select e.trigger, e.data
    from events e
    where e.app_id = d.app_id
    and e.id = d.event
    order by e.id
    limit 1
  ) e on true
  left join lateral (
    select m.id, m.sender, m.sent_at, m.parent_id, m.quoted_id
    from messages m
    where m.app_id = d.app_id
    and m.id = d.message
    and not m.purged
    and ${notHeldIn('m')}
    order by m.id
    limit 1
  ) m on true
  ${quotedJoin('d')}
  ${actedJoin('d')}
  cross join lateral (
    select case
        when e.trigger = 'message_sent' then array[m.sender]
        when e.trigger in (${ofThemselves.map((trigger) => `'${trigger}'`).join(', ')})
          then array(select x ->> 'uid' from json_array_elements(e.data -> 'members') x)
        else array[coalesce(e.data ->> 'uid', e.data ->> 'by', a.sender)]
      end as actors
  ) h
  left join users u on u.app_id = d.app_id and u.uid = d.uid
  left join lateral (
    select g.uid, gr.permissions_version
    from groups gr
    left join group_members g on g.app_id = gr.app_id and g.guid = gr.guid and g.uid = d.uid
    where c.kind = 2
    and gr.app_id = d.app_id
    and gr.guid = c.first
  ) g on true
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
  ${mutesJoin('d.uid', 'c')}
  ${stateJoin('d.uid', 'd')}
  order by d.due_at`),
)

/** What is due for a provider, longest due first. @param except what is under way */
export async function selectDue(
  on: Queryable,
  { appId, endpoint }: EndpointKey,
  { except, limit }: { readonly except: readonly number[]; readonly limit: number },
): Promise<DueNotification[]> {
  const rows = await on.query<Columns>(select, [appId, endpoint, except, limit])
  return rows.map((row) => dueOf(row, endpoint))
}

function has(row: Columns, name: keyof typeof flags): boolean {
  return (row[22] & (1 << flagNames.indexOf(name))) !== 0
}

/** One literal, since there are thousands a second. */
function dueOf(row: Columns, provider: number): DueNotification {
  return {
    id: row[0],
    uid: row[1],
    provider,
    digest: row[2],
    sealed: row[3],
    platform: row[4],
    trigger: row[5],
    eventId: row[6],
    event: row[7],
    data: row[8],
    conversation: row[9],
    message: row[10],
    reaction: row[11],
    kind: row[12],
    first: row[13],
    second: row[14],
    attempts: row[15],
    mayHaveArrived: has(row, 'mayHaveArrived'),
    createdAt: row[16],
    expiresAt: row[17],
    preferences: row[18],
    timezone: row[19],
    role: row[20],
    mutedUntil: row[21],
    isMuted: has(row, 'isMuted'),
    followsThread: has(row, 'followsThread'),
    isBlocked: has(row, 'isBlocked'),
    hasRead: has(row, 'hasRead'),
    hasCleared: has(row, 'hasCleared'),
    isActive: has(row, 'isActive'),
    takesPart: has(row, 'takesPart'),
    isRestricted: has(row, 'isRestricted'),
    isTakenBack: has(row, 'isTakenBack'),
    isOfRemoved: has(row, 'isOfRemoved'),
    sender: row[23],
    quotedSender: row[24],
    actedBy: row[25],
  }
}
