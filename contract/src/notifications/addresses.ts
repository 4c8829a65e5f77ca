import { Type } from 'typebox'
import { limits } from '../limits.ts'

/** No blanks and no control characters, so that nothing of it can end a header. */
const mailbox = '[^\\s\\p{C}@<>()\\[\\],;:"\\\\]{1,64}'
const label = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?'

/** An e-mail address without a name. */
export const EmailAddress = Type.String({
  maxLength: 254,
  pattern: `^${mailbox}@${label}(?:\\.${label})*$`,
  description: 'An e-mail address',
})

/** A phone number as E.164 has it. */
export const PhoneNumber = Type.String({
  pattern: '^\\+[1-9][0-9]{5,14}$',
  description: 'A phone number with `+` and country code, digits only',
})

/** Text that stands in one line, such as the name of a sender: no control characters. */
export const oneLine = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[^\\p{Cc}\\u2028\\u2029]*$', ...(description && { description }) })

/** A key or token of a provider, which goes into a header. */
export const providerSecret = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[\\x21-\\x7e]*$', description })

/** What is wrong with a mailbox for replies, to which a token is added; undefined when nothing is. */
export function flawOfReplyMailbox(mailbox: string): string | undefined {
  const local = mailbox.slice(0, mailbox.lastIndexOf('@'))
  const { replyMailboxLength } = limits.notifications
  if (local.includes('+')) return 'must have no + before the @: what follows it is the token of a reply'
  if (local.length <= replyMailboxLength) return undefined
  return `must have at most ${replyMailboxLength} characters before the @, since a token is added`
}
