import type { Message, NotificationSettings, UnreadChannel } from '@parley/contract'
import type { GroupRow } from '../../../chat/groups/rows.ts'
import { cut } from '../../../chat/messages/cut.ts'
import { fillLoosely } from '../../../chat/notifications/template.ts'
import { showUserOrDeleted, type UserRow } from '../../../chat/users/rows.ts'
import { forPush } from '../message-object.ts'
import { wordsOfMessage } from '../words.ts'
import type { ListedMessage, UnreadNotification } from './notification.ts'
import { cutSms } from './sms.ts'

/** Everything that one e-mail or SMS is made of. */
export interface Unread {
  readonly channel: UnreadChannel
  readonly uid: string
  readonly address: string | undefined
  /** Oldest first. */
  readonly messages: readonly Message[]
  /** How many there are, listed or not. */
  readonly announced: number
  readonly unread: number
  /** Undefined of a one-to-one conversation. */
  readonly group: GroupRow | undefined
  readonly users: ReadonlyMap<string, UserRow>
  readonly settings: NotificationSettings
  readonly isPrivate: boolean
  readonly smsMaxSegments: number
}

/** Characters of one message, and of a subject. */
const longest = { message: 2_000, subject: 200 }

export function contentOf(unread: Unread): UnreadNotification {
  const { channel, uid, address, messages, settings, isPrivate, group, users } = unread
  const version = isPrivate ? 'Privacy' : 'Default'
  const person = (of: string) => personOf(of, users)
  const last = messages.at(-1)
  const between = {
    to: { ...person(uid), ...(address !== undefined && { address }) },
    ...(group === undefined && last !== undefined && { senderDetails: person(last.sender) }),
    ...(group !== undefined && { groupDetails: groupOf(group) }),
  }
  const values = { ...between, messages: { length: unread.announced }, unreadMessageCount: unread.unread }
  const named = (template: string) => fillLoosely(template, values)
  const [mail, sms] = [
    settings.templates[`emailSubjectTemplate${version}`],
    settings.templates[`smsContentTemplate${version}`],
  ]
  const [subject, text] =
    group === undefined ? [mail.subjectOneOnOne, sms.bodyOneOnOne] : [mail.subjectGroup, sms.bodyGroup]
  return {
    channel,
    ...between,
    messages: messages.map((message) => listed(message, unread, person(message.sender))),
    unread: unread.unread,
    ...(channel === 'email'
      ? { subject: cut(onOneLine(named(subject ?? '')), longest.subject) }
      : { smsContent: cutSms(withoutControls(named(text ?? '')).trim(), unread.smsMaxSegments) }),
  }
}

function listed(
  message: Message,
  { uid, settings, isPrivate, group, channel }: Unread,
  sender: ListedMessage['sender'],
) {
  const reading = { templates: settings.templates, isPrivate, isGroup: group !== undefined }
  const files = isPrivate ? [] : namesOfFiles(message)
  const object = isPrivate ? {} : forPush(message, { ...settings.preferences[channel], ...whole }).message
  return {
    sender,
    message: cut(wordsOfMessage(message, uid, reading).body, longest.message),
    ...(files.length > 0 && { attachments: files }),
    sentAt: message.sentAt * 1000,
    ...(object !== undefined && !isPrivate && { messageObject: object }),
  } satisfies ListedMessage
}

/** Texts are shortened for pushes alone, which have little room. */
const whole = { trimTextFieldSetting: false, customJson: {} }

function personOf(uid: string, users: ReadonlyMap<string, UserRow>): ListedMessage['sender'] {
  const { uid: shown, name, avatar } = showUserOrDeleted(uid, users.get(uid))
  return { uid: shown, name, ...(avatar && { avatar }) }
}

function groupOf({ guid, name, icon }: GroupRow) {
  return { guid, name, ...(icon && { icon }) }
}

function namesOfFiles({ data }: Message): string[] {
  const files = Array.isArray(data.attachments) ? data.attachments : []
  return files.flatMap((file) => {
    const name = (file as { name?: unknown } | null)?.name
    return typeof name === 'string' && name !== '' ? [cut(onOneLine(name), longest.subject)] : []
  })
}

/** What goes into a header: whoever puts a line's end into their name writes no header of their own. */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}

/** Ends of lines may stay. */
function withoutControls(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n]/gu, '')
}
