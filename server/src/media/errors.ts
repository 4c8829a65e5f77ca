import { ApiError, limits } from '@parley/contract'

/** Seconds after which an upload may be tried again when there was no room for it. */
const retryAfterSeconds = 30

/** 503: there is no room for files at the moment; messages without files still go. */
export function noRoomForFiles(): ApiError {
  return new ApiError(
    'ERR_MISSION_FAILED',
    'The service cannot take files at the moment: its disk is nearly full. Messages without files are still sent.',
  ).retryAfter(retryAfterSeconds)
}

/** 429: a user has uploaded as much as they may in a day (setting `uploadMegabytesPerDay`). */
export function dayQuotaReached(uid: string, bytes: number, secondsLeft: number): ApiError {
  return new ApiError(
    'ERR_TOO_MANY_REQUESTS',
    `${uid} can upload at most ${bytes} bytes a day (setting uploadMegabytesPerDay). The next day begins in ${secondsLeft} s.`,
  ).retryAfter(secondsLeft)
}

/** 400: the files of an app take as much room as they may (setting `mediaMegabytes`). */
export function appQuotaReached(bytes: number): ApiError {
  return new ApiError(
    'ERR_BAD_REQUEST',
    `The files of this app can take at most ${bytes} bytes (setting mediaMegabytes).`,
  )
}

/** 400: the files of one request are larger than they may be together. */
export function filesTooLarge(bytes: number): ApiError {
  return new ApiError('ERR_FILE_SIZE_EXCEEDED', `The files of one request can have at most ${bytes} bytes together.`)
}

/** 400: more files than one message can have. */
export function tooManyFiles(): ApiError {
  return new ApiError('ERR_FILE_COUNT_EXCEEDED', `A message can have at most ${limits.filesPerMessage} files.`)
}

/** 403: an upload address is not valid. What is wrong with it is not said. */
export function uploadAddressExpired(): ApiError {
  return new ApiError('ERR_PRESIGNED_URL_EXPIRED', 'The upload address is not valid, has expired, or was used.')
}

/** 403: the address of a file is not valid any more, or never was. */
export function fileLinkExpired(): ApiError {
  return new ApiError('ERR_PRESIGNED_URL_EXPIRED', 'The address of the file is not valid, or has expired.')
}

/** 408: nearly nothing of an upload came in the time in which something must. */
export function uploadStalled(seconds: number): ApiError {
  return new ApiError('ERR_UPLOAD_STALLED', `The upload stalled: almost no data arrived within ${seconds} s.`)
}

/** 400: a form to an upload address has no file. */
export function missingUpload(): ApiError {
  return new ApiError('ERR_EMPTY_MESSAGE_FILE', 'The form has no file in the field file.')
}

/** 400: an uploaded file is not what was announced. */
export function notAsAnnounced(size: number, announced: number): ApiError {
  return new ApiError('ERR_INVALID_FILE_OBJECT', `The file has ${size} bytes; ${announced} were announced.`)
}

/** Is there no room left where a file was to be written? */
export function isDiskFull(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return code === 'ENOSPC' || code === 'EDQUOT'
}
