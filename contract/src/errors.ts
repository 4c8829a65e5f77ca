import { type Static, Type } from 'typebox'

/**
 * Every error code of the contract, with its HTTP status and a text for end users (no ids, nothing technical).
 *
 * If two rules of the contract give a code its status, the rule with the longer prefix wins: `AUTH_ERR_*` over
 * `*_NOT_FOUND`, `ERR_GROUP_NO_*` over `ERR_*_SELF*`. A limit without a code of its own is `ERR_BAD_REQUEST`.
 * The last groups are codes of related services and client SDKs, listed to keep the table complete.
 */
export const errors = {
  // Auth
  AUTH_ERR_EMPTY_APPID: { status: 401, message: 'The app ID is missing.' },
  AUTH_ERR_INVALID_APPID: { status: 401, message: 'This app does not exist.' },
  AUTH_ERR_EMPTY_APIKEY: { status: 401, message: 'An API key is required.' },
  AUTH_ERR_APIKEY_NOT_FOUND: { status: 401, message: 'The API key is not valid.' },
  AUTH_ERR_NO_ACCESS: { status: 403, message: 'This API key is not allowed to do that.' },
  AUTH_ERR_EMPTY_AUTH_HEADER: { status: 401, message: 'You need to log in.' },
  AUTH_ERR_EMPTY_AUTH_TOKEN: { status: 401, message: 'An auth token is required.' },
  AUTH_ERR_AUTH_TOKEN_NOT_FOUND: { status: 401, message: 'Please log in again.' },

  // API keys
  ERR_APIKEY_NOT_FOUND: { status: 404, message: 'This API key does not exist.' },
  ERR_APIKEY_NO_SELF_ACTION: { status: 403, message: 'An API key cannot change or delete itself.' },

  // Auth tokens
  ERR_AUTH_TOKEN_NOT_FOUND: { status: 404, message: 'This auth token does not exist.' },
  ERR_AUTH_TOKEN_DELETE_FAILED: { status: 500, message: 'The auth token could not be deleted.' },
  ERR_AUTH_TOKENS_DELETE_FAILED: { status: 500, message: 'The auth tokens could not be deleted.' },
  ERR_AUTHTOKEN_UNAVAILABLE: { status: 403, message: 'This auth token is in use on another device.' },
  ERR_AUTHTOKEN_NOT_ACCESSIBLE: { status: 403, message: 'This auth token is not yours.' },

  // Subscription
  ERR_PLAN_RESTRICTION: { status: 403, message: 'This feature is not available here.' },
  ERR_SUBSCRIPTION_EXPIRED: { status: 402, message: 'The subscription has expired.' },
  ERR_PLAN_QUOTA_RESTRICTION: { status: 403, message: 'The limit has been reached.' },

  // Roles
  ERR_ROLE_NOT_FOUND: { status: 404, message: 'This role does not exist.' },
  ERR_ROLE_DELETE_FAILED: { status: 500, message: 'The role could not be deleted.' },
  ERR_ROLE_DELETE_DENIED: { status: 403, message: 'The default role cannot be deleted.' },

  // Users
  ERR_UID_NOT_FOUND: { status: 404, message: 'This user does not exist.' },
  ERR_UID_ALREADY_EXISTS: { status: 409, message: 'A user with this ID already exists.' },
  ERR_EXPORT_NOT_FOUND: { status: 404, message: 'There is no copy of the data of this user.' },
  ERR_ERASURE_NOT_FOUND: { status: 404, message: 'Nobody with this ID was erased.' },
  ERR_EXPORT_ALREADY_ASKED: {
    status: 409,
    message: 'You have asked for your data already. Please try again tomorrow.',
  },
  ERR_UID_DELETE_FAILED: { status: 500, message: 'The user could not be deleted.' },

  // Bots
  ERR_BOT_NOT_FOUND: { status: 404, message: 'This bot does not exist.' },
  ERR_BOT_ALREADY_EXISTS: { status: 409, message: 'A bot with this ID already exists.' },

  // Groups
  ERR_GUID_NOT_FOUND: { status: 404, message: 'This group does not exist.' },
  ERR_GUID_ALREADY_EXISTS: { status: 409, message: 'A group with this ID already exists.' },
  ERR_EMPTY_GROUP_PASS: { status: 400, message: 'This group requires a password.' },
  ERR_GROUP_DELETE_FAILED: { status: 500, message: 'The group could not be deleted.' },
  ERR_NOT_A_MEMBER: { status: 400, message: 'This user is not a member of the group.' },
  ERR_WRONG_GROUP_PASS: { status: 403, message: 'The group password is wrong.' },
  ERR_ALREADY_JOINED: { status: 409, message: 'This user is already a member of the group.' },
  ERR_GROUP_NOT_JOINED: { status: 403, message: 'You are not a member of this group.' },
  ERR_GROUP_JOIN_NOT_ALLOWED: { status: 403, message: 'This group can only be joined by invitation.' },
  ERR_MEMBER_DELETE_FAILED: { status: 500, message: 'The member could not be removed.' },
  ERR_NO_VACANCY: { status: 403, message: 'The group is full.' },
  ERR_SAME_SCOPE: { status: 400, message: 'The member already has this scope.' },
  ERR_MEMBER_SCOPE_CHANGE_FAILED: { status: 500, message: "The member's scope could not be changed." },
  ERR_NOT_A_BANNED_USER: { status: 400, message: 'This user is not banned from the group.' },
  ERR_BANNED_GROUPMEMBER: { status: 403, message: 'This user is banned from the group.' },
  ERR_ALREADY_BANNED: { status: 409, message: 'This user is already banned from the group.' },
  ERR_MEMBER_BAN_FAILED: { status: 500, message: 'The user could not be banned.' },
  ERR_MEMBER_UNBAN_FAILED: { status: 500, message: 'The user could not be unbanned.' },
  ERR_GROUP_NO_CLEARANCE: { status: 403, message: 'Your role in this group does not allow that.' },
  ERR_GROUP_NO_ADMIN_SCOPE: { status: 403, message: 'Only group admins can do that.' },
  ERR_GROUP_NO_MODERATOR_SCOPE: { status: 403, message: 'Only group moderators can do that.' },
  ERR_GROUP_NO_SCOPE_CLEARANCE: { status: 403, message: 'You cannot change the scope of this member.' },
  ERR_GROUP_NO_SELF_ACTION: { status: 403, message: 'You cannot do that to yourself.' },

  // Messages and conversations
  ERR_EMPTY_RECEIVER: { status: 400, message: 'The message has no receiver.' },
  ERR_INVALID_RECEIVER_TYPE: { status: 400, message: 'The receiver of a message must be a user or a group.' },
  ERR_CONVERSATION_NOT_FOUND: { status: 404, message: 'This conversation does not exist.' },
  ERR_HOLD_NOT_FOUND: { status: 404, message: 'This is not on hold.' },
  ERR_CONVERSATION_NOT_ACCESSIBLE: { status: 403, message: 'You do not have access to this conversation.' },
  ERR_USER_MESSAGE_DELETE_FAILED: { status: 500, message: 'The message could not be deleted.' },
  ERR_MESSAGE_ID_NOT_FOUND: { status: 404, message: 'This message does not exist.' },
  // The contract also uses this name for ERR_MESSAGE_ID_NOT_FOUND; this service returns only the latter.
  ERR_MSG_NOT_FOUND: { status: 404, message: 'This message does not exist.' },
  ERR_INVALID_MESSAGE_DATA: { status: 400, message: 'The message content is not valid.' },
  ERR_EMPTY_MESSAGE_TEXT: { status: 400, message: 'The message has no text.' },
  ERR_INVALID_MESSAGE_TEXT: { status: 400, message: 'The message text is not valid.' },
  ERR_EMPTY_MESSAGE_CATEGORY: { status: 400, message: 'The message has no category.' },
  ERR_INVALID_MESSAGE_CATEGORY: { status: 400, message: 'The message category is not valid.' },
  ERR_EMPTY_MESSAGE_TYPE: { status: 400, message: 'The message has no type.' },
  ERR_INVALID_MESSAGE_TYPE: { status: 400, message: 'The message type is not valid.' },
  ERR_EMPTY_MESSAGE_FILE: { status: 400, message: 'The message has no file.' },
  ERR_MESSAGE_NOT_A_SENDER: { status: 403, message: 'Only the sender of the message can do that.' },
  ERR_MESSAGE_NO_ACCESS: { status: 403, message: 'You do not have access to this message.' },
  ERR_MESSAGE_ACTION_NOT_ALLOWED: { status: 403, message: 'This message cannot be edited or deleted.' },
  ERR_EMPTY_CUSTOM_DATA: { status: 400, message: 'The message has no custom data.' },
  ERR_INVALID_CUSTOM_DATA: { status: 400, message: "The message's custom data is not valid." },
  ERR_INVALID_MEDIA_MESSAGE: { status: 400, message: "The message's media is not valid." },
  ERR_INVALID_METADATA: { status: 400, message: 'The metadata is not valid.' },
  ERR_WRONG_MESSAGE_THREAD: { status: 400, message: 'The thread belongs to another conversation.' },
  ERR_MESSAGE_THREAD_NESTING: { status: 400, message: 'A reply cannot start a thread of its own.' },
  ERR_WRONG_MESSAGE_THREAD_CATEGORY: { status: 400, message: 'Messages of this kind cannot have replies.' },
  ERR_PINNED_MESSAGES_LIMIT_EXCEEDED: { status: 400, message: 'No more messages can be pinned in this conversation.' },
  ERR_SAVED_MESSAGES_LIMIT_EXCEEDED: { status: 400, message: 'No more messages can be saved.' },
  ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED: { status: 400, message: 'No more conversations can be pinned.' },
  ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED: {
    status: 400,
    message: 'No more conversations can be pinned for everyone.',
  },
  ERR_SYSTEM_PINNED_CONVERSATION: { status: 403, message: 'This conversation is pinned for everyone.' },

  // Calls
  ERR_CALLING_SELF: { status: 400, message: 'You cannot call yourself.' },
  ERR_CALL_BUSY_SELF: { status: 400, message: 'You are already in a call.' },
  ERR_CALL_BUSY_GROUP: { status: 409, message: 'The group is already in a call.' },
  ERR_CALL_BUSY_USER: { status: 409, message: 'This user is in another call.' },
  ERR_EMPTY_CALL_SESSION_ID: { status: 400, message: 'The call session ID is missing.' },
  ERR_CALL_SESSION_NOT_FOUND: { status: 404, message: 'This call does not exist.' },
  ERR_CALL_TERMINATED: { status: 409, message: 'The call has ended.' },
  ERR_CALL_GROUP_ALREADY_JOINED: { status: 409, message: 'You have already joined this call.' },
  ERR_CALL_GROUP_ALREADY_LEFT: { status: 409, message: 'You have already left this call.' },
  ERR_CALL_INVALID_INIT: { status: 400, message: 'An existing call cannot be started again.' },
  ERR_CALL_USER_ALREADY_JOINED: { status: 409, message: 'This user has already joined the call.' },
  ERR_CALL_GROUP_INVALID_STATUS: { status: 400, message: 'A group call cannot have that status.' },
  ERR_CALL_ONGOING_TO_INVALID: { status: 409, message: 'An ongoing call cannot change to that status.' },
  ERR_CALL_NOT_A_PART: { status: 403, message: 'You are not part of this call.' },
  ERR_CALL_EMPTY_JOINED_AT: { status: 400, message: 'The time the call was joined is missing.' },
  ERR_CALL_NOT_STARTED: { status: 409, message: 'The call has not started.' },

  // Friends
  ERR_ALREADY_FRIEND: { status: 409, message: 'These users are already friends.' },
  ERR_NOT_A_FRIEND: { status: 400, message: 'These users are not friends.' },
  ERR_CANNOT_FORM_SELF_RELATION: { status: 400, message: 'You cannot be friends with yourself.' },
  ERR_FAILED_TO_ADD_FRIEND: { status: 500, message: 'The friend could not be added.' },

  // Blocking
  ERR_CANNOT_BLOCK_SELF: { status: 400, message: 'You cannot block yourself.' },
  ERR_BLOCKED_RECEIVER: { status: 403, message: 'You have blocked this user.' },
  ERR_BLOCKED_SENDER: { status: 403, message: 'This user cannot be reached.' },

  // Permissions
  ERR_PERMISSION_DENIED: { status: 403, message: 'You are not allowed to do that.' },

  // Extensions and webhooks
  ERR_EXTENSION_NOT_FOUND: { status: 404, message: 'This extension does not exist.' },
  ERR_BLOCKED_BY_EXTENSION: { status: 403, message: 'The message was blocked.' },
  ERR_WEBHOOK_NOT_FOUND: { status: 404, message: 'This webhook does not exist.' },
  ERR_TRIGGER_NOT_FOUND: { status: 404, message: 'This trigger does not exist.' },
  ERR_BLOCKED_BY_WEBHOOK: { status: 403, message: 'The message was rejected.' },

  // Moderation
  ERR_RULE_ALREADY_EXISTS: { status: 409, message: 'A moderation rule with this ID already exists.' },
  ERR_KEYWORD_ALREADY_EXISTS: { status: 409, message: 'A list with this ID already exists.' },
  ERR_REASON_ALREADY_EXISTS: { status: 409, message: 'A reason with this ID already exists.' },
  ERR_DRY_RUN_NOT_FOUND: { status: 404, message: 'This rule has not been tried on messages yet.' },
  ERR_RULE_NOT_FOUND: { status: 404, message: 'This moderation rule does not exist.' },
  ERR_KEYWORD_NOT_FOUND: { status: 404, message: 'This list does not exist.' },
  ERR_REASON_NOT_FOUND: { status: 404, message: 'This reason does not exist.' },
  ERR_NOTE_NOT_FOUND: { status: 404, message: 'This note does not exist.' },
  ERR_MESSAGE_ALREADY_REVIEWED: { status: 409, message: 'Another reviewer has already decided about this message.' },
  ERR_MESSAGE_ALREADY_CLAIMED: { status: 409, message: 'Another reviewer is looking at this message.' },
  ERR_MESSAGE_NOT_RELEASED: { status: 403, message: 'This message may not be sent any more.' },

  // Notifications
  ERR_PROVIDER_NOT_FOUND: { status: 404, message: 'This provider is not set up.' },
  ERR_PROVIDER_ALREADY_EXISTS: { status: 409, message: 'This provider is already set up.' },
  ERR_TOKEN_NOT_FOUND: { status: 404, message: 'This device is not registered.' },
  ERR_TOKEN_ALREADY_EXISTS: { status: 409, message: 'This device is already registered.' },

  // Data import
  ERR_IMPORT_UID_ERASED: { status: 409, message: 'This user was erased.' },
  ERR_IMPORT_MUID_ERASED: { status: 409, message: 'This message was erased with a user.' },
  ERR_IMPORT_MUID_ALREADY_EXISTS: { status: 409, message: 'This message has already been imported.' },
  ERR_IMPORT_INVALID_MESSAGE_FORMAT: { status: 400, message: 'The messages are not in the import format.' },
  ERR_IMPORT_INVALID_USER_FORMAT: { status: 400, message: 'The users are not in the import format.' },
  ERR_IMPORT_INVALID_MEMBER_FORMAT: { status: 400, message: 'The members are not in the import format.' },
  ERR_IMPORT_INVALID_GROUP_FORMAT: { status: 400, message: 'The groups are not in the import format.' },
  ERR_IMPORT_INVALID_RECORD_FORMAT: { status: 400, message: 'The records are not in the import format.' },
  ERR_IMPORT_ALREADY_EXISTS: { status: 409, message: 'This is there already.' },
  ERR_IMPORT_INVALID_JOINEDAT: { status: 400, message: 'The join time is not valid.' },

  // General
  ERR_INVALID_API_VERSION: { status: 400, message: 'This version of the API does not exist.' },
  ERR_API_NOT_FOUND: { status: 404, message: 'There is nothing at this URL.' },
  ERR_MISSION_FAILED: { status: 503, message: 'The service is temporarily unavailable. Please try again.' },
  ERR_BAD_REQUEST: { status: 400, message: 'The request is not valid.' },
  ERR_OPERATION_FAILED: { status: 500, message: 'The operation failed. Please try again.' },
  ERR_EXCEPTION: { status: 500, message: 'Something went wrong. Please try again.' },
  ERR_TOO_MANY_REQUESTS: { status: 429, message: 'Too many requests. Please wait a moment.' },
  ERR_BAD_ERROR_RESPONSE: { status: 500, message: 'Something went wrong.' },

  // WebSocket
  ERR_WS_INIT_FAILED: { status: 500, message: 'The real-time service could not start.' },
  ERR_WS_APP_INIT_FAILED: { status: 500, message: 'The app could not be added to the real-time service.' },
  ERR_WS_APP_DESTROY_FAILED: { status: 500, message: 'The app could not be removed from the real-time service.' },
  ERR_WS_ROLE_CREATION_FAILED: { status: 500, message: 'The role could not be added to the real-time service.' },
  ERR_WS_ROLE_DELETION_FAILED: { status: 500, message: 'The role could not be removed from the real-time service.' },
  ERR_WS_USER_CREATION_FAILED: { status: 500, message: 'The user could not be added to the real-time service.' },
  ERR_WS_USER_UPDATION_FAILED: { status: 500, message: 'The user could not be updated in the real-time service.' },
  ERR_WS_GROUP_CREATION_FAILED: { status: 500, message: 'The group could not be added to the real-time service.' },
  ERR_WS_GROUP_DELETION_FAILED: { status: 500, message: 'The group could not be removed from the real-time service.' },
  ERR_WS_GROUP_JOIN_FAILED: { status: 500, message: 'The group could not be joined in the real-time service.' },

  // Management
  ERR_APP_CREATION_FAILED_MAX_LIMIT: { status: 400, message: 'No more apps can be created.' },
  ERR_APP_ARCHIVED: { status: 403, message: 'This app is archived.' },
  ERR_APP_DELETION: { status: 500, message: 'The app could not be deleted.' },
  ERR_APP_NOT_FOUND: { status: 404, message: 'This app does not exist.' },
  ERR_EXTENSION_INACTIVE: { status: 409, message: 'This extension is switched off.' },
  ERR_ALREADY_AN_OWNER: { status: 409, message: 'This user is already the owner.' },
  ERR_SELF_ACTION_DENIED: { status: 403, message: 'You cannot do this to yourself.' },
  ERR_NOT_A_COLLABORATOR: { status: 400, message: 'This user is not a collaborator.' },

  // Client SDKs: files and sessions
  ERR_INVALID_FILE_OBJECT: { status: 400, message: 'The file is not valid.' },
  ERR_FILE_SIZE_EXCEEDED: { status: 400, message: 'The file is too large.' },
  ERR_FILE_COUNT_EXCEEDED: { status: 400, message: 'There are too many files.' },
  ERR_S3_UPLOAD_FAILED: { status: 500, message: 'The file could not be stored.' },
  ERR_PRESIGNED_URL_EXPIRED: { status: 403, message: 'The link has expired.' },
  ERR_UPLOAD_STALLED: { status: 408, message: 'The upload stalled.' },
  ERR_SETTINGS_HASH_OUTDATED: { status: 409, message: 'The settings have changed. Please reload them.' },
  ERR_NO_AUTH: { status: 401, message: 'Please log in.' },

  // Campaigns
  ERR_TEMPLATE_NOT_FOUND: { status: 404, message: 'This template does not exist.' },
  ERR_CHANNEL_NOT_FOUND: { status: 404, message: 'This channel does not exist.' },
  ERR_FEED_ITEM_NOT_FOUND: { status: 404, message: 'This item does not exist.' },
  ERR_VALIDATION: { status: 400, message: 'Some of the data is not valid.' },
  ERR_UNAUTHORIZED: { status: 401, message: 'You are not authorized.' },
  ERR_NOT_FOUND: { status: 404, message: 'Not found.' },
  ERR_CONFLICT: { status: 409, message: 'This conflicts with existing data.' },
  ERR_INTERNAL: { status: 500, message: 'An internal error occurred.' },

  // Beyond the contract, which has no codes for these cases
  ERR_ROLE_ALREADY_EXISTS: { status: 409, message: 'A role with this ID already exists.' },
  ERR_WEBHOOK_ALREADY_EXISTS: { status: 409, message: 'A webhook with this ID already exists.' },
  ERR_DELIVERY_NOT_FOUND: { status: 404, message: 'This delivery does not exist.' },

  // The admin API
  ERR_OPERATOR_NOT_FOUND: { status: 404, message: 'This operator does not exist.' },
  ERR_OPERATOR_ALREADY_EXISTS: { status: 409, message: 'There is an operator with this e-mail address already.' },
  ERR_LAST_OWNER: { status: 409, message: 'The last owner must stay one.' },
  ERR_LINK_NOT_FOUND: { status: 404, message: 'This link is not valid any more.' },
  ERR_SESSION_NOT_FOUND: { status: 404, message: 'This session does not exist.' },
  ERR_WRONG_PASSWORD: { status: 401, message: 'The e-mail address or the password is wrong.' },
  ERR_OPERATOR_CODE_REQUIRED: { status: 401, message: 'The code of your authenticator app is required.' },
  ERR_WRONG_OPERATOR_CODE: { status: 401, message: 'The code is wrong.' },
  ERR_NO_SIGN_IN_PROVIDER: { status: 404, message: 'No OpenID Connect provider is set up.' },
  ERR_SIGN_IN_NOT_FOUND: { status: 404, message: 'This sign-in is not valid any more. Please begin again.' },
  ERR_SIGN_IN_REFUSED: { status: 401, message: 'The sign-in at the provider was not successful.' },
  ERR_SIGN_IN_PROVIDER_UNAVAILABLE: {
    status: 503,
    message: 'The OpenID Connect provider did not answer as it should.',
  },
  ERR_NOT_INVITED: { status: 403, message: 'There is no invitation for you.' },
  ERR_OPERATOR_DISABLED: { status: 403, message: 'This account is disabled.' },
  ERR_IDENTITY_NOT_FOUND: { status: 404, message: 'This account is not linked.' },
  ERR_IDENTITY_ALREADY_EXISTS: { status: 409, message: 'This account is linked already.' },
  ERR_READING_REQUIRED: { status: 403, message: 'Give a reason before you read this.' },
  ERR_DOCTOR_RUNS: { status: 409, message: 'The doctor is running already.' },
  ERR_APP_ALREADY_EXISTS: { status: 409, message: 'An app with this ID already exists.' },
  ERR_APP_ALREADY_PAUSED: { status: 409, message: 'This app is paused already.' },
  ERR_APP_NOT_PAUSED: { status: 409, message: 'This app is not paused.' },
  ERR_APP_ALREADY_DELETED: { status: 409, message: 'This app is already scheduled for deletion.' },
  ERR_APP_NOT_DELETED: { status: 409, message: 'This app is not scheduled for deletion.' },
  ERR_DEFAULT_APP_DELETE_DENIED: { status: 403, message: 'The default app cannot be deleted.' },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof errors

/** What failed validation: `path` is the place in the request (`body/data/text`), `message` says what is wrong with it. */
const ErrorDetailSchema = Type.Object({ path: Type.String(), message: Type.String() })

export type ErrorDetail = Static<typeof ErrorDetailSchema>

/** The JSON body of every response other than 200, and of every failed item in a bulk response. */
export const ErrorBodySchema = Type.Object({
  error: Type.Object({
    code: Type.Unsafe<ErrorCode>(
      Type.String({ description: 'Stable; the code for programs to check. docs/api.md lists all codes.' }),
    ),
    message: Type.String({ description: 'A text for end users.' }),
    devMessage: Type.String({ description: 'A text for developers, with the IDs and fields involved.' }),
    source: Type.Literal('chat-api'),
    details: Type.Optional(Type.Array(ErrorDetailSchema, { description: 'The fields that failed validation.' })),
  }),
})

export type ErrorBody = Static<typeof ErrorBodySchema>

/**
 * An error with a code of the contract. It is thrown where the problem is found and turned into a response in one
 * place. `message` is the text for end users; `devMessage` says the same for developers, with ids.
 */
export class ApiError extends Error {
  readonly code: ErrorCode
  /** HTTP status: the status of the code, unless the caller gave another. */
  readonly status: number
  readonly devMessage: string
  readonly details: readonly ErrorDetail[] | undefined
  /** Seconds after which the client may try again, if the error says so (header `Retry-After`). */
  retryAfterSeconds: number | undefined

  /** `status` is only for `ERR_BAD_REQUEST`, which is also used for bodies that are too large or not JSON. */
  constructor(code: ErrorCode, devMessage?: string, details?: readonly ErrorDetail[], status?: 413 | 415) {
    super(errors[code].message)
    this.name = 'ApiError'
    this.code = code
    this.status = status ?? errors[code].status
    this.devMessage = devMessage ?? errors[code].message
    this.details = details
  }

  /** Says after how many seconds the client may try again. */
  retryAfter(seconds: number): this {
    this.retryAfterSeconds = seconds
    return this
  }

  /** The error as the JSON body of a response. */
  toBody(): ErrorBody {
    const { code, message, devMessage, details } = this
    return { error: { code, message, devMessage, source: 'chat-api', ...(details && { details: [...details] }) } }
  }
}

const maxDetailLength = 300

/**
 * The 400 for a request with invalid fields; `devMessage` names the first few.
 * @param code if one of them has a code of its own
 */
export function badRequest(flaws: readonly ErrorDetail[], code: ErrorCode = 'ERR_BAD_REQUEST'): ApiError {
  const details = flaws.map(({ path, message }) => ({ path: clip(path), message: clip(message) }))
  const devMessage = details
    .slice(0, 3)
    .map(({ path, message }) => `${path} ${message}`)
    .join('; ')
  return new ApiError(code, devMessage, details)
}

/** The 400 `ERR_BAD_REQUEST` for a limit of an app without a code of its own. @param what in the plural: `webhooks` */
export function appLimitReached(limit: number, what: string): ApiError {
  return new ApiError('ERR_BAD_REQUEST', `This app can have at most ${limit} ${what}.`)
}

/** The 400 `ERR_BAD_REQUEST` for a request that names too many users. @param path where they are listed */
export function tooManyUsers(path: string, named: number, most: number): ApiError {
  const message = `names ${named} users; at most ${most} are allowed`
  return new ApiError('ERR_BAD_REQUEST', `The request ${message}.`, [{ path, message }])
}

/** Shortens what the client sent before it is quoted in an error. */
function clip(text: string): string {
  return text.length <= maxDetailLength ? text : `${text.slice(0, maxDetailLength).toWellFormed()}…`
}
