import type { Message, NotificationSettings } from '@parley/contract'
import { cut } from '../../chat/messages/cut.ts'
import { neverPresence } from '../../chat/users/rows.ts'

type PushSettings = NotificationSettings['preferences']['push']

/** Characters of a text that is to be shortened. */
const trimmedLength = 200

/**
 * The message itself, where the app wants it to be sent along, with as much of it as it wants. Whether somebody is there is
 * not sent along: they may have blocked whoever is notified.
 */
export function forPush(message: Message, settings: PushSettings): { message?: Partial<Message> } {
  if (!settings.includeMessageObjectSetting) return {}
  const { metadata, entities, mentions, text, ...data } = message.data
  const { sender, receiver } = (entities ?? {}) as Readonly<Record<string, Entity | undefined>>
  const shown = {
    ...(sender && { sender: entityWith(sender, settings.includeSenderMetadataSetting) }),
    ...(receiver && { receiver: entityWith(receiver, settings.includeReceiverMetadataSetting) }),
  }
  return {
    message: {
      ...message,
      data: {
        ...data,
        ...(text !== undefined && { text: settings.trimTextFieldSetting ? trim(text) : text }),
        entities: shown,
        ...(mentions !== undefined && { mentions: withoutPresences(mentions as Mentions) }),
        ...(metadata !== undefined && settings.includeMessageMetadataSetting && { metadata }),
      },
    },
  }
}

type Mentions = Readonly<Record<string, Fields>>
type Fields = Readonly<Record<string, unknown>>

interface Entity {
  readonly entity: Fields
}

function entityWith(sent: Entity, withMetadata: boolean): Entity {
  const { metadata, ...entity }: Fields = neverPresence(sent.entity)
  return { ...sent, entity: { ...entity, ...(withMetadata && metadata !== undefined && { metadata }) } }
}

function withoutPresences(users: Mentions): Mentions {
  return Object.fromEntries(Object.entries(users).map(([uid, user]) => [uid, neverPresence(user)]))
}

function trim(text: unknown): unknown {
  return typeof text === 'string' ? cut(text, trimmedLength) : text
}
