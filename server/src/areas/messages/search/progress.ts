import type { Channel } from '../../../store/channel.ts'
import { statement } from '../../../store/statement.ts'
import { type WritersBefore, writersBefore } from '../../../store/writers-before.ts'

/** How far the writer is, and what the database tells of ids. */
export interface Progress {
  /** Every message up to this id has its entry. */
  readonly indexedId: number
  /** The last id that was drawn. */
  readonly lastId: number
}

/** Any constant will do, as long as every version of the service uses the same. */
export const lock = 7_206_951_003

/** Takes the lead, too. */
export const selectProgress = statement(`
  select pg_try_advisory_lock($1) as leads,
    (select indexed_id from search_progress) as "indexedId",
    (select last_value - case when is_called then 0 else 1 end from message_ids) as "lastId"`)

/** Ids are drawn under the lock of a conversation, or while messages are inserted. */
const drawers = ['conversations', 'messages']

/** Tells up to which id every message is stored, or never will be. */
export interface CommitWatch {
  /** @returns that id, as far as this look at the progress and those before it tell */
  look(progress: Progress): Promise<number>
}

/**
 * An id that was seen drawn is settled once every transaction that ran then is over. The moment is taken a look later, in
 * case an id was drawn an instant before its transaction got its number.
 */
export function createCommitWatch(channel: Channel): CommitWatch {
  let visibleUpTo = 0
  let seenId = 0
  let waiting: { readonly id: number; readonly writers: WritersBefore } | undefined
  return {
    async look({ lastId }) {
      if (waiting !== undefined && (await waiting.writers.areGone())) {
        visibleUpTo = waiting.id
        waiting = undefined
      }
      if (waiting === undefined && seenId > visibleUpTo) {
        waiting = { id: seenId, writers: await writersBefore(channel, drawers) }
      }
      seenId = lastId
      return visibleUpTo
    },
  }
}
