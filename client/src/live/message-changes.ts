import type { Message } from '../contract.ts'
import { withReaction } from './changes.ts'
import type { Frame } from './connection.ts'
import type { Conversations } from './conversations.ts'
import type { PeerKey } from './interface.ts'
import type { MessageAsker } from './message-asker.ts'
import type { Screens } from './screens.ts'
import type { Session } from './session.ts'

/** What happens to messages that are here already. */
export interface MessageChanges {
  /** Changes a message on screen, and where it is the last of its conversation. */
  apply(key: PeerKey, id: string, change: (message: Message) => Message): void
  /** An edit or a deletion. */
  act(key: PeerKey, action: Message): void
  /** @param isMissed it may be in what was read since */
  react(key: PeerKey, body: Frame, isMissed: boolean): void
  /** A pin or a save, which these members of a message say. */
  mark(key: PeerKey, body: Frame, members: readonly string[]): void
}

export interface MessageChangesParts {
  readonly session: Session
  readonly screens: Screens
  readonly asker: MessageAsker
  readonly conversations: Conversations
  /** Something was said of a message, which may not have come yet. */
  onHeard(key: PeerKey, id: string): void
  onReaction(id: string): void
}

export function createMessageChanges(parts: MessageChangesParts): MessageChanges {
  const { session, screens, asker, conversations, onHeard } = parts

  const apply: MessageChanges['apply'] = (key, id, change) => {
    for (const { timeline } of screens.of(key)) timeline.change(id, change)
    conversations.change(key, id, change)
  }

  return {
    apply,
    act(key, action) {
      const on = subjectOf(action) as Message | undefined
      if (on?.id === undefined) return
      const { id } = on
      apply(key, id, (message) => {
        // Of what is gone for good there is the id alone.
        if (on.updatedAt === undefined || on.updatedAt < message.updatedAt) return message
        // What a frame says is for everybody, so what is this user's own is kept.
        const { data, tags, editedAt, editedBy, deletedAt, deletedBy, updatedAt } = on
        return stripped({ ...message, data, tags, editedAt, editedBy, deletedAt, deletedBy, updatedAt } as Message)
      })
      asker.touch()
      onHeard(key, id)
      if (action.data.action === 'deleted') {
        asker.ask(id)
        conversations.ask(key)
        if (on.parentId !== undefined) asker.ask(on.parentId)
      }
      for (const { timeline } of screens.of(key)) {
        for (const { id: quoting, quotedMessageId } of timeline.messages) if (quotedMessageId === id) asker.ask(quoting)
      }
    },
    react(key, { action, messageId, reaction, uid }, isMissed) {
      asker.touch(messageId)
      onHeard(key, messageId)
      parts.onReaction(messageId)
      const change = (message: Message) =>
        withReaction(message, reaction, action === 'message_reaction_added' ? 1 : -1, uid === session.uid)
      const isUnsure = isMissed || asker.isFresh(messageId)
      for (const { timeline } of screens.of(key)) {
        if (isUnsure || timeline.isFresh) asker.ask(messageId)
        else timeline.change(messageId, change)
      }
      conversations.react(key, messageId, isUnsure, change)
    },
    mark(key, { action, message }, members) {
      const isOn = !action.startsWith('un')
      apply(key, message.id, (known) => {
        const marked: Record<string, unknown> = { ...known }
        for (const member of members) marked[member] = isOn ? message[member] : undefined
        return stripped(marked as unknown as Message)
      })
      asker.touch(message.id)
      onHeard(key, message.id)
    },
  }
}

/** What an action was done to, as it is after that. */
export function subjectOf({ data }: Message): unknown {
  return (data.entities as { on?: { entity?: unknown } } | undefined)?.on?.entity
}

/** Members without a value are left out, as in answers. */
export function stripped(message: Message): Message {
  return Object.fromEntries(Object.entries(message).filter(([, value]) => value !== undefined)) as unknown as Message
}
