import type { Message } from '../contract.ts'
import { statusOf } from '../errors.ts'
import type { Signal } from '../platform.ts'
import { type Asker, createAsker } from './asker.ts'
import { freshMs } from './conversations.ts'
import { later } from './here.ts'
import type { PeerKey } from './interface.ts'
import { pathOf } from './peers.ts'
import { type Answered, isOutOfSight, type Listed, type Port } from './port.ts'
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
        return { message: await readMessage(port, holding[0]?.key as PeerKey, id, signal) }
      } catch (error) {
        if (!isOutOfSight(error)) throw error
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
export async function readMessage(port: Port, key: PeerKey, id: string, signal: Signal | undefined): Promise<Message> {
  try {
    const { data } = await port.call<Answered<Message & { receipts?: unknown }>>('GET', `/messages/${id}`, { signal })
    const { receipts: _, ...row } = data
    return row
  } catch (error) {
    if (statusOf(error) !== 403) throw error
    // A role may list messages, and not read a single one: it is what comes after the one before it.
    const list = async (query: object) =>
      (await port.call<Listed<Message>>('GET', `${pathOf(key)}/messages`, { query: { limit: 1, ...query }, signal }))
        .data
    const [before] = await list({ affix: 'prepend', id })
    const [row] = await list({ sentAt: before?.sentAt, id: before?.id })
    if (row?.id !== id) throw error
    return row
  }
}
