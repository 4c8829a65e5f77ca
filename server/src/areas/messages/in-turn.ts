import type { Message } from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import { type Editor, type RecordedChange, showAction } from '../../chat/messages/change.ts'
import type { Position } from '../../chat/sight/condition.ts'
import type { Context } from '../../context.ts'
import type { BusEvent } from '../../events/types.ts'
import type { Transaction } from '../../store/database.ts'

/** Publishes changes in their turn among what is sent in the conversation. */
export interface Turn {
  /**
   * Takes the place of a position that the transaction gives to a message, under the conversation's lock: nothing that comes
   * after it is published before. The events are published once it is committed.
   */
  publish(tx: Transaction, conversation: number, position: Position, events: readonly BusEvent[]): void
}

/** Runs what may take places in the line of a conversation, once or, where its transaction is tried again, more often. */
export async function inTurn<Result>(
  { messages, events: bus }: Pick<Context, 'messages' | 'events'>,
  appId: number,
  work: (turn: Turn) => Promise<Result>,
): Promise<Result> {
  let attempt: Transaction | undefined
  let places: Array<(publish: () => void) => void> = []
  const leaveAll = () => {
    for (const leave of places.splice(0)) leave(() => {})
  }
  const turn: Turn = {
    publish(tx, conversation, position, events) {
      if (tx !== attempt) leaveAll()
      attempt = tx
      const leave = messages.order.enter(`${appId} ${conversation}`, position)
      places.push(leave)
      tx.afterCommit(() => {
        places = places.filter((place) => place !== leave)
        leave(() => {
          for (const event of events) bus.publish(appId, event)
        })
      })
      // Those behind it are published meanwhile.
      tx.afterFailure(leaveAll)
    },
  }
  try {
    return await work(turn)
  } finally {
    leaveAll()
  }
}

/**
 * Publishes an edit or a deletion in its turn, as it stands in the transaction that makes it: what happens to the message
 * afterwards is published afterwards.
 * @returns its action message, as answers show it
 */
export async function publishInTurn(
  tx: Transaction,
  app: App,
  { event, draft }: RecordedChange,
  editor: Editor,
  turn: Turn,
): Promise<Message> {
  const answer = await showAction(tx, app, draft?.action ?? event.actionId, editor)
  const { place, device } = event
  const published =
    draft === undefined ? { ...event, message: answer } : { notice: answer, place, to: draft.sender, device }
  turn.publish(tx, place.conversation, { sentAt: answer.sentAt, id: event.actionId }, [published])
  return answer
}
