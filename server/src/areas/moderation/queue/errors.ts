import { ApiError, badRequest } from '@parley/contract'

export function alreadyReviewed(id: number, decision: string, reviewer: string | null): ApiError {
  const by = reviewer === null ? '' : ` by ${reviewer}`
  return new ApiError('ERR_MESSAGE_ALREADY_REVIEWED', `The message ${id} was ${decision}${by} already.`)
}

export function alreadyClaimed(id: number, reviewer: string): ApiError {
  return new ApiError('ERR_MESSAGE_ALREADY_CLAIMED', `The message ${id} is claimed by ${reviewer}.`)
}

/** @param why a sentence */
export function notReleased(id: number, why: string): ApiError {
  return new ApiError('ERR_MESSAGE_NOT_RELEASED', `The message ${id} stays as it is: ${why}`)
}

export function editedSinceSeen(id: number): ApiError {
  return notReleased(id, 'it was edited since the reviewer saw it.')
}

export function noDecision(fields: string): ApiError {
  return badRequest([{ path: 'body', message: `must have ${fields}` }])
}

export function unknownNote(id: string): ApiError {
  return new ApiError('ERR_NOTE_NOT_FOUND', `There is no note with the id ${id} beside this message.`)
}
