import { isBefore, type Position } from '../../chat/sight/condition.ts'
import type { Bus } from '../../events/bus.ts'

/**
 * Messages are ready to be answered in any order; they are published in the order of their positions, conversation by conversation.
 * Nobody waits for it: what is ready early is published by the one before it.
 */
export interface PublishOrder {
  /**
   * Takes a place in the line of a conversation, as soon as a message is written. Where nobody listens there is no line.
   * @returns what must be called once, whatever became of the message: runs `publish` when all before it have been published
   */
  enter(conversation: string, position: Position): (publish: () => void) => void
}

interface Ticket {
  readonly position: Position
  publish?: () => void
}

export function createPublishOrder(bus: Pick<Bus, 'isHeard'>): PublishOrder {
  /** A line ends with the last who stands in it. */
  const lines = new Map<string, Ticket[]>()

  const advance = (conversation: string, line: Ticket[]) => {
    const publish = line[0]?.publish
    if (publish === undefined) return
    line.shift()
    if (line.length === 0) lines.delete(conversation)
    try {
      publish()
    } finally {
      advance(conversation, line)
    }
  }
  return {
    enter(conversation, position) {
      const line = lines.get(conversation) ?? []
      if (line.length === 0) {
        if (!bus.isHeard) return (publish) => publish()
        lines.set(conversation, line)
      }
      const ticket: Ticket = { position }
      // Mostly the last: batches are answered in the order in which they were committed.
      line.splice(line.findLastIndex((before) => isBefore(before.position, position)) + 1, 0, ticket)
      return (publish) => {
        ticket.publish = publish
        advance(conversation, line)
      }
    },
  }
}
