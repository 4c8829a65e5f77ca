import type { Channel, UserPreferencesIn } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import type { MailFacts, Recipient } from '../../chat/notifications/decide.ts'
import { hasCleared } from '../../chat/sight/participation.ts'
import type { Queryable } from '../../store/database.ts'
import { createRecordset } from '../../store/recordset.ts'
import { statement } from '../../store/statement.ts'
import {
  addressSql,
  followsThreadSql,
  isBlockedSql,
  mutesJoin,
  preferencesJoin,
  stateJoin,
  unsubscribedSql,
  usesAddressSql,
} from './facts.ts'
import type { Happened } from './happenings.ts'

/** One user who may be notified of something, by one provider on one device or at one address. */
export interface Candidate {
  readonly event: number
  readonly recipient: Recipient
  readonly channel: Channel
  /** Of e-mail and SMS; what was sent already is looked at when a window ends. */
  readonly mail: MailFacts | undefined
  readonly provider: number
  readonly providerKind: string
  readonly providerId: string
  readonly digest: Buffer | null
  /** The push token that the digest is of, where it was asked for. */
  readonly sealed: Buffer | null
  readonly platform: string | null
  /** What hides a message from them: their role, and up to where they have cleared the conversation. */
  readonly role: string | null
  readonly hasCleared: boolean
}

interface CandidateRow extends Omit<Candidate, 'recipient' | 'mail'> {
  readonly isOnline: boolean
  readonly address: MailFacts['address'] | null
  readonly isUnsubscribed: boolean
  readonly uid: string
  readonly preferences: UserPreferencesIn | null
  readonly timezone: string | null
  readonly isMuted: boolean
  readonly mutedUntil: number | null
  readonly followsThread: boolean
  readonly isBlocked: boolean
  readonly hasRead: boolean
}

interface Asked {
  readonly one: Happened
  readonly chosen: boolean
  readonly channels: readonly Channel[]
  /** Users up to this one are left out. */
  readonly after: string
}

/** Whether a message has been read does not matter where the notification is about something else. */
const untouchedByReading: readonly string[] = ['reactions']
const ofMessage = ({ category }: Happened) => !untouchedByReading.includes(category)

const asked = createRecordset<Asked>(
  [
    ['event', 'bigint', ({ one }) => one.event],
    ['conversation', 'bigint', ({ one }) => one.conversation],
    ['kind', 'smallint', ({ one }) => (one.kind === 'group' ? 2 : 1)],
    ['first', 'text', ({ one }) => one.first],
    ['second', 'text', ({ one }) => one.second],
    ['actors', 'text[]', ({ one }) => one.actors],
    ['author', 'text', ({ one }) => one.author ?? null],
    ['chosen', 'boolean', ({ chosen }) => chosen],
    ['message', 'bigint', ({ one }) => (ofMessage(one) ? one.message : null)],
    ['sent_at', 'bigint', ({ one }) => (ofMessage(one) ? one.sentAt : null)],
    ['parent', 'bigint', ({ one }) => one.parentId],
    ['after', 'text', ({ after }) => after],
    ['channels', 'text[]', ({ channels }) => channels],
  ],
  { alias: 'h', first: 5 },
)

/**
 * Everybody whom some happenings concern and whom a provider can reach, with all that decides whether they are notified.
 * Of what most are not notified of (`chosen`), only those who have chosen anything are looked at, and who wrote the message. Of
 * several providers of e-mail the one that was saved last is taken, the operator's own after all others; so for SMS.
 */
const select = statement(`
  with happened as materialized (
    select h.event, h.conversation, h.kind, h.first, h.second, h.actors::text[] as actors, h.author, h.chosen, h.message,
      h.sent_at, h.parent, h.after, h.channels::text[] as channels
    from ${asked.sql}
  ),
  providers as materialized (
    select *
    from notification_providers n
    where n.app_id = $1
    and n.enabled
  ),
  mailers as materialized (
    select distinct on (n.channel) n.channel, n.key, n.kind, n.id, ${usesAddressSql} as uses_address
    from providers n
    where n.channel <> 'push'
    order by n.channel, n.kind = 'smtp', n.updated_at desc, n.key desc
  )
  select h.event, r.uid, u.online as "isOnline", t.channel, t.provider, t.kind as "providerKind", t.id as "providerId", t.digest,
    t.sealed, t.platform, u.role, p.preferences, p.timezone, mu.uid is not null as "isMuted", mu.until as "mutedUntil",
    ${followsThreadSql('r.uid', 'h.parent')} as "followsThread",
    ${isBlockedSql('r.uid', 'h.kind', 'any(h.actors)')} as "isBlocked",
    coalesce((s.read_sent_at, s.read_id) >= (h.sent_at, h.message), false) as "hasRead",
    coalesce(${hasCleared('(h.sent_at, h.message)')}, false) as "hasCleared",
    ${addressSql} as address,
    t.channel <> 'push' and ${unsubscribedSql('r.uid', 't.channel', 'h.conversation')} as "isUnsubscribed"
  from happened h
  cross join lateral (
    select h.first as uid
    where h.kind = 1
    union all
    select h.second
    where h.kind = 1
    and h.second <> h.first
    union all
    select g.uid
    from group_members g
    where h.kind = 2
    and g.app_id = $1
    and g.guid = h.first
  ) r
  join users u on u.app_id = $1 and u.uid = r.uid and u.deactivated_at is null
  cross join lateral (
    select 'push' as channel, n.key as provider, n.kind, n.id, null::bytea as digest, null::bytea as sealed, null::text as platform,
      false as uses_address
    from providers n
    where n.channel = 'push'
    and n.kind = 'custom'
    union all
    select 'push', n.key, n.kind, n.id, d.digest, case when n.key = any($4::bigint[]) then d.sealed end, d.platform, false
    from push_tokens d
    join providers n on n.key = d.provider
    where d.app_id = $1
    and d.uid = r.uid
    and d.type = 'chat'
    union all
    select w.channel, w.key, w.kind, w.id, null, null, null, w.uses_address
    from mailers w
  ) t
  ${preferencesJoin('r.uid')}
  ${mutesJoin('r.uid', 'h')}
  left join lateral (
    select k.*
    from notification_contacts k
    where t.channel <> 'push'
    and k.app_id = $1
    and k.uid = r.uid
    order by k.uid
    limit 1
  ) k on true
  ${stateJoin('r.uid', 'h')}
  where r.uid <> all(h.actors)
  and r.uid <> '${systemUid}'
  and r.uid > h.after
  and t.channel = any(h.channels)
  and ($3::text is null or r.uid = $3)
  and (not h.chosen or p.uid is not null or r.uid = h.author)
  order by h.event, r.uid, t.provider, t.digest
  limit $2`)

/**
 * @param isChosen whether only users who have chosen anything can be notified of something
 * @param channelsOf those by which it can be sent at all
 * @param after of the first event, users up to this one are left out
 */
export async function readCandidates(
  on: Queryable,
  appId: number,
  happened: readonly Happened[],
  options: {
    readonly isChosen: (one: Happened) => boolean
    readonly channelsOf: (one: Happened) => readonly Channel[]
    readonly after: { readonly event: number; readonly uid: string }
    readonly limit: number
    /** Providers whose tokens are read, too. */
    readonly withTokens?: readonly number[]
    /** Only this user. */
    readonly only?: string
  },
): Promise<Candidate[]> {
  if (happened.length === 0) return []
  const wanted = happened.map((one) => ({
    one,
    chosen: options.isChosen(one),
    channels: options.channelsOf(one),
    after: one.event === options.after.event ? options.after.uid : '',
  }))
  const values = [appId, options.limit, options.only ?? null, options.withTokens ?? [], ...asked.values(wanted)]
  const rows = await on.query<CandidateRow>(select, values)
  return rows.map(candidateOf)
}

/** One literal, since there are thousands a second. */
function candidateOf(row: CandidateRow): Candidate {
  const { channel, address } = row
  return {
    event: row.event,
    channel,
    provider: row.provider,
    providerKind: row.providerKind,
    providerId: row.providerId,
    digest: row.digest,
    sealed: row.sealed,
    platform: row.platform,
    role: row.role,
    hasCleared: row.hasCleared,
    mail:
      channel === 'push' || address === null
        ? undefined
        : { channel, address, isUnsubscribed: row.isUnsubscribed, sentToday: 0, sentTodayHere: 0 },
    recipient: {
      uid: row.uid,
      followsThread: row.followsThread,
      isBlocked: row.isBlocked,
      hasRead: row.hasRead,
      isOnline: channel === 'push' ? row.isOnline : undefined,
      stored: { preferences: row.preferences ?? {}, timezone: row.timezone },
      mutedUntil: row.isMuted ? row.mutedUntil : undefined,
    },
  }
}
