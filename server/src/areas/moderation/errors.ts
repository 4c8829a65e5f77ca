import { ApiError } from '@parley/contract'

export function unknownRule(id: string): ApiError {
  return new ApiError('ERR_RULE_NOT_FOUND', `There is no rule with the id ${id}.`)
}

export function ruleExists(id: string): ApiError {
  return new ApiError('ERR_RULE_ALREADY_EXISTS', `A rule with the id ${id} already exists.`)
}

export function unknownList(id: string): ApiError {
  return new ApiError('ERR_KEYWORD_NOT_FOUND', `There is no list with the id ${id}.`)
}

export function unknownRevision(id: string): ApiError {
  return new ApiError('ERR_KEYWORD_NOT_FOUND', `There is no revision with the id ${id} of this list.`)
}

export function listExists(id: string): ApiError {
  return new ApiError('ERR_KEYWORD_ALREADY_EXISTS', `A list with the id ${id} already exists.`)
}

/** 400: without it they would find nothing any more, and nobody would know. */
export function listInUse(id: string, rules: readonly string[]): ApiError {
  const uses = rules.length === 1 ? `the rule ${rules[0]} uses` : `the rules ${rules.join(', ')} use`
  return new ApiError('ERR_BAD_REQUEST', `The list ${id} cannot be deleted: ${uses} it. Switch them off first.`)
}

/** 400: rules that use it would be of another category than their list. */
export function categoryInUse(id: string, rules: readonly string[]): ApiError {
  return new ApiError(
    'ERR_BAD_REQUEST',
    `The category of the list ${id} cannot be changed: ${rules.join(', ')} use it.`,
  )
}

/** 400: every message would be looked through with all of them. */
export function patternsTooLarge(instructions: number, most: number): ApiError {
  return new ApiError(
    'ERR_BAD_REQUEST',
    `The patterns of this app would have ${instructions} instructions in its lists and rules together, and can have ${most}: \`[a-z]{1,50}\` has a hundred. Use smaller repetitions, or fewer patterns.`,
  )
}

export function unknownReason(id: string): ApiError {
  return new ApiError('ERR_REASON_NOT_FOUND', `There is no reason with the id ${id}.`)
}

export function reasonExists(id: string): ApiError {
  return new ApiError('ERR_REASON_ALREADY_EXISTS', `A reason with the id ${id} already exists.`)
}

export function unknownDryRun(ruleId: string): ApiError {
  return new ApiError('ERR_DRY_RUN_NOT_FOUND', `There was no dry run of the rule ${ruleId}.`)
}

export function unknownExample(messageId: string, ruleId: string): ApiError {
  return new ApiError(
    'ERR_MESSAGE_ID_NOT_FOUND',
    `There is no message with the id ${messageId} among the examples of the dry run of ${ruleId}.`,
  )
}
