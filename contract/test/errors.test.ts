import Value from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { ApiError, ErrorBodySchema, type ErrorCode, errors } from '../src/errors.ts'

const codes = Object.keys(errors) as ErrorCode[]

/**
 * The contract's rules for statuses, and that failures of our own are 500. The first that fits counts; a star stands
 * for any run of characters.
 */
const rules: [status: number, patterns: string[]][] = [
  [403, ['AUTH_ERR_NO_ACCESS']],
  [401, ['AUTH_ERR_*']],
  [
    403,
    [
      'ERR_NO_VACANCY',
      'ERR_PERMISSION_DENIED',
      'ERR_GROUP_NO_*',
      'ERR_GROUP_NOT_JOINED',
      'ERR_GROUP_JOIN_NOT_ALLOWED',
      'ERR_WRONG_GROUP_PASS',
      'ERR_BANNED_GROUPMEMBER',
      'ERR_MESSAGE_NO_ACCESS',
      'ERR_MESSAGE_NOT_A_SENDER',
      'ERR_MESSAGE_ACTION_NOT_ALLOWED',
      'ERR_BLOCKED_*',
      'ERR_CONVERSATION_NOT_ACCESSIBLE',
      'ERR_APIKEY_NO_SELF_ACTION',
      'ERR_ROLE_DELETE_DENIED',
      'ERR_SYSTEM_PINNED_CONVERSATION',
    ],
  ],
  [
    400,
    [
      'ERR_BAD_REQUEST',
      'ERR_EMPTY_*',
      'ERR_INVALID_*',
      '*_LIMIT_EXCEEDED',
      'ERR_WRONG_MESSAGE_THREAD*',
      'ERR_MESSAGE_THREAD_NESTING',
      'ERR_SAME_SCOPE',
      'ERR_*_SELF*',
      'ERR_NOT_A_*',
    ],
  ],
  [404, ['*_NOT_FOUND']],
  [409, ['*_ALREADY_*']],
  [429, ['ERR_TOO_MANY_REQUESTS']],
  [500, ['ERR_EXCEPTION', '*_FAILED']],
  [503, ['ERR_MISSION_FAILED']],
]

/** Exact names first, so that ERR_MISSION_FAILED is not taken for one of *_FAILED. */
function statusByRule(code: string): number | undefined {
  const fits = (pattern: string) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(code)
  const exact = rules.find(([, patterns]) => patterns.includes(code))
  return (exact ?? rules.find(([, patterns]) => patterns.some(fits)))?.[0]
}

describe('the table of errors', () => {
  test.each(codes.filter((code) => statusByRule(code)))('gives %s the status of its rule', (code) => {
    expect(errors[code].status).toBe(statusByRule(code))
  })

  test.each(rules.flatMap(([status, patterns]) => patterns.map((pattern) => [pattern, status] as const)))(
    'has a code for the rule %s',
    (pattern, status) => {
      const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}$`)
      expect(codes.filter((code) => expression.test(code) && errors[code].status === status)).not.toEqual([])
    },
  )

  test('holds nothing but error statuses', () => {
    expect(codes.filter((code) => errors[code].status < 400 || errors[code].status > 503)).toEqual([])
  })

  test('speaks to end users in whole sentences without codes, ids or names of fields', () => {
    const technical = /_|\bERR|\b(uid|guid|muid|onBehalfOf|null|undefined|database|exception|SQL)\b/
    expect(codes.filter((code) => technical.test(errors[code].message))).toEqual([])
    expect(codes.filter((code) => !/^[A-Z].*\.$/.test(errors[code].message))).toEqual([])
  })
})

describe('an ApiError', () => {
  test('says to developers what it says to users when there is nothing more to say', () => {
    const error = new ApiError('ERR_UID_NOT_FOUND')
    expect(error.status).toBe(404)
    expect(error.toBody()).toEqual({
      error: {
        code: 'ERR_UID_NOT_FOUND',
        message: errors.ERR_UID_NOT_FOUND.message,
        devMessage: errors.ERR_UID_NOT_FOUND.message,
        source: 'chat-api',
      },
    })
  })

  test('keeps ids out of the text for end users', () => {
    const { error } = new ApiError('ERR_GUID_NOT_FOUND', 'no group team').toBody()
    expect(error.devMessage).toBe('no group team')
    expect(error.message).not.toContain('team')
  })

  test('lists what failed validation', () => {
    const details = [{ path: 'body/name', message: 'must be a string' }]
    const body = new ApiError('ERR_BAD_REQUEST', 'body/name must be a string', details).toBody()
    expect(body.error.details).toEqual(details)
    expect(Value.Check(ErrorBodySchema, body)).toBe(true)
  })

  test('can be a bad request of another status', () => {
    const error = new ApiError('ERR_BAD_REQUEST', 'the body is larger than 1048576 bytes', undefined, 413)
    expect(error.status).toBe(413)
    expect(error.toBody().error.code).toBe('ERR_BAD_REQUEST')
  })

  test('is an Error with a stack', () => {
    const error = new ApiError('ERR_EXCEPTION')
    expect(error).toBeInstanceOf(Error)
    expect(error.stack).toContain('errors.test.ts')
  })
})
