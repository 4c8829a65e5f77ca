import type { EngineFailureAction } from '@parley/contract'
import { type Hit, stops } from '../../chat/moderation/model.ts'
import type { StoredQuestion } from '../../chat/moderation/verdict.ts'
import type { Failure } from './ask/failure.ts'
import type { Said } from './ask/line.ts'

/** A question, with what came of asking it. */
export interface AskedQuestion {
  readonly question: StoredQuestion
  readonly said: Said
  /** What a failure means. */
  readonly onError: EngineFailureAction
}

/** What the answers to all questions of a message mean for it. */
export interface Ruling {
  readonly outcome: 'approved' | 'disapproved'
  /** Rules that were met, in their order. */
  readonly hits: readonly Hit[]
  /** The one that stops the message. */
  readonly stoppedBy: Hit | undefined
  /** Those of rules that are on. */
  readonly failures: ReadonlyArray<AskedQuestion & { readonly failure: Failure }>
}

/**
 * Looks at the answers one after the other. Where an engine failed, the condition is not met, or, if the setting says so, what
 * its rule does is done and nothing further is looked at. Rules in shadow have no say.
 */
export function rule(asked: readonly AskedQuestion[]): Ruling {
  const hits: Hit[] = []
  const failures: Array<AskedQuestion & { failure: Failure }> = []
  let stoppedBy: Hit | undefined
  const hasHit = new Set<string>()
  for (const one of asked) {
    const { question, said, onError } = one
    const isOn = question.mode === 'on'
    // One hit of each rule, as in this process.
    if (hasHit.has(question.ruleId)) continue
    if ('failure' in said) {
      if (isOn) failures.push({ ...one, failure: said.failure })
      if (onError === 'approve-message') continue
      const hit = hitOf(question, { reason: `the engine failed: ${said.failure.errorMessage}` })
      hits.push(hit)
      hasHit.add(question.ruleId)
      if (!isOn) continue
      if (question.actions.some(stops)) stoppedBy ??= hit
      break
    }
    const confidence = said.judgement.confidence(question.label)
    if (confidence <= question.threshold) continue
    const { reason } = said.judgement
    const hit = hitOf(question, { confidence: round(confidence), ...(reason !== undefined && { reason }) })
    hits.push(hit)
    hasHit.add(question.ruleId)
    if (isOn && question.actions.some(stops)) stoppedBy ??= hit
  }
  return { outcome: stoppedBy === undefined ? 'approved' : 'disapproved', hits, stoppedBy, failures }
}

/** `0.58` is `57.99999999999999` percent. */
function round(percent: number): number {
  return Math.round(100 * percent) / 100
}

function hitOf(question: StoredQuestion, said: Pick<Hit, 'confidence' | 'reason'>): Hit {
  const { ruleId, ruleName, ruleRevision, mode, actions, condition, listId, listRevision } = question
  return {
    rule: {
      ...{ ruleId, name: ruleName, revision: ruleRevision, mode, actions },
      ...{ filters: [], conditions: [], exceptions: [] },
    },
    condition,
    ...(listId !== undefined && listRevision !== undefined && { list: { listId, revision: listRevision } }),
    ...said,
  }
}
