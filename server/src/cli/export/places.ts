/**
 * Every table of an app as an export has it: a file of records, one a line. What is not in a record is named with its reason, and
 * so is every table that is left out; a test holds this list against the tables of the house and their columns.
 */
export interface ExportedTable {
  readonly table: string
  /** `<file>.ndjson` in the folder. */
  readonly file: string
  /** Of the records: names for the reader of docs/moving-out.md. */
  readonly holds: string
  /** SQL of the order of the records, by what does not change when they move; `t` is the table, `c` its conversation. */
  readonly order: string
  /** Column by the member that has it, in the order of the record. */
  readonly members: ReadonlyMap<string, string>
  /** Columns that are in no record, with the reason. */
  readonly made: Readonly<Record<string, string>>
  /** SQL of columns that an import makes, by column; `r` is the record. */
  readonly makes: Readonly<Record<string, string>>
  /** SQL that limits the rows. */
  readonly where: string | undefined
}

interface More {
  readonly made?: Readonly<Record<string, string>>
  readonly makes?: Readonly<Record<string, string>>
  readonly where?: string
}

const anew = 'drawn anew, in the same order'
const generated = 'computed by the database'
const ofOperators = 'operators are of the installation'
const underMasterKey = 'made under the master key, anew by the service that imports'
const sealedApart = 'in secrets.ndjson, under the passphrase'
/** The conversation of a group, which is imported before it. */
const ofGroup = `(select k.key from conversations k where k.app_id = $1 and k.kind = 2 and k.first = r.guid)`

/** @param columns of the table; `member=column` where the record names it otherwise, else in camel case */
function place(
  table: string,
  file: string,
  holds: string,
  order: string,
  columns: string,
  more: More = {},
): ExportedTable {
  const members = columns.split(/\s+/).map((text): [string, string] => {
    const [member, column] = text.split('=')
    return column === undefined ? [camel(text), text] : [member as string, column]
  })
  const { made = {}, makes = {}, where } = more
  return { ...{ table, file, holds, order, made, makes, where }, members: new Map(members) }
}

function camel(column: string): string {
  return column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

const inConversation = 'c.kind, c.first, c.second'

/** The conversation of a message that is not removed: found by who wrote to whom. */
const ofMessage = `(
  select k.key
  from conversations k
  where k.app_id = $1
  and k.kind = r.kind::smallint
  and k.first = case when r.kind = '2' then r.receiver else least(r.sender collate "C", r.receiver collate "C") end
  and k.second = case when r.kind = '2' then '' else greatest(r.sender collate "C", r.receiver collate "C") end)`

/** What a message that was removed for good has left: a place in the history, by which cursors find their way. */
const nothing = { sender: "''", receiver: "''", category: "''", type: "''", data: "'{}'::json", countable: 'false' }

/** In the order in which they are imported. */
export const places: readonly ExportedTable[] = [
  place(
    ...(['conversations', 'conversations', 'Where each conversation ends, what of it everybody has read'] as const),
    'kind, first, second',
    `receiverType=kind first second created_at begun_at last_sent_at last_id last_sender listed_sent_at listed_id all_delivered_sent_at
      all_delivered_id all_read_sent_at all_read_id version timed_sent_at`,
    { made: { key: 'drawn anew: records name conversations by their kind and whom they are of', unlisted: generated } },
  ),
  place(
    ...(['roles', 'roles', 'Roles with their permissions and restricted features'] as const),
    'ordinal',
    'role name description metadata settings permissions restricted_features created_at updated_at',
    { made: { ordinal: anew } },
  ),
  place(
    ...(['users', 'users', 'Users, deactivated ones too'] as const),
    'uid',
    `uid name avatar link role status_message metadata tags created_at updated_at last_active_at deactivated_at
      tokens_after`,
    {
      made: {
        name_key: 'made of the name',
        revision: 'drawn anew',
        online: 'nobody is online yet',
        created_by_key: sealedApart,
      },
      makes: { name_key: 'r.name_key' },
    },
  ),
  place(
    ...(['groups', 'groups', 'Groups, permissions of their scopes, hashes of passwords'] as const),
    'guid',
    `guid name type icon description owner metadata tags members_count permissions permissions_version created_at updated_at
      updated_by passwordHash=password_digest`,
    {
      made: { name_key: 'made of the name', revision: 'drawn anew', conversation: 'that of the group' },
      makes: { name_key: 'r.name_key', conversation: ofGroup },
    },
  ),
  place('group_members', 'members', 'Members of groups', 'guid, uid', 'guid uid scope joined_at explicit'),
  place('group_bans', 'bans', 'Bans, by whom and since when', 'ordinal', 'guid uid banned_by banned_at', {
    made: { ordinal: anew },
  }),
  place(
    ...([
      'conversation_states',
      'states',
      'Marks, unread pointers, resets, tags and pins of each participant',
    ] as const),
    `uid, ${inConversation}`,
    `uid conversation member delivered_sent_at delivered_id read_sent_at read_id unread_sent_at unread_id counted_sent_at
      counted_id counted_unread counted_version cleared_sent_at cleared_id hidden tags pinned_at joined_sent_at joined_id`,
    {
      made: {
        member_delivered_sent_at: generated,
        member_delivered_id: generated,
        member_read_sent_at: generated,
        member_read_id: generated,
      },
    },
  ),
  place(
    ...([
      'receipt_steps',
      'receipts',
      'Up to where somebody (uid "": everybody) had received (1) or read (2), and when',
    ] as const),
    `${inConversation}, uid, kind, sent_at, id`,
    'conversation uid kind sent_at id at',
  ),
  place(
    ...(['messages', 'messages', 'Messages of all categories, deleted ones too, with who reacted when'] as const),
    'id',
    `id muid sender receiverType=kind receiver category type data parent_id quotedMessageId=quoted_id subject_id tags mentioned traits
      countsAsUnread=countable imported sent_at updated_at delivered_at read_at edited_at edited_by deleted_at deleted_by`,
    {
      where: 'not purged',
      made: { conversation: 'told by sender and receiver', purged: 'those are in positions.ndjson' },
      makes: { conversation: ofMessage },
    },
  ),
  place(
    ...(['messages', 'positions', 'Places of messages that were removed for good'] as const),
    'id',
    'id receiverType=kind conversation traits imported sent_at updated_at',
    {
      where: 'purged',
      made: Object.fromEntries(
        ['sender', 'receiver', 'category', 'type', 'data', 'countable', 'muid', 'tags', 'mentioned', 'parent_id']
          .concat(['quoted_id', 'subject_id', 'delivered_at', 'read_at', 'edited_at', 'edited_by'])
          .concat(['deleted_at', 'deleted_by', 'purged'])
          .map((column) => [column, 'it is gone']),
      ),
      makes: { ...nothing, purged: 'true' },
    },
  ),
  place(
    ...(['threads', 'threads', 'Threads with their counts'] as const),
    'parent_id',
    'parent_id conversation reply_count last_reply_id updated_at starter held',
  ),
  place(
    ...(['thread_subscriptions', 'subscriptions', 'Who follows which thread'] as const),
    'parent_id, uid',
    'uid messageId=parent_id subscribed_at',
  ),
  place(
    ...(['pinned_messages', 'pins', 'Pinned messages'] as const),
    'message_id',
    'conversation message_id pinned_by pinned_at',
  ),
  place('saved_messages', 'saves', 'Saved messages', 'uid, message_id', 'uid message_id saved_at'),
  place(
    ...(['interactions', 'interactions', 'Who used which element of an interactive message'] as const),
    'message_id, uid, element_id',
    'message_id uid element_id interacted_at',
  ),
  place(
    ...(['app_pinned_conversations', 'app-pins', 'Conversations pinned for everybody'] as const),
    'place',
    'receiverType=kind peer place pinned_at',
  ),
  place('friends', 'friends', 'Friends, a record for each side', 'uid, friend', 'uid friend created_at'),
  place('blocks', 'blocks', 'Blocks', 'ordinal', 'uid=blocker blocked blocked_at', { made: { ordinal: anew } }),
  place('group_retention', 'retention', 'How long groups keep messages', 'guid', 'guid days mode'),
  place('retention_holds', 'holds', 'What is on hold', 'id', 'uid conversation note held_at', { made: { id: anew } }),
  place('former_users', 'former-users', 'Uids that somebody had before', 'uid', 'uid times', {
    made: { last_event: 'there are no events of before' },
    makes: { last_event: '0' },
  }),
  place(
    ...(['media_files', 'media', 'Files, which are in files/'] as const),
    'key',
    'key name mime_type size created_at claim_by',
    {
      where: 'removed_at is null and not arriving',
      made: {
        removed_at: 'files that were removed are not in the export',
        arriving: 'files that are being uploaded are not in the export',
        origin: 'addresses are those of the service that they move to',
      },
    },
  ),
  place('media_uses', 'media-uses', 'Which message uses which file', 'message_id, key', 'message_id key'),
  place('media_usage', 'media-usage', 'Bytes of all files', 'bytes', 'bytes'),
  place('upload_days', 'uploads', 'Bytes that users uploaded, by day', 'uid, day', 'uid day bytes'),
  place(
    ...(['message_moderation', 'moderated', 'What moderation did with messages, held and blocked ones too'] as const),
    'message',
    `messageId=message conversation sender status generation was_visible was_countable held_from waiting questions due_at attempts
      rule_id rule_name rule_revision condition list_id list_revision match confidence reason actions lane took created_at
      updated_at reviewed_at reviewed_by review_status`,
    { made: { leased_until: 'no process holds it yet' } },
  ),
  place(
    ...(['moderation_decisions', 'decisions', 'The log of decisions of moderation'] as const),
    'id',
    `messageId=message rule_id rule_revision list_id list_revision condition match confidence reason mode lane took actions
      decision at acted`,
    { made: { id: anew } },
  ),
  place(
    ...(['moderation_queue', 'review-queue', 'What reviewers have to look at'] as const),
    'message',
    'messageId=message opened_at by_rule status',
  ),
  place(
    ...(['moderation_flags', 'flags', 'What users flagged'] as const),
    'message, uid',
    'messageId=message uid reason_id reason_name reason_description remark flagged_at',
  ),
  place('moderation_claims', 'review-claims', 'Who looks at it', 'message', 'messageId=message reviewer until'),
  place('moderation_notes', 'review-notes', 'Notes of reviewers', 'id', 'messageId=message text author created_at', {
    made: { id: anew },
  }),
  place(
    ...(['moderation_reviews', 'reviews', 'What reviewers decided'] as const),
    'message',
    'messageId=message list decision as_new reviewer reviewed_at edited_at settled',
  ),
  place(
    ...(['moderation_rules', 'rules', 'Rules of moderation'] as const),
    'key',
    'id revision predefined removed created_at',
    { made: { key: anew } },
  ),
  place(
    ...(['moderation_rule_revisions', 'rule-revisions', 'What rules said, and say'] as const),
    'rule_id, revision',
    'rule_id revision name description mode filters conditions exceptions actions created_at updated_at',
  ),
  place(
    ...(['moderation_lists', 'lists', 'Lists of moderation'] as const),
    'key',
    'id revision predefined removed created_at',
    { made: { key: anew } },
  ),
  place(
    ...(['moderation_list_revisions', 'list-revisions', 'What lists had, and have'] as const),
    'list_id, revision',
    'list_id revision name description category is_csv terms count username created_at updated_at',
    { made: { password_sealed: sealedApart } },
  ),
  place(
    ...(['moderation_reasons', 'reasons', 'Reasons for flags'] as const),
    'key',
    'id name description predefined removed created_at updated_at',
    { made: { key: anew } },
  ),
  place(
    ...(['moderation_engines', 'engines', 'Engines of moderation'] as const),
    'engine',
    'engine url model on_error context_messages updated_at',
    { made: { key_sealed: sealedApart } },
  ),
  place(
    ...(['notification_settings', 'notification-settings', 'Settings and templates of notifications'] as const),
    'app_id',
    'settings',
  ),
  place(
    ...(['notification_providers', 'providers', 'Providers of notifications'] as const),
    'key',
    'channel kind id enabled is_default settings created_at updated_at',
    { made: { key: anew, sealed: sealedApart }, makes: { sealed: `'\\x'::bytea` } },
  ),
  place(
    ...(['notification_contacts', 'contacts', 'Addresses of users for notifications'] as const),
    'uid',
    'uid email phone refused_email refused_phone',
  ),
  place(
    ...(['notification_preferences', 'preferences', 'Preferences of users for notifications'] as const),
    'uid',
    'uid preferences timezone',
  ),
  place(
    ...(['notification_mutes', 'mutes', 'What users muted'] as const),
    'uid, kind, peer',
    'uid receiverType=kind peer until',
  ),
  place(
    ...(['notification_unsubscriptions', 'unsubscriptions', 'What users unsubscribed from'] as const),
    'uid, channel, c.kind nulls first, c.first, c.second',
    'uid channel conversation since',
  ),
  place(
    ...(['webhooks', 'webhooks', 'Webhooks'] as const),
    'key',
    `id name url version enabled retry_on_failure use_basic_auth username old_secret_until disabled_reason disabled_at created_at
      updated_at`,
    {
      made: { key: anew, password_sealed: sealedApart, secret_sealed: sealedApart, old_secret_sealed: sealedApart },
      makes: { secret_sealed: `'\\x'::bytea` },
    },
  ),
  place(
    ...(['webhook_triggers', 'webhook-triggers', 'Which events webhooks get'] as const),
    'webhook_id, trigger',
    'webhook_id trigger event',
  ),
  place(
    ...(['audit_log', 'audit', 'The audit log'] as const),
    'created_at, id',
    'action caller key uid address target_type target details created_at',
    {
      made: {
        ...{ id: anew, operator: ofOperators, token: ofOperators },
        ...{ seal: underMasterKey, seq: underMasterKey, link: underMasterKey, redaction: underMasterKey },
      },
    },
  ),
  place('usage_apps', 'usage-apps', 'Figures: users ever numbered', 'app_id', 'numbered'),
  place('usage_users', 'usage-users', 'Figures: numbers of users', 'number', 'uid number'),
  place('active_users', 'active-users', 'Figures: active users', 'day, number', 'day number'),
  place('active_user_bits', 'active-user-bits', 'Figures: active users of past days', 'day, chunk', 'day chunk bits'),
  place(
    ...(['usage_messages', 'usage-messages', 'Figures: messages'] as const),
    'bucket, process',
    'bucket process sent delivered read',
  ),
  place(
    ...(['usage_notifications', 'usage-notifications', 'Figures: notifications'] as const),
    'day, channel, outcome',
    'day channel outcome count',
  ),
  place('usage_peaks', 'usage-peaks', 'Figures: connections at once', 'bucket', 'bucket peak second'),
  place('usage_rule_days', 'usage-rule-days', 'Figures: up to which day rules are counted', 'day', 'day'),
  place(
    ...(['usage_rules', 'usage-rules', 'Figures: hits of rules'] as const),
    'day, rule_id',
    'day rule_id hits shadow blocked flagged',
  ),
  place(
    ...(['usage_sockets', 'usage-sockets', 'Figures: connections by minute'] as const),
    'minute, process',
    'minute process counts',
  ),
]

/** Tables that have a form of their own in an export, with the files that have them. */
export const special: Readonly<Record<string, string>> = {
  apps: 'manifest.json has the settings',
  reactions: 'messages.ndjson, with the message, by person and time',
  api_keys: sealedApart,
  auth_tokens: sealedApart,
  push_tokens: sealedApart,
}

/** Columns of the tables with a form of their own that are in no record. */
export const specialMade: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  reactions: { message_id: 'that of the message', id: anew },
}

const derived = 'made again out of what is exported'
const underway = 'is under way: what was not delivered by the old service is not delivered by the new one'
const ofInstallation = 'is of the installation, not of the app'

/** Tables that an export does not have, with the reason. */
export const leftOut: Readonly<Record<string, string>> = {
  reaction_counts: derived,
  search_entries: derived,
  searched_names: derived,
  kept_message_ids: derived,
  retention_progress: 'how far a look for old messages has come; the next one begins anew',
  search_progress: ofInstallation,
  events: 'the log of what happened, for those who read the old service: clients list anew after a move',
  event_horizon: ofInstallation,
  webhook_states: underway,
  webhook_deliveries: underway,
  notification_deliveries: underway,
  notification_plans: underway,
  notification_planners: underway,
  notification_flights: underway,
  notification_senders: underway,
  notification_correspondences: 'addresses for replies by mail are those of the old service',
  presence: 'who is connected to the old service',
  presence_nodes: ofInstallation,
  ended_jwts: 'digests under the master key; the tokens run out within a day',
  erased_digests: 'digests under the master key, which nobody else can compare: keep them with the old service',
  erasures: 'certificates are of the service that erased; their digests are under its master key',
  person_exports: 'copies that are kept for seven days; they can be asked for again',
  person_export_records: 'copies that are kept for seven days; they can be asked for again',
  moderation_dry_runs: 'dry runs can be made again',
  moderation_dry_run_days: 'dry runs can be made again',
  moderation_dry_run_senders: 'dry runs can be made again',
  moderation_dry_run_examples: 'dry runs can be made again',
  app_imports: 'how far an import has come',
  deleted_api_keys: 'keys that were deleted are not in the export, and open nothing where they were never known',
  data_keys: ofInstallation,
  key_holders: ofInstallation,
  operators: ofInstallation,
  operator_links: ofInstallation,
  operator_sessions: ofInstallation,
  operator_identities: ofInstallation,
  operator_sign_ins: ofInstallation,
  operator_tokens: ofInstallation,
  operator_readings: ofInstallation,
  operator_reads: ofInstallation,
  audit_chains: underMasterKey,
  doctor_runs: ofInstallation,
  doctor_findings: ofInstallation,
  doctor_examples: ofInstallation,
  settings: ofInstallation,
  ledger: 'what a restore of the installation has to do again',
  backup_runs: ofInstallation,
  kysely_migration: ofInstallation,
  kysely_migration_lock: ofInstallation,
}
