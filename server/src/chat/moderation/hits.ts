import type { Condition } from './model.ts'

/** A condition as answers and events show it. Contract: moderation.yaml, Condition. */
export function showCondition(condition: Condition): Record<string, unknown> {
  const { id, operand, category, operator, value, isListed, message } = condition
  const isMedia = category === 'media'
  return {
    id,
    isKeywordsReferencePresent: isListed,
    isMediaPresent: isMedia,
    entity: 'message',
    operand,
    category: isMedia ? 'word' : category,
    operator,
    value: [...value],
    ...(message !== undefined && { message: [...message] }),
    weight: 1,
  }
}

/** When a message was blocked, as a text that is different for each. @param at epoch seconds */
export function blockedAtOf(at: number, messageId: number): string {
  return `${at}.${String(messageId).padStart(15, '0')}`
}
