import type { Message } from '../contract.ts'
import type { ShownMessage } from './interface.ts'

/** An edit, a deletion or a reaction of this client that the service has not confirmed. */
export type Change =
  | {
      readonly kind: 'edit'
      readonly data: Readonly<Record<string, unknown>>
      readonly tags?: readonly string[] | undefined
    }
  | { readonly kind: 'delete' }
  | { readonly kind: 'react'; readonly reaction: string; readonly isOn: boolean }

export interface Changes {
  /** @returns takes it back, or out once it is confirmed */
  add(messageId: string, change: Change): () => void
  /** The message with what is on its way; the same object while neither changes. */
  shown(message: Message): ShownMessage
  readonly isEmpty: boolean
}

export function createChanges(onChange: (messageId: string) => void): Changes {
  const changes = new Map<string, Change[]>()
  let shown = new Map<Message, ShownMessage>()
  const touched = (id: string) => {
    shown = new Map()
    onChange(id)
  }
  return {
    get isEmpty() {
      return changes.size === 0
    },
    add(id, change) {
      changes.set(id, [...(changes.get(id) ?? []), change])
      touched(id)
      return () => {
        const left = (changes.get(id) ?? []).filter((each) => each !== change)
        if (left.length > 0) changes.set(id, left)
        else changes.delete(id)
        touched(id)
      }
    },
    shown(message) {
      const own = changes.get(message.id)
      if (own === undefined) return message
      let made = shown.get(message)
      if (made === undefined) {
        made = { ...own.reduce(apply, message), changing: true }
        shown.set(message, made)
      }
      return made
    },
  }
}

export function apply(message: Message, change: Change): Message {
  if (change.kind === 'edit') {
    const { data, tags } = change
    return { ...message, data: { ...message.data, ...data }, ...(tags && { tags: [...tags] }) }
  }
  if (change.kind === 'react') return withReaction(message, change.reaction, change.isOn ? 1 : -1, true)
  return { ...message, data: {}, deletedAt: message.deletedAt ?? message.updatedAt }
}

/** One reaction more or less. Given twice by the same user it counts once, which is known of the own ones only. */
export function withReaction(message: Message, reaction: string, by: 1 | -1, isMine: boolean): Message {
  const reactions = new Map(message.reactions?.map((each) => [each.reaction, each]))
  const known = reactions.get(reaction)
  if (isMine && (known?.reactedByMe === true) === by > 0) return message
  const count = (known?.count ?? 0) + by
  const { reactions: _, ...rest } = message
  const { reactedByMe, ...other } = { reaction, ...known, count }
  const mine = isMine ? by > 0 : reactedByMe
  if (count > 0) reactions.set(reaction, { ...other, ...(mine === true && { reactedByMe: true }) })
  else reactions.delete(reaction)
  return reactions.size > 0 ? { ...rest, reactions: [...reactions.values()] } : rest
}
