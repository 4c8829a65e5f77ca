import { describe, expect, test } from 'vitest'
import {
  type MessageKind,
  messageSendDenial,
  type Permissions,
  permissionAllows,
  permissionList,
} from '../src/permissions.ts'

const text: MessageKind = { category: 'message', type: 'text', mimeTypes: [] }
const poll: MessageKind = { category: 'custom', type: 'extension_poll', mimeTypes: [] }
const form: MessageKind = { category: 'interactive', type: 'form', mimeTypes: [] }
const files = (...mimeTypes: string[]): MessageKind => ({ category: 'message', type: 'file', mimeTypes })

describe('a permission', () => {
  test('takes its default only while nothing is set', () => {
    expect(permissionAllows({}, 'ban', 'deny')).toBe(false)
    expect(permissionAllows({}, 'ban', 'allow')).toBe(true)
    expect(permissionAllows({ ban: 'allow' }, 'ban', 'deny')).toBe(true)
    expect(permissionAllows({ ban: 'deny' }, 'ban', 'allow')).toBe(false)
  })

  test('refuses on anything that it does not know', () => {
    expect(permissionAllows({ ban: 'Allow' }, 'ban', 'allow')).toBe(false)
    expect(permissionAllows({ ban: ['allow'] }, 'ban', 'allow')).toBe(false)
  })

  test('leaves it to the caller to ask for friends', () => {
    expect(permissionAllows({ initiateCall: 'friends' }, 'initiateCall', 'deny')).toBe(true)
  })
})

describe('a list of a permission', () => {
  test.each([
    [undefined, null],
    [[], null],
    ['participant', ['participant']],
    ['admin,moderator', ['admin', 'moderator']],
    [' admin , moderator ,', ['admin', 'moderator']],
    [
      ['admin', 'moderator'],
      ['admin', 'moderator'],
    ],
  ])('set to %j restricts to %j', (value, expected) => {
    const explicit: Permissions = value === undefined ? {} : { 'listMembers.allowedScopes': value }
    expect(permissionList(explicit, 'listMembers.allowedScopes')).toEqual(expected)
  })

  test('names roles in lower case and leaves other values alone', () => {
    expect(permissionList({ 'listUsers.allowedRoles': ['Teacher'] }, 'listUsers.allowedRoles')).toEqual(['teacher'])
    expect(permissionList({ 'sendMessage.allowedCustomTypes': 'Poll' }, 'sendMessage.allowedCustomTypes')).toEqual([
      'Poll',
    ])
  })

  test('does not split the values of an array', () => {
    expect(permissionList({ 'sendMessage.allowedCustomTypes': ['a,b'] }, 'sendMessage.allowedCustomTypes')).toEqual([
      'a,b',
    ])
  })
})

describe('sending a message', () => {
  test.each<[string, Permissions, MessageKind, string | undefined]>([
    ['nothing is set', {}, text, undefined],
    ['sending is denied', { sendMessage: 'deny' }, text, 'sendMessage'],
    ['only replies are denied', { sendThreadedMessage: 'deny' }, text, undefined],
    [
      'the category is not listed',
      { 'sendMessage.allowedMessageCategories': ['custom'] },
      text,
      'sendMessage.allowedMessageCategories',
    ],
    ['the category is listed', { 'sendMessage.allowedMessageCategories': 'message,custom' }, text, undefined],
    [
      'the category is none of those that can be listed',
      { 'sendMessage.allowedMessageCategories': ['message', 'custom'] },
      form,
      'sendMessage.allowedMessageCategories',
    ],
    ['no category is listed', { 'sendMessage.allowedMessageCategories': [] }, form, undefined],
    [
      'the type is not listed',
      { 'sendMessage.allowedMessageTypes': ['image'] },
      text,
      'sendMessage.allowedMessageTypes',
    ],
    ['types are listed, but the message is custom', { 'sendMessage.allowedMessageTypes': ['image'] }, poll, undefined],
    [
      'the custom type is not listed',
      { 'sendMessage.allowedCustomTypes': 'note' },
      poll,
      'sendMessage.allowedCustomTypes',
    ],
    [
      'custom types are listed, but the message is not custom',
      { 'sendMessage.allowedCustomTypes': 'x' },
      text,
      undefined,
    ],
    ['mime types are listed, but nothing is attached', { 'sendMessage.mimeTypes': ['image/png'] }, text, undefined],
    ['every attachment is listed', { 'sendMessage.mimeTypes': 'image/png,image/gif' }, files('image/gif'), undefined],
    [
      'one attachment is not listed',
      { 'sendMessage.mimeTypes': ['image/png'] },
      files('image/png', 'text/html'),
      'sendMessage.mimeTypes',
    ],
    ['an attachment has no mime type', { 'sendMessage.mimeTypes': ['image/png'] }, files(''), 'sendMessage.mimeTypes'],
    [
      'one attachment is on the black list',
      { 'sendMessage.mimeTypeAccessControl': 'deny', 'sendMessage.mimeTypes': ['text/html'] },
      files('image/png', 'text/html'),
      'sendMessage.mimeTypes',
    ],
    [
      'no attachment is on the black list',
      { 'sendMessage.mimeTypeAccessControl': 'deny', 'sendMessage.mimeTypes': ['text/html'] },
      files('image/png'),
      undefined,
    ],
    [
      'the black list is empty',
      { 'sendMessage.mimeTypeAccessControl': 'deny', 'sendMessage.mimeTypes': [] },
      files('image/png'),
      undefined,
    ],
    ['the white list is empty', { 'sendMessage.mimeTypeAccessControl': 'allow' }, files('image/png'), undefined],
    [
      'the older white list lacks an attachment',
      { 'sendMessage.allowedMimeTypes': ['image/png'] },
      files('text/html'),
      'sendMessage.allowedMimeTypes',
    ],
    ['the older white list has it', { 'sendMessage.allowedMimeTypes': ['image/png'] }, files('image/png'), undefined],
    ['a listed kind covers it', { 'sendMessage.mimeTypes': ['image/*'] }, files('image/webp'), undefined],
    [
      'mime types differ in case and parameters',
      { 'sendMessage.mimeTypes': 'Text/Plain' },
      files('text/plain; charset=utf-8'),
      undefined,
    ],
    [
      'a black list is not dodged by upper case',
      { 'sendMessage.mimeTypeAccessControl': 'deny', 'sendMessage.mimeTypes': ['text/html'] },
      files('TEXT/HTML;x=1'),
      'sendMessage.mimeTypes',
    ],
    [
      'the category is refused before the type',
      { 'sendMessage.allowedMessageTypes': ['image'], 'sendMessage.allowedMessageCategories': ['custom'] },
      text,
      'sendMessage.allowedMessageCategories',
    ],
  ])('when %s', (_case, explicit, message, expected) => {
    expect(messageSendDenial(explicit, 'sendMessage', message, true)).toBe(expected)
  })

  test('falls back on the default of the caller', () => {
    expect(messageSendDenial({}, 'sendMessage', text, false)).toBe('sendMessage')
    expect(messageSendDenial({ sendMessage: 'allow' }, 'sendMessage', text, false)).toBeUndefined()
  })

  test('goes by keys of its own in a thread', () => {
    const explicit = { sendMessage: 'deny', 'sendThreadedMessage.allowedMessageTypes': ['image'] }
    expect(messageSendDenial(explicit, 'sendThreadedMessage', text, true)).toBe(
      'sendThreadedMessage.allowedMessageTypes',
    )
    expect(messageSendDenial(explicit, 'sendThreadedMessage', poll, true)).toBeUndefined()
  })
})
