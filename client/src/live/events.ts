import type { Message, User } from '../contract.ts'
import type { Frame } from './connection.ts'
import type { Conversations } from './conversations.ts'
import type { LiveEvent, PeerKey } from './interface.ts'
import type { OpenMembers } from './members.ts'
import type { MessageAsker } from './message-asker.ts'
import { type MessageChanges, subjectOf } from './message-changes.ts'
import { keyFor, peerOf } from './peers.ts'
import type { Presences } from './presence.ts'
import type { Receipts } from './receipts.ts'
import type { Insist } from './retries.ts'
import type { Screens } from './screens.ts'
import type { Sending } from './sending.ts'
import type { Session } from './session.ts'
import { isAboutMessage } from './timeline.ts'
import type { Typing } from './typing.ts'
import type { Unread } from './unread.ts'

/** Takes in what the service says by itself. */
export interface Events {
  /** @param isMissed it happened while there was no connection, or while what was missed was fetched */
  handle(frame: Frame, isMissed: boolean): void
  /** A new message, or one that was sent by this client. */
  receive(key: PeerKey, message: Message, isMissed: boolean): void
}

export interface EventsParts {
  readonly insist: Insist
  readonly session: Session
  readonly screens: Screens
  readonly asker: MessageAsker
  readonly conversations: Conversations
  readonly unread: Unread
  readonly presences: Presences
  readonly typing: Typing
  readonly receipts: Receipts
  readonly sending: Sending
  readonly messageChanges: MessageChanges
  /** Lists of members that are open, by guid. */
  readonly openMembers: ReadonlyMap<string, OpenMembers>
  countChanged(key: PeerKey): void
  emit(event: LiveEvent): void
}

export function createEvents(parts: EventsParts): Events {
  const { session, screens, asker, conversations, typing, receipts, messageChanges, emit } = parts

  const receive: Events['receive'] = (key, message, isMissed) => {
    const { uid } = session
    if (message.sender === uid) parts.sending.outbox.confirm(key, message)
    typing.heard(key, { uid: message.sender } as User, false)
    for (const { parentId, timeline } of screens.of(key)) {
      if (parentId === message.parentId) timeline.put(message)
      else if (message.parentId !== undefined) asker.ask(message.parentId)
    }
    // Edits and deletions do not move their conversation.
    if (!isAboutMessage(message)) {
      conversations.add(key, message)
      parts.unread.add(key, message, uid)
      if (message.sender === uid) conversations.outdate(key)
      parts.countChanged(key)
    }
    if (message.sender !== uid && message.category !== 'action') {
      // Who writes has read what was there, and of what was written in the same moment no receipt comes.
      if (key.startsWith('user:')) receipts.markOwn(key, Number(message.id), true, message.sentAt)
      receipts.deliver(key, message)
    }
    emit({ type: 'message', peer: peerOf(key), message, isMissed })
  }

  /** Somebody has come into a group, is gone, or has another scope. */
  const onMembership = (key: PeerKey, action: Message, isMissed: boolean) => {
    parts.openMembers.get(action.receiver)?.changed()
    const what = String(action.data.action)
    const { uid } = (subjectOf(action) ?? {}) as { uid?: string }
    conversations.ask(key)
    if (uid !== session.uid || what === 'scopeChanged') {
      receive(key, action, isMissed)
    } else if (what === 'kicked' || what === 'banned' || what === 'left') {
      const error = Object.assign(new Error(`The user was ${what}.`), { code: 'ERR_GROUP_NOT_JOINED', status: 403 })
      for (const { timeline } of screens.of(key)) timeline.shut(error)
      emit({ type: 'removed', peer: peerOf(key), action: what, message: action })
    } else {
      // They may be told of it by a message that no list has.
      for (const { timeline } of screens.of(key)) void parts.insist((signal) => timeline.reload(signal))
    }
  }

  const onMessage = (key: PeerKey, message: Message, isMissed: boolean) => {
    if (isAboutMessage(message)) messageChanges.act(key, message)
    else if (message.category === 'action' && message.type === 'groupMember') onMembership(key, message, isMissed)
    else receive(key, message, isMissed)
  }

  return {
    receive,
    handle(frame, isMissed) {
      const { type, body } = frame
      if (type === 'presence') {
        const { user, action, timestamp } = body
        const status = action === 'online' ? 'available' : 'offline'
        parts.presences.learn({ lastActiveAt: timestamp, ...user, status })
        return
      }
      if (type === 'error') {
        emit({ type: 'refused', ...body })
        return
      }
      const key = keyFor(session.uid, frame)
      switch (type) {
        case 'message':
          onMessage(key, body, isMissed)
          return
        case 'typing_indicator':
          if (body.user.uid !== session.uid) typing.heard(key, body.user, body.action === 'started')
          return
        case 'receipts':
          receipts.heard(key, frame)
          return
        case 'reaction':
          messageChanges.react(key, body, isMissed)
          return
        case 'message_pin':
          messageChanges.mark(key, body, ['pinnedAt', 'pinnedBy'])
          return
        case 'message_save':
          messageChanges.mark(key, body, ['savedAt'])
          return
        case 'conversation_pin':
          conversations.ask(key)
          return
        case 'interaction_completed':
          asker.ask(body.messageId)
          return
        case 'on_moderation_status_changed':
          messageChanges.apply(key, body.id, () => body)
          asker.touch(body.id)
          return
        case 'transient_message':
          emit({ type: 'transient', peer: peerOf(key), user: body.user, data: body.data })
      }
    },
  }
}
