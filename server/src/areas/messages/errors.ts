import { ApiError, badRequest, type FilesFault, limits } from '@parley/contract'

// Receivers

export function emptyReceiver(what: 'receiver' | 'multipleReceivers'): ApiError {
  return new ApiError('ERR_EMPTY_RECEIVER', `${what} is missing or empty.`)
}

export function invalidReceiverType(): ApiError {
  return new ApiError('ERR_INVALID_RECEIVER_TYPE', 'receiverType must be user or group.')
}

// Content

export function emptyCategory(): ApiError {
  return new ApiError('ERR_EMPTY_MESSAGE_CATEGORY', 'category is empty.')
}

export function emptyType(): ApiError {
  return new ApiError('ERR_EMPTY_MESSAGE_TYPE', 'type is empty.')
}

export function invalidCategory(category: string): ApiError {
  const devMessage = `category must be message, custom or interactive; it is ${JSON.stringify(category)}.`
  return new ApiError('ERR_INVALID_MESSAGE_CATEGORY', devMessage)
}

export function missingCustomType(): ApiError {
  return new ApiError('ERR_EMPTY_MESSAGE_TYPE', 'A custom message needs a type.')
}

export function invalidType(type: string, types: readonly string[]): ApiError {
  return new ApiError(
    'ERR_INVALID_MESSAGE_TYPE',
    `type must be one of ${types.join(', ')}; it is ${JSON.stringify(type)}.`,
  )
}

export function typeTooLong(limit: number): ApiError {
  return new ApiError('ERR_INVALID_MESSAGE_TYPE', `type must have at most ${limit} characters.`)
}

export function missingText(): ApiError {
  return new ApiError('ERR_EMPTY_MESSAGE_TEXT', 'data.text is missing or empty.')
}

export function invalidText(): ApiError {
  return new ApiError('ERR_INVALID_MESSAGE_TEXT', 'data.text must be a string.')
}

export function missingFile(): ApiError {
  return new ApiError('ERR_EMPTY_MESSAGE_FILE', 'data.attachments must have at least one file.')
}

export function invalidAttachments({ kind }: Pick<FilesFault, 'kind'>): ApiError {
  const devMessage =
    kind === 'no-list'
      ? 'data.attachments must be an array.'
      : 'Each of data.attachments must be an object with an absolute http or https url.'
  return new ApiError('ERR_INVALID_MEDIA_MESSAGE', devMessage)
}

export function invalidFileAddress(): ApiError {
  return new ApiError('ERR_INVALID_MEDIA_MESSAGE', 'data.url must be an absolute http or https URL.')
}

export function missingCustomData(): ApiError {
  return new ApiError('ERR_EMPTY_CUSTOM_DATA', 'data.customData is missing or empty.')
}

export function invalidCustomData(): ApiError {
  return new ApiError('ERR_INVALID_CUSTOM_DATA', 'data.customData must be an object or an array.')
}

export function invalidInteractiveData(): ApiError {
  return new ApiError('ERR_INVALID_MESSAGE_DATA', 'data.interactiveData must be an object.')
}

export function invalidMetadata(): ApiError {
  return new ApiError('ERR_INVALID_METADATA', 'data.metadata must be an object.')
}

export function metadataTooLarge(): ApiError {
  return new ApiError('ERR_BAD_REQUEST', `data.metadata must be at most ${limits.metadataBytes} bytes of JSON.`)
}

export function dataTooLarge(bytes: number): ApiError {
  const message = `must be at most ${limits.messageDataBytes} bytes of JSON`
  return new ApiError('ERR_BAD_REQUEST', `data ${message}; it has ${bytes}.`, [{ path: 'body/data', message }])
}

// Other messages that one refers to

/** The parent or quoted message is in another conversation, which has a code of its own for threads. */
export function notInConversation(
  code: 'ERR_WRONG_MESSAGE_THREAD' | 'ERR_MESSAGE_ID_NOT_FOUND',
  id: number | string,
  conversation: string,
): ApiError {
  return new ApiError(code, `The message ${id} is not in the conversation ${conversation}.`)
}

export function nestedThread(id: number): ApiError {
  return new ApiError('ERR_MESSAGE_THREAD_NESTING', `The message ${id} is a reply itself.`)
}

export function noThreadOfActions(id: number): ApiError {
  return new ApiError('ERR_WRONG_MESSAGE_THREAD_CATEGORY', `The message ${id} is an action and cannot have replies.`)
}

export function unknownCursor(id: number): ApiError {
  return new ApiError('ERR_MESSAGE_ID_NOT_FOUND', `There is no message with the id ${id}, which the cursor names.`)
}

// Changes

export function notTheSender(id: number, uid: string, does: 'edit' | 'delete'): ApiError {
  return new ApiError(
    'ERR_MESSAGE_NOT_A_SENDER',
    `${uid} is not the sender of the message ${id} and cannot ${does} it.`,
  )
}

/** 503: other edits came in between, again and again. */
export function editedMeanwhile(): ApiError {
  return new ApiError('ERR_MISSION_FAILED', 'The message was edited at the same time. Try again.')
}

export function alreadyDeleted(id: number): ApiError {
  return new ApiError('ERR_MESSAGE_ACTION_NOT_ALLOWED', `The message ${id} was deleted.`)
}

/** 403: there is nothing in an action to keep, or to react to. */
export function actionNotMarkable(id: number): ApiError {
  const devMessage = `The message ${id} is an action message and cannot be pinned, saved or reacted to.`
  return new ApiError('ERR_MESSAGE_ACTION_NOT_ALLOWED', devMessage)
}

export function notInteractive(id: number): ApiError {
  return new ApiError(
    'ERR_MESSAGE_ACTION_NOT_ALLOWED',
    `The message ${id} is not an interactive message, or was deleted.`,
  )
}

// Limits

export function tooManyPinnedMessages(most: number): ApiError {
  const devMessage = `A conversation can have at most ${most} pinned messages.`
  return new ApiError('ERR_PINNED_MESSAGES_LIMIT_EXCEEDED', devMessage)
}

export function tooManySavedMessages(most: number): ApiError {
  const devMessage = `A user can have at most ${most} saved messages.`
  return new ApiError('ERR_SAVED_MESSAGES_LIMIT_EXCEEDED', devMessage)
}

export function tooManyReactions(): ApiError {
  const message = `cannot be added: the message already has ${limits.reactionsPerMessage} different reactions`
  return badRequest([{ path: 'params/reaction', message }])
}

/** 400 for a filter or list that needs an acting user. */
export function needsActingUser(parameter: string): ApiError {
  return badRequest([{ path: `query/${parameter}`, message: 'needs an acting user (header onBehalfOf)' }])
}

// Senders

export function unknownBot(uid: string): ApiError {
  return new ApiError('ERR_BOT_NOT_FOUND', `There is no bot with the uid ${uid}.`)
}

/** 403: a `before_message` webhook said no. */
export function blockedByWebhook(webhook: string): ApiError {
  return new ApiError('ERR_BLOCKED_BY_WEBHOOK', `The webhook ${webhook} rejected the message.`)
}
