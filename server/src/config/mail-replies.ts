import { flawOfReplyMailbox } from '@parley/contract'

/** Replies to e-mails that reach the operator's own mail server, which hands them on. */
export interface MailReplies {
  /** Where they go, before a token is added: `reply@example.com`. */
  readonly address: string
  /** By which the mail server shows that it is the one. */
  readonly secret: string
}

const shortestSecret = 20

/** Reads `MAIL_REPLY_ADDRESS` and `MAIL_REPLY_SECRET`. @returns undefined without them: no replies are taken */
export function readMailReplies(
  value: (name: string) => string | undefined,
  problems: string[],
): MailReplies | undefined {
  const [address, secret] = [value('MAIL_REPLY_ADDRESS'), value('MAIL_REPLY_SECRET')]
  if (address === undefined && secret === undefined) return undefined
  if (address === undefined || secret === undefined) {
    problems.push('MAIL_REPLY_ADDRESS and MAIL_REPLY_SECRET belong together: set both')
    return undefined
  }
  if (!/^[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+$/.test(address)) {
    problems.push(`MAIL_REPLY_ADDRESS must be an address such as reply@example.com; it is "${address}"`)
    return undefined
  }
  const flaw = flawOfReplyMailbox(address)
  if (flaw !== undefined) problems.push(`MAIL_REPLY_ADDRESS ${flaw}`)
  if (!/^[\x21-\x7e]+$/.test(secret) || secret.length < shortestSecret) {
    problems.push(`MAIL_REPLY_SECRET must be at least ${shortestSecret} characters without blanks`)
  }
  return { address, secret }
}
