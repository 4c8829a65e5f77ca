import { ApiError } from '@parley/contract'
import type { ParticipantOf } from '../../areas/conversations/marks.ts'
import type { Queryable } from '../../store/database.ts'
import { readMembership, requireGroup, unknownGroup } from '../groups/access.ts'
import type { App } from '../identity.ts'
import { conversationId } from '../naming.ts'
import { requireUser } from '../users/require.ts'
import { type FoundConversation, findGroupConversation, findNamedConversations, findUserConversation } from './find.ts'
import { readParticipantState } from './participant-state.ts'

/**
 * A user's state in the conversation with another, who may be deactivated: messages and receipts stay.
 * @throws 404 `ERR_UID_NOT_FOUND`; 403 `ERR_CONVERSATION_NOT_ACCESSIBLE` before the first message
 */
export async function requireUserConversation(
  on: Queryable,
  app: App,
  uid: string,
  peer: string,
): Promise<ParticipantOf> {
  const user = await requireUser(on, app.appId, peer)
  const conversation = await findUserConversation(on, app.appId, uid, user.uid)
  if (!conversation?.exists) throw notAccessible(conversationId('user', uid, user.uid), uid)
  return { appId: app.appId, uid, conversation }
}

/**
 * A member's state of a group's conversation.
 * @throws 404 `ERR_GUID_NOT_FOUND`, also for a private group that the user is not in;
 *   403 `ERR_CONVERSATION_NOT_ACCESSIBLE` for those who are no members and before the first message
 */
export async function requireGroupConversation(
  on: Queryable,
  app: App,
  uid: string,
  guid: string,
): Promise<ParticipantOf> {
  const group = await requireGroup(on, app.appId, guid)
  const membership = await readMembership(on, app.appId, group.guid, uid)
  if (membership === undefined && group.type === 'private') throw unknownGroup(group.guid)
  const conversation = await findGroupConversation(on, app.appId, group.guid)
  if (membership === undefined || !conversation?.exists) {
    throw notAccessible(conversationId('group', group.guid, ''), uid)
  }
  return { appId: app.appId, uid, conversation, isRestricted: group.permissionsVersion > 0 }
}

/**
 * The conversation that a name means to a user who takes part in it; of others they are not told that they exist.
 * @throws 404 `ERR_CONVERSATION_NOT_FOUND`
 */
export async function requireNamed(on: Queryable, app: App, uid: string, name: string): Promise<FoundConversation> {
  for (const conversation of await findNamedConversations(on, app.appId, name)) {
    if ((await readParticipantState(on, app.appId, uid, conversation.key)) !== undefined) return conversation
  }
  throw unknownConversation(name)
}

function unknownConversation(name: string): ApiError {
  return new ApiError('ERR_CONVERSATION_NOT_FOUND', `There is no conversation ${name}.`)
}

export function notAccessible(name: string, uid: string): ApiError {
  return new ApiError(
    'ERR_CONVERSATION_NOT_ACCESSIBLE',
    `The conversation ${name} has no messages yet, or ${uid} is not part of it.`,
  )
}
