import type { ConversationKind } from '../kind.ts'

/** Whether a rule acts (`on`), only decides and logs (`shadow`), or is not asked (`off`). */
export type RuleMode = 'off' | 'shadow' | 'on'

/** To whom a rule applies: every filter of a rule must be met. Contract: moderation.yaml, UserFilter and GroupFilter. */
export interface Filter {
  readonly type: 'sender' | 'receiver'
  readonly entity: 'user' | 'group'
  /** uid, guid, name, role, tags, createdAt, type; beyond the contract scope (of the sender in the group). */
  readonly operand: string
  readonly operator: 'equals' | 'notEquals' | 'in' | 'notIn' | 'startsWith' | 'endsWith' | 'lessThan' | 'greaterThan'
  readonly value: string
}

/** What a rule looks for: a rule is met where one of its conditions is. Contract: moderation.yaml, Condition. */
export interface Condition {
  /** Counts from 1 inside the rule. */
  readonly id: number
  readonly operand: 'text' | 'image' | 'video' | 'custom'
  readonly category: ConditionCategory
  readonly operator: 'contains' | 'equals'
  /** Literals, ids of lists where `isListed`, or formulas `<label or list id>_greaterThan_<percent>`. */
  readonly value: readonly string[]
  /** `value` names lists. */
  readonly isListed: boolean
  /** Readable texts of the formulas in `value`. */
  readonly message?: readonly string[]
}

/** The contract's, and beyond it `links`, `length`, `rate` and `repetition`, whose value is `greaterThan_<number>`. */
export type ConditionCategory =
  | 'word'
  | 'pattern'
  | 'sentence-similarity'
  | 'custom-api'
  | 'prompt'
  | 'media'
  | 'links'
  | 'length'
  | 'rate'
  | 'repetition'

/** One revision of a rule. It never changes. */
export interface RuleRevision {
  readonly ruleId: string
  readonly name: string
  /** Counts from 1. */
  readonly revision: number
  readonly mode: RuleMode
  readonly filters: readonly Filter[]
  readonly conditions: readonly Condition[]
  /** Texts that are taken out before the rule looks: what stands here is no hit of it. */
  readonly exceptions: readonly string[]
  /** As they were spelt: blockMessage, dropMessage, flagMessage, banUser, kickUser, blockUser. */
  readonly actions: readonly string[]
}

export type ListCategory = 'word' | 'pattern' | 'sentence-similarity' | 'custom-api' | 'prompt'

/** One revision of a list. It never changes. */
export interface ListRevision {
  readonly listId: string
  readonly revision: number
  readonly category: ListCategory
  readonly terms: readonly string[]
}

/** A user as far as filters look at one. */
export interface JudgedUser {
  readonly uid: string
  readonly name: string
  readonly role: string
  readonly tags: readonly string[]
  readonly createdAt: number
}

/** A group as far as filters look at one. */
export interface JudgedGroup {
  readonly guid: string
  readonly name: string
  readonly type: string
  readonly tags: readonly string[]
  readonly createdAt: number
  /** Of the sender, who may be no member. */
  readonly scope: string | undefined
}

/** A picture or video of a message. */
export interface JudgedFile {
  readonly url: string
  /** As what front ends may show it. */
  readonly shownAs: ReadonlyArray<'image' | 'video'>
  /** As its sender said, in lower case. */
  readonly mimeType?: string
}

/** What rules look at: a message that somebody wants to send or to edit, or one that is stored. */
export interface JudgedMessage {
  readonly kind: ConversationKind
  readonly category: string
  readonly type: string
  /** The text, or the caption of a file; '' where there is none. */
  readonly text: string
  /** The texts in `customData`, `metadata` and what interactive messages show, joined by line breaks. */
  readonly custom: string
  readonly files: readonly JudgedFile[]
  readonly sender: JudgedUser
  readonly receiver: JudgedUser | JudgedGroup
}

/** That a condition of a rule was met, and by what. */
export interface Hit {
  readonly rule: RuleRevision
  readonly condition: Condition
  readonly list?: { readonly listId: string; readonly revision: number }
  /** What was found: its place in the original text (UTF-16 units), and the text itself. */
  readonly match?: {
    readonly in: 'text' | 'custom'
    readonly start: number
    readonly end: number
    readonly text: string
  }
  /** What an engine said, in percent. */
  readonly confidence?: number
  /** What an engine gave as its reason. */
  readonly reason?: string
}

/** A condition that only an engine outside can answer. */
export interface Question {
  readonly rule: RuleRevision
  readonly condition: Condition
  /** The list that holds the engine's address or prompt; undefined for labels of pictures and videos. */
  readonly list?: { readonly listId: string; readonly revision: number }
  /** Percent above which the condition is met. */
  readonly threshold: number
  /** A label such as `violence`, for pictures and videos. */
  readonly label?: string
}

/** What the rules of an app say of a message, in this process and at once. */
export interface Outcome {
  readonly hits: readonly Hit[]
  /** What is left to be asked outside; nobody is asked where a hit blocks already. */
  readonly questions: readonly Question[]
  /** How often a pattern took too long on a text of the message, or comparing words did, and was not met therefore. */
  readonly cut: number
  /** Microseconds. */
  readonly took: number
}

/** Whether an action stops the message. */
export function stops(action: string): boolean {
  return action === 'blockMessage' || action === 'dropMessage'
}

/** Where moderation stands with a message. */
export type ModerationStatus = 'pending' | 'approved' | 'disapproved'
