import { ApiError } from '@parley/contract'
import { lockConversation } from '../../../chat/conversations/membership.ts'
import type { App } from '../../../chat/identity.ts'
import { unknownMessage } from '../../../chat/messages/read.ts'
import { readMessages, type StoredMessage } from '../../../chat/messages/rows.ts'
import type { Hit } from '../../../chat/moderation/model.ts'
import type { Flagging } from '../../../chat/moderation/records.ts'
import type { Lane, StoredQuestion } from '../../../chat/moderation/verdict.ts'
import { placeOf } from '../../../chat/place.ts'
import type { Context } from '../../../context.ts'
import type { Queryable, Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'

/**
 * Who decides: the rules of the app in this process, an engine outside that was asked, or somebody who reviews; undefined where
 * the app's key gives no name.
 */
export type Decider = 'rules' | 'engine' | { readonly reviewer: string | undefined }

export function laneOf(by: Decider): Lane {
  return by === 'rules' ? 'one' : by === 'engine' ? 'two' : 'manual'
}

/** Where a decision leaves a message, or `refused`: an edit that is not stored. */
export type Became = 'approved' | 'disapproved' | 'refused'

/** What is decided, and of what. */
export interface Deciding {
  readonly by: Decider
  /** `generation` of the text that was judged; an answer about an earlier one is late. Absent: whatever there is now. */
  readonly generation?: number
  /** `editedAt` of the text that a reviewer decided about: another one is not let through. Absent: whatever there is now. */
  readonly editedAt?: number | null
  /** Why, where a rule says so. */
  readonly hit?: Hit
  /** How long it took to judge, in microseconds; absent where people did. */
  readonly took?: number
  /** What else is to be written in the transaction that decides, after all else; not called where nothing is decided. */
  readonly within?: (tx: Transaction, became: Became) => Promise<void>
}

/** Nothing was changed. `refused` says why, in words for whoever decides. */
export interface Refused {
  readonly refused: string
  /**
   * unknown: there is no such message; deleted: it was deleted; decided: it stands as asked already, or there is nothing to
   * decide; late: it was changed or decided since the engine was asked, or edited since a reviewer decided; forbidden: it may no longer be written (`error`).
   */
  readonly because: 'unknown' | 'deleted' | 'decided' | 'late' | 'forbidden'
  readonly error?: ApiError
}

/** A row of `message_moderation`. */
export interface ModerationRow {
  /** `deleted`: its sender deleted it while it was held. */
  readonly status: 'pending' | 'approved' | 'disapproved' | 'deleted'
  readonly generation: number
  readonly wasVisible: boolean
  /** Of one that was visible: it counted as unread before it was blocked. */
  readonly wasCountable: boolean
  readonly heldFrom: number | null
  readonly waiting: WaitingEdit | null
  readonly questions: readonly StoredQuestion[] | null
  readonly reviewStatus: string | null
  /** Who decided last, or is to decide. */
  readonly lane: Lane
}

/** A message, and what moderation keeps of it, read under the lock. */
export interface Held {
  readonly message: StoredMessage
  readonly row: ModerationRow | undefined
}

/** An edit that waits for engines: what the whole message will say. */
export interface WaitingEdit {
  readonly data: Record<string, unknown>
  /** Absent: they stay. */
  readonly tags?: readonly string[]
  /** Who edits it; null: the app. */
  readonly editor: string | null
  /** The rules that flag it, which is done when it is stored. */
  readonly flaggedBy?: readonly Flagging[]
}

const selectRow = statement(`
  select status, generation, was_visible as "wasVisible", was_countable as "wasCountable",
    held_from as "heldFrom", waiting, questions, review_status as "reviewStatus", lane
  from message_moderation
  where app_id = $1
  and message = $2`)

/** What moderation keeps of a message; undefined where it keeps nothing. */
export async function readModeration(on: Queryable, appId: number, id: number): Promise<ModerationRow | undefined> {
  const [row] = await on.query<ModerationRow>(selectRow, [appId, id])
  return row
}

/**
 * What is decided under the lock of the conversation, with the message as it is then. Where something is decided, the sockets of
 * its sender are notified.
 */
export async function underLock<Result extends object>(
  { database, events }: Pick<Context, 'database' | 'events'>,
  { appId }: App,
  id: number,
  work: (tx: Transaction, message: StoredMessage, row: ModerationRow | undefined) => Promise<Result>,
): Promise<Result | Refused> {
  const seen = (await readMessages(database, appId, [id])).get(id)
  if (seen === undefined) return unknown(id)
  return database.transaction(async (tx) => {
    await lockConversation(tx, appId, seen.conversation)
    const message = (await readMessages(tx, appId, [id])).get(id)
    if (message === undefined) return unknown(id)
    const done = await work(tx, message, await readModeration(tx, appId, id))
    if (!('refused' in done)) {
      const { sender } = message
      const event = { statusOf: id, place: placeOf(message), sender }
      await events.note(tx, appId, {
        note: 'moderation_status_changed',
        place: event.place,
        messageId: id,
        uid: sender,
      })
      tx.afterCommit(() => events.publish(appId, event))
    }
    return done
  })
}

function unknown(id: number): Refused {
  const error = unknownMessage(id)
  return { refused: error.devMessage, because: 'unknown', error }
}

export function deleted(id: number): Refused {
  return { refused: `The message ${id} was deleted.`, because: 'deleted' }
}

export function decided(id: number, how: string): Refused {
  return { refused: `The message ${id} ${how}.`, because: 'decided' }
}

/** @throws everything but refusals by a rule of writing */
export function forbidden(error: unknown): Refused {
  if (error instanceof ApiError) return { refused: error.devMessage, because: 'forbidden', error }
  throw error
}

export function late(id: number): Refused {
  return { refused: `The message ${id} was changed or decided since the engine was asked.`, because: 'late' }
}

/** What a reviewer let through was edited since. @returns undefined where it was not */
export function lateForReview({ id, editedAt }: StoredMessage, deciding: Deciding): Refused | undefined {
  if (deciding.editedAt === undefined || deciding.editedAt === editedAt) return undefined
  return { refused: `The message ${id} was edited since it was decided about.`, because: 'late' }
}

/**
 * Whether an engine was asked about something that is no more: another text, or what was decided since.
 * @param about the message, or an edit of it that waits
 */
export function isLate(
  { by, generation }: Deciding,
  row: ModerationRow | undefined,
  about: 'message' | 'edit' = 'message',
): boolean {
  if (by !== 'engine') return false
  if (row?.status !== 'pending' || (row.waiting !== null) !== (about === 'edit')) return true
  return generation !== undefined && generation !== row.generation
}

/** Whether people have stopped a held message, or are to decide about it: then no rule and no engine lets it through. */
export function isUpToPeople({ lane, reviewStatus }: Pick<ModerationRow, 'lane' | 'reviewStatus'>): boolean {
  return lane === 'manual' || (reviewStatus !== null && reviewStatus !== 'approved')
}
