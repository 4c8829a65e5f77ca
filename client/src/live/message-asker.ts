import type { Message } from '../contract.ts'
import { statusOf } from '../errors.ts'
import type { Signal } from '../platform.ts'
import { type Asker, createAsker } from './asker.ts'
import { freshMs } from './conversations.ts'
import { later } from './here.ts'
import type { Answered, Port } from './port.ts'
import type { Insist } from './retries.ts'
import type { Screens } from './screens.ts'

/** Asks about messages of which only the service knows how they are now. */
export interface MessageAsker extends Asker {
  /** Whether it was answered a moment ago: what a frame says now may be in the answer already. */
  isFresh(id: string): boolean
  /** The service has answered how it is now. */
  answered(id: string): void
}

export interface MessageAskerParts {
  readonly port: Port
  readonly insist: Insist
  readonly screens: Screens
}

export function createMessageAsker({ port, insist, screens }: MessageAskerParts): MessageAsker {
  const fresh = new Set<string>()
  const answered = (id: string) => {
    fresh.add(id)
    later(() => fresh.delete(id), freshMs)
  }
  const asker = createAsker(async (id, isCurrent) => {
    const holding = screens.all().filter(({ timeline }) => timeline.isLoading || timeline.find(id) !== undefined)
    if (holding.length === 0) return
    const found = await insist(async (signal) => {
      try {
        return { message: await readMessage(port, id, signal) }
      } catch (error) {
        if (statusOf(error) !== 404) throw error
        return { error }
      }
    })
    if (found === undefined || !isCurrent()) return
    const { message, error } = found
    answered(id)
    if (message === undefined) {
      for (const { parentId, timeline } of screens.all()) if (parentId === id) timeline.shut(error)
    }
    for (const { timeline } of holding) {
      if (message === undefined) timeline.remove(id)
      else timeline.change(id, () => message)
    }
  })
  return { ...asker, answered, isFresh: (id) => fresh.has(id) }
}

/** A message as it is now, as lists show it. */
export async function readMessage(port: Port, id: string, signal: Signal | undefined): Promise<Message> {
  const { data } = await port.call<Answered<Message & { receipts?: unknown }>>('GET', `/messages/${id}`, { signal })
  const { receipts: _, ...row } = data
  return row
}
