import { ApiError } from '@parley/contract'

export function roleExists(role: string): ApiError {
  return new ApiError('ERR_ROLE_ALREADY_EXISTS', `A role with the id ${role} already exists.`)
}

/** 403 for the built-in roles. */
export function builtIn(role: string): ApiError {
  return new ApiError('ERR_ROLE_DELETE_DENIED', `The role ${role} cannot be deleted.`)
}
