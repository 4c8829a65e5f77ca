import type { Message } from '../contract.ts'
import { statusOf } from '../errors.ts'
import type { Change, Changes } from './changes.ts'
import type { Conversations } from './conversations.ts'
import type { Live } from './interface.ts'
import type { MessageAsker } from './message-asker.ts'
import { type MessageChanges, stripped } from './message-changes.ts'
import { keyFor } from './peers.ts'
import type { Answered, Port } from './port.ts'
import type { Persist } from './retries.ts'
import type { Session } from './session.ts'
import { createTurns } from './turns.ts'

/** What the user does to messages: shown at once, and taken back if the service refuses it. */
export interface Edits extends Pick<Live, 'edit' | 'delete' | 'react'> {
  /** Somebody has reacted to this message. */
  reacted(id: string): void
}

export interface EditsParts {
  readonly port: Port
  readonly session: Session
  readonly persist: Persist
  readonly asker: MessageAsker
  readonly conversations: Conversations
  readonly changes: Changes
  readonly messageChanges: MessageChanges
}

export function createEdits(parts: EditsParts): Edits {
  const { session, asker, messageChanges } = parts
  /** Changes of one message are sent one after the other, so that the last one wins here as well as there. */
  const turns = createTurns()
  /** Messages of those that somebody has reacted to meanwhile: an answer that comes now may be from before that. */
  const overtaken = new Set<string>()

  /** @param done takes in the answer; there is none where an earlier try has removed the message, and its answer was lost */
  const change = (
    id: string,
    shown: Change,
    [method, path, body]: readonly [method: string, path: string, body?: object],
    done: (answer: Message | undefined) => void,
  ): Promise<void> => {
    const takeBack = parts.changes.add(id, shown)
    let tries = 0
    const sending = turns.take(id, async () => {
      try {
        const answer = await parts.persist(async (signal) => {
          try {
            return (await parts.port.call<Answered<Message>>(method, `/messages/${id}${path}`, { body, signal })).data
          } catch (error) {
            if (shown.kind === 'delete' && tries++ > 0 && statusOf(error) === 404) return undefined
            throw error
          }
        })
        done(answer)
      } finally {
        takeBack()
      }
    })
    return sending.finally(() => {
      if (!turns.has(id)) overtaken.delete(id)
    })
  }
  const act = (id: string) => (action: Message | undefined) => {
    if (action === undefined) asker.ask(id)
    else messageChanges.act(keyFor(session.uid, action), action)
  }

  return {
    edit(id, { text, data, tags }) {
      const said = { ...data, ...(text !== undefined && { text }) }
      return change(id, { kind: 'edit', data: said, tags }, ['PUT', '', { data: said, tags }], act(id))
    },
    delete: (id, { permanent = false } = {}) => change(id, { kind: 'delete' }, ['DELETE', '', { permanent }], act(id)),
    react(id, reaction, isOn = true) {
      const path = `/reactions/${encodeURIComponent(reaction)}`
      return change(id, { kind: 'react', reaction, isOn }, [isOn ? 'POST' : 'DELETE', path], (answer) => {
        const { reactions, ...data } = answer as Message
        asker.touch(id)
        asker.answered(id)
        const key = keyFor(session.uid, data)
        messageChanges.apply(key, id, (message) => stripped({ ...message, reactions } as Message))
        if (!overtaken.delete(id)) return
        asker.ask(id)
        parts.conversations.ask(key)
      })
    },
    reacted(id) {
      if (turns.has(id)) overtaken.add(id)
    },
  }
}
