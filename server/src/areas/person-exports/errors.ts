import { ApiError } from '@parley/contract'

/** 404: the user has not asked for their data, or that was removed after 7 days. */
export function noExport(uid: string): ApiError {
  return new ApiError('ERR_EXPORT_NOT_FOUND', `The user ${uid} has not asked for their data, or it has expired.`)
}

/** 409: once in 24 hours. @param again epoch seconds */
export function askedAlready(again: number): ApiError {
  return new ApiError('ERR_EXPORT_ALREADY_ASKED', `You can ask again at ${new Date(again * 1000).toISOString()}.`)
}
