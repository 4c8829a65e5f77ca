import { traits } from '../messages/traits.ts'
import { type Hit, type ModerationStatus, type Outcome, type Question, stops } from './model.ts'

/** What becomes of a message, or of an edit, by what the rules of its app say, and by which hit. */
export interface Decision {
  readonly status: ModerationStatus
  /** The hit that stops it, where one does. */
  readonly stoppedBy: Hit | undefined
  /** Whether rules ask that people look at it. */
  readonly isFlagged: boolean
}

const approved: Decision = { status: 'approved', stoppedBy: undefined, isFlagged: false }

/**
 * What becomes of a message: a hit of a rule that is on and whose actions stop messages disapproves it; else it waits for
 * the engines that rules which are on have questions for; else it is approved.
 */
export function decide({ hits, questions }: Outcome): Decision {
  if (hits.length === 0 && questions.length === 0) return approved
  const acting = hits.filter(({ rule }) => rule.mode === 'on')
  const stoppedBy = acting.find(({ rule }) => rule.actions.some(stops))
  const isFlagged = acting.some(({ rule }) => rule.actions.includes('flagMessage'))
  const waits = stoppedBy === undefined && questions.some(({ rule }) => rule.mode === 'on')
  return { status: stoppedBy ? 'disapproved' : waits ? 'pending' : 'approved', stoppedBy, isFlagged }
}

const bits: Readonly<Record<ModerationStatus, number>> = {
  approved: traits.moderated,
  pending: traits.moderated | traits.pending,
  disapproved: traits.moderated | traits.disapproved,
}

/** The bits of `messages.traits` that say where moderation stands with a message. */
export function traitsOfStatus(status: ModerationStatus): number {
  return bits[status]
}

/** Every bit of moderation: what `traitsOfStatus` gives takes the place of these. */
export const moderationTraits = traits.moderated | traits.pending | traits.disapproved

/** Where moderation stands with a message by its bits; undefined where no rule was ever asked. */
export function statusOfTraits(bits: number): ModerationStatus | undefined {
  if ((bits & traits.disapproved) !== 0) return 'disapproved'
  if ((bits & traits.pending) !== 0) return 'pending'
  return (bits & traits.moderated) === 0 ? undefined : 'approved'
}

/** Who decides: lane one (this process, before a message is stored), lane two (engines outside), or people. */
export type Lane = 'one' | 'two' | 'manual'

/** Actions that act on people, and are carried out after the message is stored. */
const actionsOnPeople: ReadonlySet<string> = new Set(['banUser', 'kickUser', 'blockUser'])

/** A question as `message_moderation.questions` keeps it. */
export interface StoredQuestion {
  readonly ruleId: string
  readonly ruleName: string
  readonly ruleRevision: number
  readonly mode: 'on' | 'shadow'
  readonly actions: readonly string[]
  readonly condition: Question['condition']
  readonly listId?: string
  readonly listRevision?: number
  /** Percent. */
  readonly threshold: number
  readonly label?: string
  /** Leads to the request that sent the message, where that is traced. */
  readonly trace?: string
}

export function storedQuestion({ rule, condition, list, threshold, label }: Question): StoredQuestion {
  return {
    ...{ ruleId: rule.ruleId, ruleName: rule.name, ruleRevision: rule.revision, actions: rule.actions },
    ...{ mode: rule.mode === 'on' ? 'on' : 'shadow', condition, threshold },
    ...(list && { listId: list.listId, listRevision: list.revision }),
    ...(label !== undefined && { label }),
  }
}

/** A hit as the columns of `message_moderation` and of `moderation_decisions` keep it. */
export interface StoredHit {
  readonly rule_id: string
  readonly rule_name: string
  readonly rule_revision: number
  readonly condition: Hit['condition']
  readonly list_id: string | null
  readonly list_revision: number | null
  readonly match: NonNullable<Hit['match']> | null
  readonly confidence: number | null
  readonly reason: string | null
  readonly actions: readonly string[]
}

export function storedHit({ rule, condition, list, match, confidence, reason }: Hit): StoredHit {
  return {
    ...{ rule_id: rule.ruleId, rule_name: rule.name, rule_revision: rule.revision, condition, actions: rule.actions },
    ...{ list_id: list?.listId ?? null, list_revision: list?.revision ?? null },
    ...{
      match: match ? { ...match, text: match.text.toWellFormed() } : null,
      confidence: confidence ?? null,
      reason: reason ?? null,
    },
  }
}

/** Whether a hit leaves something to do besides what happens to the message: rules that are on may act on people. */
export function leavesWork({ rule }: Pick<Hit, 'rule'>): boolean {
  return rule.mode === 'on' && rule.actions.some((action) => actionsOnPeople.has(action))
}
