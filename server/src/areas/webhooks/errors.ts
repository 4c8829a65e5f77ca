import { ApiError } from '@parley/contract'

export function unknownWebhook(id: string): ApiError {
  return new ApiError('ERR_WEBHOOK_NOT_FOUND', `There is no webhook with the id ${id}.`)
}

export function webhookExists(id: string): ApiError {
  return new ApiError('ERR_WEBHOOK_ALREADY_EXISTS', `A webhook with the id ${id} already exists.`)
}

export function unknownTrigger(trigger: string): ApiError {
  return new ApiError('ERR_TRIGGER_NOT_FOUND', `There is no trigger with the id ${trigger}.`)
}

/** 400 for a trigger of the current envelope on a legacy webhook, or the other way round. */
export function triggerOfVersion(trigger: string, version: 1 | 2): ApiError {
  return new ApiError('ERR_BAD_REQUEST', `The trigger ${trigger} is for webhooks of version ${version}.`)
}

export function unknownDelivery(id: string, webhook: string): ApiError {
  return new ApiError('ERR_DELIVERY_NOT_FOUND', `There is no delivery with the id ${id} to the webhook ${webhook}.`)
}
