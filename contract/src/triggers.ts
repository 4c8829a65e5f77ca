/** What a webhook can subscribe to, as `GET /triggers` lists it. */
export interface Trigger {
  readonly id: string
  readonly category: TriggerCategory
  readonly description: string
}

export type TriggerCategory =
  | 'message'
  | 'user'
  | 'group'
  | 'call'
  | 'meeting'
  | 'moderation'
  | 'campaign'
  /** Part of the legacy envelope, `X-Webhook-Version: 1`. */
  | 'legacy'

/** Descriptions by category and id. */
const descriptions = {
  message: {
    message_sent: 'a message was sent',
    message_edited: 'a message was edited',
    message_deleted: 'a message was deleted',
    message_delivery_receipt: 'a message was delivered',
    message_read_receipt: 'a message was read',
    message_delivered_to_all: 'a message was delivered to every member of its group',
    message_read_by_all: 'a message was read by every member of its group',
    message_reaction_added: 'somebody reacted to a message',
    message_reaction_removed: 'a reaction was removed',
    user_mentioned: 'a user was mentioned in a message',
  },
  user: {
    user_blocked: 'a user blocked another',
    user_unblocked: 'a user unblocked another',
    user_connection_status_changed: 'a user came online or went offline',
  },
  group: {
    group_created: 'a group was created',
    group_updated: 'a group was changed',
    group_deleted: 'a group was deleted',
    group_owner_transferred: 'the ownership of a group was transferred',
    group_member_joined: 'a user joined a group',
    group_member_left: 'a member left a group',
    group_member_added: 'users were added to a group',
    group_member_kicked: 'members were removed from a group',
    group_member_banned: 'users were banned from a group',
    group_member_unbanned: 'users were unbanned from a group',
    group_member_scope_changed: 'the scope of members was changed',
  },
  call: {
    call_initiated: 'a call is ringing',
    call_started: 'a call started',
    call_participant_joined: 'a user joined a call',
    call_participant_left: 'a user left a call',
    call_ended: 'a call ended',
    call_busy: 'a called user was busy',
    call_cancelled: 'a call was cancelled by the caller',
    call_rejected: 'a call was declined',
    call_unanswered: 'a call was not answered',
  },
  meeting: {
    meeting_started: 'a session started',
    meeting_participant_joined: 'a user joined a session',
    meeting_participant_left: 'a user left a session',
    meeting_ended: 'a session ended',
    recording_generated: 'a recording is ready',
    transcription_generated: 'a transcript is ready',
  },
  moderation: {
    moderation_engine_approved: 'no rule objected to a message',
    moderation_engine_blocked: 'a rule blocked a message',
    moderation_engine_failed: 'an engine could not decide on a message',
    moderation_manual_approved: 'a moderator approved a blocked message',
  },
  campaign: {
    after_campaign_completed: 'a campaign was completed',
    after_campaign_failed: 'a campaign failed',
    after_notification_created: 'a notification of a campaign was created',
    after_feed_item_sent: 'a feed item was sent',
    after_feed_item_delivered: 'a feed item was delivered',
    after_feed_item_read: 'a feed item was read',
    after_feed_item_interacted: 'a user reacted to a feed item',
    after_push_notification_sent: 'a push notification was sent',
    after_push_notification_delivered: 'a push notification was delivered',
    after_push_notification_clicked: 'a push notification was clicked',
  },
  legacy: {
    before_message: 'a message is about to be sent and can still be rejected',
    after_message: 'a message was sent',
    user_connection_status_change: 'a user came online or went offline',
  },
} as const satisfies Record<TriggerCategory, Record<string, string>>

type ByCategory = typeof descriptions
export type TriggerId = { [Category in TriggerCategory]: keyof ByCategory[Category] & string }[TriggerCategory]

/** Categories whose triggers are accepted, and never fire here. */
export const silentCategories: readonly TriggerCategory[] = ['call', 'meeting', 'campaign']

/** Every trigger, each id once. */
export const triggers: readonly Trigger[] = Object.entries(descriptions).flatMap(([category, byId]) =>
  Object.entries(byId).map(([id, description]) => ({ id, category: category as TriggerCategory, description })),
)

/** The triggers of the legacy envelope: three of its own, the two receipts, and beyond the contract those of moderation. */
export const legacyTriggerIds: readonly TriggerId[] = [
  'before_message',
  'after_message',
  'message_delivery_receipt',
  'message_read_receipt',
  'user_connection_status_change',
  'moderation_engine_approved',
  'moderation_engine_blocked',
  'moderation_engine_failed',
  'moderation_manual_approved',
]
