import type { EventRow } from './rows.ts'
import type { Blocked, ChatEvent, ConnectionChanged, GroupChanged, MembersChanged } from './types.ts'

/** An event as it was stored (`rows.ts`), with the type of what its trigger tells. */
export type StoredEvent =
  | { readonly trigger: 'message_sent' | 'user_mentioned'; readonly messageId: number }
  | (Parts & {
      readonly trigger: 'message_edited' | 'message_deleted'
      readonly messageId: number
      readonly actionId: number
    })
  | (Parts & {
      readonly trigger: 'message_delivery_receipt' | 'message_read_receipt'
      readonly messageId: number
      readonly uid: string
      readonly at: number
    })
  | (Parts & {
      readonly trigger: 'message_delivered_to_all' | 'message_read_by_all'
      readonly messageId: number
      readonly at: number
    })
  | (Parts & {
      readonly trigger: 'message_reaction_added' | 'message_reaction_removed'
      readonly messageId: number
      readonly reactionId: number
      /** Gone with the message, where that was removed for good. */
      readonly reaction?: string
      readonly uid: string
      readonly reactedAt: number
    })
  | Blocked
  | ConnectionChanged
  | Omit<GroupChanged, 'conversation'>
  | Omit<MembersChanged, 'conversation'>

/** Where it happened: the two uids in byte order, or the guid and ''. */
export interface Parts {
  readonly kind: 1 | 2
  readonly first: string
  readonly second: string
}

/** Reads a row of the log; what stands there was written by `rows.ts` and the statements that write events themselves. */
export function readStored({ trigger, message, data }: EventRow): StoredEvent {
  return { ...data, trigger: trigger satisfies ChatEvent['trigger'], messageId: message } as unknown as StoredEvent
}
