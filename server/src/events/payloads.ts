import type { Group, Message, User } from '@parley/contract'
import { systemUid } from '../chat/apps.ts'
import type { Parts, StoredEvent } from '../chat/events/stored.ts'
import { conversationId } from '../chat/naming.ts'
import { judgedMessage, moderation } from './moderation.ts'
import type { GoneMessage, ResolvedReferences } from './references.ts'
import type { ShownEvent } from './show.ts'
import type { GroupChanged, MembersChanged } from './types.ts'

type Of<Trigger extends StoredEvent['trigger']> = Extract<StoredEvent, { trigger: Trigger }>

/** An event in the current envelope, field by field as in the public contract. */
export function showCurrent(event: StoredEvent, resolved: ResolvedReferences): ShownEvent {
  return { trigger: event.trigger, data: dataOf(event, resolved) }
}

function dataOf(event: StoredEvent, resolved: ResolvedReferences): object {
  switch (event.trigger) {
    case 'message_sent':
    case 'user_mentioned':
      return { message: resolved.message(event.messageId) ?? resolved.gone(event.messageId) }
    case 'message_edited':
    case 'message_deleted':
      return { message: changed(event, resolved) }
    case 'message_delivery_receipt':
    case 'message_read_receipt':
      return receipt(event, resolved)
    case 'message_delivered_to_all':
    case 'message_read_by_all':
      return receiptOfAll(event, resolved)
    case 'message_reaction_added':
    case 'message_reaction_removed':
      return { reaction: reaction(event, resolved) }
    case 'user_blocked':
    case 'user_unblocked':
      return {
        users: Object.fromEntries(
          event.uids.map((uid) => [
            uid,
            { ...resolved.user(uid), conversationId: conversationId('user', event.by, uid) },
          ]),
        ),
        by: resolved.user(event.by),
      }
    case 'user_connection_status_changed':
      return connection(event, resolved)
    case 'group_created':
      return created(event, resolved)
    case 'group_updated':
      return { group: resolved.group(event.guid) }
    case 'group_deleted':
      return { group: event.group }
    case 'group_owner_transferred':
      return { group: { ...resolved.group(event.guid), owner: event.owner, oldOwner: event.oldOwner } }
    case 'moderation_engine_approved':
    case 'moderation_engine_blocked':
      return { message: judgedMessage(event, resolved) }
    case 'moderation_manual_approved':
    case 'moderation_engine_failed':
      return moderation(event, resolved)
    case 'group_member_joined':
    case 'group_member_left':
    case 'group_member_added':
    case 'group_member_kicked':
    case 'group_member_banned':
    case 'group_member_unbanned':
    case 'group_member_scope_changed':
      return membersChanged(event, resolved)
  }
}

/** The action message about an edit or deletion, with the message that it is about as it is now. */
function changed(event: Of<'message_edited' | 'message_deleted'>, resolved: ResolvedReferences): object {
  const { actionId, messageId, kind, first, second } = event
  const conversation = conversationId(kind, first, second)
  const action = resolved.message(actionId)
  if (action === undefined) {
    const on = { entity: left(event, resolved), entityType: 'message' }
    const verb = event.trigger === 'message_edited' ? 'edited' : 'deleted'
    return {
      id: String(actionId),
      conversationId: conversation,
      category: 'action',
      type: 'message',
      data: { action: verb, entities: { on } },
    }
  }
  const { by, for: receiver, on } = action.data.entities as Record<'by' | 'for' | 'on', { entity: User | Message }>
  // A reply that went with its thread is covered by the action of the thread.
  const isThere = resolved.senderOf(messageId) !== undefined && (on.entity as Message).id === String(messageId)
  return {
    ...action,
    data: {
      ...action.data,
      entities: {
        by,
        for: kind === 'user' ? { ...receiver, entity: { ...receiver.entity, conversationId: conversation } } : receiver,
        on: isThere ? on : { entity: left(event, resolved, action), entityType: 'message' },
      },
    },
  }
}

/** What is left of the message that a deletion for good is about. */
function left(
  { trigger, messageId, kind, first, second }: Of<'message_edited' | 'message_deleted'>,
  resolved: ResolvedReferences,
  action?: Message,
): GoneMessage {
  const isDeletion = trigger === 'message_deleted' && action !== undefined
  return {
    ...resolved.gone(messageId),
    conversationId: conversationId(kind, first, second),
    ...(isDeletion && { deletedAt: action.sentAt }),
  }
}

function receipt(event: Of<'message_delivery_receipt' | 'message_read_receipt'>, resolved: ResolvedReferences): object {
  const { trigger, messageId, uid, at } = event
  const messageSender = senderOf(event, resolved)
  const receiver = event.kind === 'group' ? event.first : otherOf(event, uid)
  return {
    receiver,
    receiverType: event.kind,
    type: 'receipts',
    sender: uid,
    ...(messageSender !== undefined && { messageSender }),
    body: {
      action: trigger === 'message_read_receipt' ? 'read' : 'delivered',
      messageId: String(messageId),
      user: recipient(uid, messageSender, resolved),
      timestamp: at,
    },
  }
}

/** From the system user, for everybody in the group. */
function receiptOfAll(
  event: Of<'message_delivered_to_all' | 'message_read_by_all'>,
  resolved: ResolvedReferences,
): object {
  const messageSender = resolved.senderOf(event.messageId)
  return {
    receiver: event.first,
    receiverType: 'group',
    type: 'receipts',
    sender: systemUid,
    ...(messageSender !== undefined && { messageSender }),
    body: {
      action: event.trigger === 'message_read_by_all' ? 'readByAll' : 'deliveredToAll',
      messageId: String(event.messageId),
      user: recipient(systemUid, undefined, resolved),
      timestamp: event.at,
    },
  }
}

/** The user of a receipt, as the sender of the message sees them: whoever receives is online. */
function recipient(uid: string, viewer: string | undefined, resolved: ResolvedReferences): object {
  const user = resolved.user(uid)
  return {
    ...user,
    hasBlockedMe: viewer !== undefined && resolved.hasBlocked(uid, viewer),
    blockedByMe: viewer !== undefined && resolved.hasBlocked(viewer, uid),
    deactivatedAt: user.deactivatedAt ?? 0,
    status: 'online',
  }
}

/** Who sent the message of a receipt: one to one it is the other user, also when the message is gone. */
export function senderOf(
  event: Parts & { readonly messageId: number; readonly uid: string },
  resolved: ResolvedReferences,
): string | undefined {
  return resolved.senderOf(event.messageId) ?? (event.kind === 'user' ? otherOf(event, event.uid) : undefined)
}

export function otherOf({ first, second }: Parts, uid: string): string {
  return first === uid ? second : first
}

function reaction(
  event: Of<'message_reaction_added' | 'message_reaction_removed'>,
  resolved: ResolvedReferences,
): object {
  return {
    id: String(event.reactionId),
    messageId: String(event.messageId),
    ...(event.reaction !== undefined && { reaction: event.reaction }),
    uid: event.uid,
    reactedAt: event.reactedAt,
    reactedBy: resolved.user(event.uid),
  }
}

function connection(event: Of<'user_connection_status_changed'>, resolved: ResolvedReferences): object {
  const { action, appInfo, platform, userAgent, connectedAt } = event.connection
  return {
    timestamp: event.timestamp,
    user: resolved.user(event.uid),
    status: event.status,
    currentConnection: {
      action,
      ...(appInfo !== undefined && { appInfo }),
      ...(platform !== undefined && { platform }),
      ...(userAgent !== undefined && { userAgent }),
      connectedAt,
    },
    userPresenceChanged: true,
  }
}

/** A new group as its owner sees it, who is a member from the start. */
function created(event: Omit<GroupChanged, 'conversation'>, resolved: ResolvedReferences): object {
  const group: Partial<Group> = resolved.group(event.guid)
  const isMember = event.owner !== undefined && event.uids?.includes(event.owner) === true
  return {
    group: {
      ...group,
      ...(isMember && { scope: 'admin', joinedAt: group.createdAt, hasJoined: true }),
    },
    members: Object.fromEntries((event.uids ?? []).map((uid) => [uid, resolved.user(uid)])),
  }
}

function membersChanged(event: Omit<MembersChanged, 'conversation'>, resolved: ResolvedReferences): object {
  const { guid, by, members } = event
  const shown = members.map(({ uid, scope, oldScope }): [string, object] => [
    uid,
    {
      ...resolved.user(uid),
      ...(by !== undefined && { conversationId: conversationId('user', by, uid) }),
      ...(scope !== undefined && { scope, oldScope }),
    },
  ])
  return {
    group: resolved.group(guid),
    members: Object.fromEntries(shown),
    ...(by !== undefined && { by: resolved.user(by) }),
  }
}
