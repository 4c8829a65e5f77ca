import type { Message } from '@parley/contract'
import { neverPresence } from '../../chat/users/rows.ts'

/**
 * A message as one frame shows it to everybody. Whether those are there whom it mentions or quotes is not shown to anybody:
 * they may have blocked some of those who get the frame. Who does something is seen to be there.
 */
export function messageForAll(message: Message): Message {
  const { quotedMessage, data } = message as Message & { readonly quotedMessage?: Message }
  const { entities, mentions } = data as Data
  const subject = entities?.on?.entityType === 'message' ? (entities.on.entity as Partial<Message>) : undefined
  // Of one that was removed for good there is its id only.
  const changed = subject?.data === undefined ? undefined : (subject as Message)
  if (quotedMessage === undefined && mentions === undefined && changed === undefined) return message
  const show = changed?.sender === message.sender ? messageForAll : othersMessage
  return {
    ...message,
    data: {
      ...data,
      ...(mentions !== undefined && { mentions: usersForAll(mentions) }),
      ...(changed !== undefined && { entities: { ...entities, on: { ...entities?.on, entity: show(changed) } } }),
    },
    ...(quotedMessage !== undefined && { quotedMessage: othersMessage(quotedMessage) }),
  } as Message
}

/** The same of a message that somebody else may have written than who does something with it. */
export function othersMessage(message: Message): Message {
  const shown = messageForAll(message)
  const { entities } = shown.data as Data
  if (entities === undefined) return shown
  return { ...shown, data: { ...shown.data, entities: entitiesForAll(entities) } } as Message
}

interface Data {
  readonly entities?: Entities
  readonly mentions?: Readonly<Record<string, object>>
}
type Entities = Readonly<Record<string, { readonly entity: object; readonly entityType: string }>>

function usersForAll(users: Readonly<Record<string, object>>): object {
  return Object.fromEntries(Object.entries(users).map(([uid, user]) => [uid, neverPresence(user)]))
}

function entitiesForAll(entities: Entities): Entities {
  return Object.fromEntries(
    Object.entries(entities).map(([role, one]) => [
      role,
      one.entityType === 'user' ? { ...one, entity: neverPresence(one.entity) } : one,
    ]),
  )
}
