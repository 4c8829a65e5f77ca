import type { ReviewDecision } from '@parley/contract'
import { unknownMessage } from '../../../chat/messages/read.ts'
import { isHeld, traits } from '../../../chat/messages/traits.ts'
import * as errors from './errors.ts'

/** Where a message stands when a reviewer decides about it. */
export interface ReviewState {
  readonly id: number
  readonly traits: number
  readonly deletedAt: number | null
  readonly editedAt: number | null
  /** Of its row in the queue of flagged messages: open, or what was decided; null where nobody flagged it. */
  readonly queue: string | null
  /** Whether moderation has a row of it, and what a reviewer said of the block. */
  readonly wasHeld: boolean
  readonly seen: string | null
  readonly wasVisible: boolean
  readonly review: Review | null
  /** Who has it before them. */
  readonly claimedBy: string | null
}

export interface Review {
  readonly list: List
  readonly decision: ReviewDecision
  readonly asNew: boolean
  readonly reviewer: string | null
  readonly reviewedAt: number
  readonly editedAt: number | null
  readonly settled: boolean
}

export type List = 'flagged' | 'blocked'

/** What a reviewer wants. `unreviewed`: a blocked message that was marked as seen goes back to those that nobody saw. */
export type Wanted = ReviewDecision | 'unreviewed'

export interface Reviewer {
  readonly name: string | undefined
  readonly overrides: boolean
}

/**
 * Whether a decision is to be carried out: `new`, `same` where it is in force already, `unfinished` where it is and what
 * follows from it may not be done yet. Within a list another decision than the one in force is refused; the other list asks
 * something else.
 * @throws 404 for what is not in the list; 409 where another reviewer has decided otherwise, or has claimed it
 */
export function weigh(state: ReviewState, list: List, wanted: Wanted, by: Reviewer): 'new' | 'same' | 'unfinished' {
  const { id, review, claimedBy } = state
  if (state.deletedAt !== null || !isIn(state, list)) throw unknownMessage(id)
  const isOpen = list === 'flagged' ? state.queue === 'open' : isHeld(state) && state.seen === null
  if (!isOpen && review !== null && review.list === list && review.editedAt === state.editedAt) {
    if (means(review.decision, wanted)) return review.settled ? 'same' : 'unfinished'
    const isSeenOnly = review.decision === 'reviewed' || (wanted === 'unreviewed' && review.decision !== 'approved')
    if (!isSeenOnly && !by.overrides) throw errors.alreadyReviewed(id, review.decision, review.reviewer)
    return 'new'
  }
  if (isOpen && wanted === 'unreviewed') return 'same'
  if (isOpen && claimedBy !== null && claimedBy !== by.name && !by.overrides) throw errors.alreadyClaimed(id, claimedBy)
  return 'new'
}

function isIn(state: ReviewState, list: List): boolean {
  if (list === 'flagged') return state.queue !== null
  return isHeld(state) || (state.wasHeld && state.review !== null)
}

/** Whether a decision says what is wanted: what was rejected was looked at, too. */
function means(decision: ReviewDecision, wanted: Wanted): boolean {
  if (decision === wanted) return true
  const stays = ['disapproved', 'rejected']
  return stays.includes(decision) && (stays.includes(wanted) || wanted === 'reviewed')
}

/** What is to be done about a message so that it is as a decision says. */
export function deedOf(
  state: Pick<ReviewState, 'traits' | 'wasVisible'>,
  decision: ReviewDecision,
): 'release' | 'restore' | 'block' | undefined {
  const isBlocked = (state.traits & traits.disapproved) !== 0
  if (decision === 'approved') return isHeld(state) ? (state.wasVisible ? 'restore' : 'release') : undefined
  if (decision === 'reviewed') return undefined
  return isBlocked ? undefined : 'block'
}
