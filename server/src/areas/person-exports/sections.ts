import type { PersonRecordKind } from '@parley/contract'
import { takesPartIn } from '../../chat/sight/participation.ts'
import { type Statement, statement } from '../../store/statement.ts'

/** A kind of records that one statement writes whole. */
export interface Section {
  readonly kind: PersonRecordKind
  /** Tables that are read for it. */
  readonly of: readonly string[]
  /** Columns `record`, `conversation`, `message`, `names`, of app $1 and user $2. */
  readonly rows: string
}

const conversationId = `case c.kind when 1 then c.first || '_user_' || c.second else 'group_' || c.first end`
const other = `case when c.kind = 1 then array[c.first, c.second] else '{}' end`

/** What hangs on a message that the user marked: of the message no more than its id. */
const mark = (
  kind: PersonRecordKind,
  table: string,
  id: string,
  members: string,
  condition = 'x.uid = $2',
): Section => ({
  kind,
  of: [table],
  rows: `
    select json_build_object('messageId', m.id::text, ${members}) as record, m.conversation, m.id as message,
      array[]::text[] as names
    from ${table} x
    join messages m on m.app_id = x.app_id and m.id = x.${id}
    where x.app_id = $1 and ${condition} and not m.purged`,
})

const own = (kind: PersonRecordKind, table: string, members: string, names = 'array[]::text[]'): Section => ({
  kind,
  of: [table],
  rows: `
    select json_build_object(${members}) as record, null::bigint as conversation, null::bigint as message, ${names} as names
    from ${table} x
    where x.app_id = $1 and x.uid = $2`,
})

const inConversation = (kind: PersonRecordKind, table: string, members: string): Section => ({
  kind,
  of: [table],
  rows: `
    select json_build_object('conversationId', ${conversationId}, ${members}) as record,
      x.conversation, null::bigint as message, ${other} as names
    from ${table} x
    left join conversations c on c.app_id = x.app_id and c.key = x.conversation
    where x.app_id = $1 and x.uid = $2`,
})

/** What there is of a person beside messages, in the order in which it is written. Credentials and `@private` are left out. */
export const sections: readonly Section[] = [
  own(
    'profile',
    'users',
    `'uid', x.uid, 'name', x.name, 'avatar', x.avatar, 'link', x.link, 'role', x.role,
      'statusMessage', x.status_message, 'metadata', x.metadata::jsonb - '@private', 'tags', x.tags,
      'createdAt', x.created_at, 'updatedAt', x.updated_at, 'lastActiveAt', x.last_active_at,
      'deactivatedAt', x.deactivated_at`,
  ),
  own('contact', 'notification_contacts', `'email', x.email, 'phone', x.phone`),
  own('preferences', 'notification_preferences', `'preferences', x.preferences, 'timezone', x.timezone`),
  inConversation('unsubscription', 'notification_unsubscriptions', `'channel', x.channel, 'since', x.since`),
  own(
    'mute',
    'notification_mutes',
    `'type', case x.kind when 1 then 'user' else 'group' end, 'id', x.peer, 'until', x.until`,
    `case x.kind when 1 then array[x.peer] else '{}' end`,
  ),
  own(
    'device',
    'push_tokens',
    `'platform', x.platform, 'type', x.type, 'createdAt', x.created_at, 'updatedAt', x.updated_at`,
  ),
  own(
    'login',
    'auth_tokens',
    `'platform', x.platform, 'userAgent', x.user_agent, 'appInfo', x.app_info, 'createdAt', x.created_at,
      'usedAt', x.used_at`,
  ),
  own('friend', 'friends', `'uid', x.friend, 'createdAt', x.created_at`, 'array[x.friend]'),
  {
    kind: 'block',
    of: ['blocks'],
    rows: `
    select json_build_object('uid', x.blocked, 'blockedAt', x.blocked_at) as record, null::bigint as conversation,
      null::bigint as message, array[x.blocked] as names
    from blocks x
    where x.app_id = $1 and x.blocker = $2`,
  },
  {
    kind: 'membership',
    of: ['group_members', 'groups'],
    rows: `
    select json_build_object('guid', g.guid, 'name', g.name, 'scope', x.scope, 'joinedAt', x.joined_at,
        'isOwner', g.owner = x.uid) as record,
      g.conversation, null::bigint as message, array[]::text[] as names
    from group_members x
    join groups g on g.app_id = x.app_id and g.guid = x.guid
    where x.app_id = $1 and x.uid = $2`,
  },
  {
    kind: 'groupBan',
    of: ['group_bans'],
    rows: `
    select json_build_object('guid', g.guid, 'uid', x.uid, 'bannedAt', x.banned_at) as record, g.conversation,
      null::bigint as message, array[x.uid] as names
    from group_bans x
    join groups g on g.app_id = x.app_id and g.guid = x.guid
    where x.app_id = $1 and x.banned_by = $2`,
  },
  inConversation(
    'conversation',
    'conversation_states',
    `'isMember', ${takesPartIn('c', 'x')}, 'deliveredUpTo', nullif(x.delivered_id, 0)::text,
      'readUpTo', nullif(x.read_id, 0)::text, 'unreadFrom', nullif(x.unread_id, 0)::text,
      'resetUpTo', nullif(x.cleared_id, 0)::text, 'tags', x.tags, 'pinnedAt', x.pinned_at`,
  ),
  mark('reaction', 'reactions', 'message_id', `'reaction', x.reaction, 'reactedAt', x.reacted_at`),
  mark('interaction', 'interactions', 'message_id', `'elementId', x.element_id, 'interactedAt', x.interacted_at`),
  mark('saved', 'saved_messages', 'message_id', `'savedAt', x.saved_at`),
  mark('subscription', 'thread_subscriptions', 'parent_id', `'subscribedAt', x.subscribed_at`),
  mark('pin', 'pinned_messages', 'message_id', `'pinnedAt', x.pinned_at`, 'x.pinned_by = $2'),
  mark(
    'flag',
    'moderation_flags',
    'message',
    `'reasonId', x.reason_id, 'reason', x.reason_name, 'remark', x.remark, 'flaggedAt', x.flagged_at`,
  ),
  {
    kind: 'file',
    of: ['media_uses', 'media_files', 'messages'],
    rows: `
    select json_build_object('messageId', m.id::text, 'name', f.name, 'mimeType', f.mime_type, 'size', f.size,
        'createdAt', f.created_at) as record,
      m.conversation, m.id as message, array[]::text[] as names
    from (
      select m.id, m.conversation
      from messages m
      join (
        select conversation from conversation_states where app_id = $1 and uid = $2
      ) s on s.conversation = m.conversation
      where m.app_id = $1 and m.sender = $2 and m.kind = 1 and not m.purged
      union all
      select m.id, m.conversation
      from messages m
      where m.app_id = $1 and m.sender = $2 and m.kind = 2
    ) m
    join media_uses x on x.app_id = $1 and x.message_id = m.id
    join media_files f on f.app_id = $1 and f.key = x.key and f.removed_at is null`,
  },
  mark(
    'waitingEdit',
    'message_moderation',
    'message',
    `'data', x.waiting -> 'data', 'tags', x.waiting -> 'tags'`,
    `x.sender = $2 and x.waiting ->> 'editor' = $2`,
  ),
]

/** Writes a section behind the records that there are. @returns `count` */
export const writeSection: ReadonlyMap<Section, Statement> = new Map(
  sections.map((section) => [
    section,
    statement(`
  with found as (${section.rows}
  ),
  written as (
    insert into person_export_records (app_id, run, place, uid, kind, record, conversation, message, names)
    select $1, $3::uuid, $4::bigint + row_number() over (), $2, '${section.kind}', record, conversation, message,
      array_remove(names, $2)
    from found
    returning 1
  )
  select count(*) as count from written`),
  ]),
)

/**
 * What else names a user and is no part of their data. With what `sections` read, that is every table that erasure knows for
 * its users; a test holds it against those.
 */
export const leftOut: Readonly<Record<string, string>> = {
  retention_holds: 'what the app has put on hold',
  person_exports: 'it is what this is',
  person_export_records: 'it is what this is',
  ended_jwts: 'digests of credentials',
  presence: 'open connections of the moment; the profile has when they were active last',
  usage_users: 'a number that counts them',
  upload_days: 'bytes of a day, for the quota',
  notification_deliveries: 'the log of what was sent, which goes by itself',
  notification_correspondences: 'addresses for replies to mails',
  moderation_dry_run_senders: 'what rules would have met',
  moderation_dry_run_examples: 'what rules would have met',
}
