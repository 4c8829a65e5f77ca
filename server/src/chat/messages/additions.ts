import type { Message } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { mentionsOfMessages } from './mentions.ts'
import { moderationOfMessages } from './moderation.ts'
import { pinsOfMessages } from './pins.ts'
import { reactionsOfMessages } from './reactions.ts'
import type { MessageRow } from './rows.ts'
import { savesOfMessages } from './saves.ts'
import type { ShowOptions } from './show.ts'
import { threadsOfMessages } from './threads.ts'

/** Fields that a feature adds to a message: beside the others, and inside `data`. */
export interface Addition {
  readonly fields?: Partial<Message>
  readonly data?: Readonly<Record<string, unknown>>
}

/** A feature whose tables add to messages as they are shown. */
export interface AddingFeature {
  /** Bits of `traits`: only messages that have one of them are asked for. */
  readonly bits: number
  /** What it adds to each of some messages, by id. */
  readonly read: (
    on: Queryable,
    appId: number,
    rows: readonly MessageRow[],
    options: ShowOptions,
  ) => Promise<ReadonlyMap<number, Addition>>
}

/**
 * Every feature that adds to messages that are read; a new one is added here. What is shown otherwise has its own list: the answer
 * to a send and its frame (areas/messages/answer.ts), and messages inside others (`readAdditionsInside` in show.ts).
 */
const features: readonly AddingFeature[] = [
  mentionsOfMessages,
  pinsOfMessages,
  savesOfMessages,
  reactionsOfMessages,
  threadsOfMessages,
  moderationOfMessages,
]

/** Asks each feature for the messages that have it; pages of plain messages ask nothing. */
export async function readAdditions(
  on: Queryable,
  appId: number,
  rows: readonly MessageRow[],
  options: ShowOptions,
): Promise<Map<number, Addition[]>> {
  const additions = new Map<number, Addition[]>()
  const found = rows.reduce((all, { traits }) => all | traits, 0)
  const asked = features.filter(({ bits }) => (found & bits) !== 0)
  const read = await Promise.all(
    asked.map((feature) => {
      const having = rows.filter((row) => (row.traits & feature.bits) !== 0)
      return feature.read(on, appId, having, options)
    }),
  )
  // In the order of the features, whichever was read first: the members of an answer always stand in the same order.
  for (const added of read) {
    for (const [id, addition] of added) additions.set(id, [...(additions.get(id) ?? []), addition])
  }
  return additions
}
