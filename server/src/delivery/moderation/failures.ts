import { revisionId } from '../../areas/moderation/index.ts'
import type { StoredQuestion } from '../../chat/moderation/verdict.ts'
import type { EngineFailed, EngineFailure } from '../../events/types.ts'
import type { Ruling } from './decide.ts'

/** The failures of a pass as its event shows them. @param failedAt epoch seconds */
export function showFailures(appName: string, failures: Ruling['failures'], failedAt: number): EngineFailure[] {
  return failures.map(({ question, onError, failure }) => {
    const { request, providerErrorCode, openaiRequestId, ...shown } = failure
    return {
      ...shown,
      failedAt,
      context: {
        engine: question.condition.category === 'prompt' ? 'openai' : 'custom_api',
        setting: onError,
        rule: {
          id: question.ruleId,
          name: question.ruleName,
          revisionId: revisionId({ name: appName }, { id: question.ruleId, revision: question.ruleRevision }),
        },
        condition: showQuestion(question),
        ...(request && { request }),
        ...(providerErrorCode !== undefined && { providerErrorCode }),
        ...(openaiRequestId !== undefined && { openaiRequestId }),
      },
    }
  })
}

function showQuestion({ condition, listId, label, threshold }: StoredQuestion): object {
  const { id, operand, category, operator, value } = condition
  return {
    ...{ id, entity: 'message', operand, category, operator, value },
    ...(listId !== undefined && { listId }),
    ...(label !== undefined && { label }),
    threshold: { comparison: 'greaterThan', percent: threshold },
  }
}

/** What a message is, in the words of the event. */
export function contentTypeOf(type: string): EngineFailed['contentType'] {
  return type === 'image' || type === 'video' || type === 'audio' || type === 'file' ? type : 'text'
}
