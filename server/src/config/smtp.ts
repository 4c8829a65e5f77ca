/** The operator's own mail server. */
export interface SmtpSettings {
  /** `smtp://` or `smtps://`, with user and password where it wants them. */
  readonly url: string
  /** `chat@example.com` or `Chat <chat@example.com>`. */
  readonly from: string
}

/** Reads `SMTP_URL` and `MAIL_FROM`. The URL is repeated in no problem: it may have a password. */
export function readSmtp(
  url: string | undefined,
  from: string | undefined,
  problems: string[],
): SmtpSettings | undefined {
  if (url === undefined && from === undefined) return undefined
  if (url === undefined || from === undefined) {
    problems.push(`${url === undefined ? 'SMTP_URL' : 'MAIL_FROM'} is missing: SMTP_URL and MAIL_FROM go together`)
    return undefined
  }
  if (!/^smtps?:\/\/[^/\s]+/i.test(url) || !URL.canParse(url)) {
    problems.push('SMTP_URL must be the address of a mail server, such as smtp://user:password@mail.example.com:587')
  }
  if (!/^([^<>@\r\n]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/.test(from)) {
    problems.push(`MAIL_FROM must be an address such as Chat <chat@example.com>; it is "${from}"`)
  }
  return { url, from }
}
