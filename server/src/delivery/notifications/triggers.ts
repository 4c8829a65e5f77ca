import type { MemberCategory, NotificationTrigger } from '@parley/contract'
import type { EventTrigger } from '../../events/types.ts'

/** Events of members that users can be notified of: what preferences call them, and what the logs do. */
const ofMembers: Readonly<Partial<Record<EventTrigger, readonly [MemberCategory, NotificationTrigger]>>> = {
  group_member_joined: ['memberJoined', 'after_group_joined'],
  group_member_left: ['memberLeft', 'after_group_left'],
  group_member_added: ['memberAdded', 'after_group_members_added'],
  group_member_kicked: ['memberKicked', 'after_group_members_kicked'],
  group_member_banned: ['memberBanned', 'after_group_members_banned'],
  group_member_unbanned: ['memberUnbanned', 'after_group_members_unbanned'],
  group_member_scope_changed: ['memberScopeChanged', 'after_scope_changed'],
}

/** The events of the log that somebody may be notified of. */
export const plannedTriggers: readonly EventTrigger[] = [
  'message_sent',
  'message_edited',
  'message_deleted',
  'message_reaction_added',
  ...(Object.keys(ofMembers) as EventTrigger[]),
]

/** Events of members who did it themselves. */
export const ofThemselves: readonly EventTrigger[] = ['group_member_joined', 'group_member_left']

/** What is taken back elsewhere, in apps that want it. */
export const takeBackTrigger = 'message_read_receipt' satisfies EventTrigger

export function memberCategoryOf(trigger: EventTrigger): MemberCategory | undefined {
  return ofMembers[trigger]?.[0]
}

/** What the logs of notifications call an event. */
export function logTriggerOf(trigger: EventTrigger): NotificationTrigger {
  if (trigger === 'message_edited' || trigger === 'message_deleted' || trigger === 'message_reaction_added') {
    return trigger
  }
  return ofMembers[trigger]?.[1] ?? 'after_message'
}
