import type { ImportOther } from '@parley/contract'
import { storedKind } from '../../chat/kind.ts'
import { orderPair } from '../../chat/naming.ts'

/** What records name, as it stands under the locks of the transaction. */
export interface Known {
  readonly appId: number
  readonly now: number
  readonly users: ReadonlyMap<string, unknown>
  /** @returns a message of the app that a place names; undefined for none, one that was removed for good, or one that is held */
  message(place: { readonly messageId?: number | string; readonly muid?: string }): NamedMessage | undefined
  /** The key of a conversation, by `conversationName`. */
  readonly conversations: ReadonlyMap<string, number>
}

export interface NamedMessage {
  readonly id: number
  readonly muid: string | null
  readonly imported: boolean
  readonly conversation: number
  readonly sentAt: number
  readonly parentId: number | null
  /** An action, or deleted: there is nothing to keep. */
  readonly isNothing: boolean
}

type ConversationRecord = Extract<ImportOther, { kind: 'conversation' }>

/** Kind and parts of the conversation that a record is of, as one text. */
export function conversationName(record: ConversationRecord): string {
  return partsOf(record).join(' ')
}

/** Stored kind and parts of the conversation that a record is of. */
export function partsOf({ uid, receiver, receiverType }: ConversationRecord): [number, string, string] {
  const kind = storedKind(receiverType)
  if (receiverType === 'group') return [kind, receiver.toLowerCase(), '']
  return [kind, ...orderPair(uid.toLowerCase(), receiver.toLowerCase())]
}
