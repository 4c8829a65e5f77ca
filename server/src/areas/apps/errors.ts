import { ApiError } from '@parley/contract'

export function alreadyPaused(name: string): ApiError {
  return new ApiError('ERR_APP_ALREADY_PAUSED', `The app ${name} is paused already.`)
}

export function notPaused(name: string): ApiError {
  return new ApiError('ERR_APP_NOT_PAUSED', `The app ${name} is not paused.`)
}

/** What is to be deleted does not go on as if it were only paused. */
export function takeBackFirst(name: string): ApiError {
  return new ApiError('ERR_APP_ALREADY_DELETED', `The app ${name} is scheduled for deletion: take that back first.`)
}

export function alreadyDeleted(name: string): ApiError {
  return new ApiError('ERR_APP_ALREADY_DELETED', `The app ${name} is already scheduled for deletion.`)
}

export function beingRemoved(name: string): ApiError {
  return new ApiError('ERR_APP_ALREADY_DELETED', `The app ${name} is being removed. It cannot be taken back.`)
}

export function notDeleted(name: string): ApiError {
  return new ApiError('ERR_APP_NOT_DELETED', `The app ${name} is not scheduled for deletion.`)
}

export function defaultAppStays(name: string): ApiError {
  return new ApiError(
    'ERR_DEFAULT_APP_DELETE_DENIED',
    `The service makes the app ${name} at each start, since PARLEY_APP_ID names it. Pause it instead.`,
  )
}
