import { ApiError } from '@parley/contract'

/** 403: so that nobody is locked out by accident. */
export function noSelfAction(): ApiError {
  return new ApiError('ERR_APIKEY_NO_SELF_ACTION', 'The API key of the request cannot change or delete itself.')
}
