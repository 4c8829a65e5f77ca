import type { Message } from '@parley/contract'
import { toldOfAllBy } from '../../chat/conversations/group-receipts.ts'
import type { Context } from '../../context.ts'
import type { Events } from '../../events/index.ts'
import { type MessageRow, partsOf, type ToldOfSend, tellings, type WrittenRow } from './write/row.ts'

/**
 * Tells of a message once it is ready to be answered, in the order of what is written to its conversation. One that could
 * not be made ready is stored all the same: whoever listens reads it.
 */
export async function tellSent(
  { events, messages }: Context,
  row: MessageRow,
  written: WrittenRow,
  makeReady: () => Promise<Message>,
): Promise<Message> {
  const tell = messages.order.enter(`${row.appId} ${written.conversation}`, written.id as number)
  let message: Message | undefined
  try {
    message = await makeReady()
    return message
  } finally {
    tell(() => publish(events, row, written, message))
  }
}

const known = new WeakMap<ReadonlySet<string>, Partial<Record<'heard' | 'unheard', ToldOfSend>>>()

/** Which events of what is sent in an app somebody waits for. Every send asks, and the answer is nearly always the same. */
export async function toldOfSend(events: Events, appId: number): Promise<ToldOfSend> {
  const kept = await events.listens(appId)
  const { isHeard } = events.bus
  const told = known.get(kept) ?? {}
  known.set(kept, told)
  const which = isHeard ? 'heard' : 'unheard'
  told[which] ??= readTold(kept, isHeard)
  return told[which]
}

function readTold(kept: ReadonlySet<string>, isHeard: boolean): ToldOfSend {
  const keepsDelivered = kept.has('message_delivery_receipt')
  const keepsRead = kept.has('message_read_receipt')
  const bits =
    (kept.has('message_sent') ? tellings.sent : 0) |
    (kept.has('user_mentioned') ? tellings.mentioned : 0) |
    (keepsDelivered ? tellings.delivered : 0) |
    (keepsRead ? tellings.read : 0) |
    (isHeard || keepsDelivered || keepsRead ? tellings.receipts : 0)
  return { bits, ofAll: toldOfAllBy(kept, isHeard) }
}

/** The log has it from the batch; who listens in this process is told with the message as it is answered. */
function publish(events: Events, row: MessageRow, written: WrittenRow, message: Message | undefined): void {
  const [first, second] = partsOf(row)
  const place = { conversation: written.conversation as number, kind: row.kind, first, second }
  const messageId = written.id as number
  const { device } = row
  const groupRevision = row.kind === 2 ? { groupRevision: written.receiverRevision } : {}
  const shown = message && { message }
  events.publish(row.appId, { trigger: 'message_sent', place, messageId, device, ...shown, ...groupRevision })
  if (row.mentioned !== null) events.publish(row.appId, { trigger: 'user_mentioned', place, messageId })
}
