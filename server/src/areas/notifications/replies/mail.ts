import { badRequest, limits } from '@parley/contract'
import { convert } from 'html-to-text'
import PostalMime, { type Email } from 'postal-mime'

/** An e-mail that came in, as far as a reply is made of it. */
export interface IncomingMail {
  /** Addresses that it may have gone to. */
  readonly recipients: readonly string[]
  readonly text: string
  /** As its sender's program named it; the same when it comes twice. */
  readonly messageId: string | undefined
  /** Written by a program: an answer while somebody is away, a mail that could not be delivered. */
  readonly isAutomatic: boolean
}

const betweenAddresses = /[\s<>,;:"'()[\]]+/
const longestHeader = 10_000
/** As many as a mail server must take at once, and as long as an address can be (RFC 5321). */
const mostRecipients = 100
const longestAddress = 320

/** What looks like an address: an `@` with something on both sides of it. */
function addressesIn(header: string | undefined): string[] {
  const words = header?.slice(0, longestHeader).split(betweenAddresses) ?? []
  return words.filter((word) => {
    const at = word.indexOf('@', 1)
    return at > 0 && at < word.length - 1 && word.length <= longestAddress
  })
}

/** The first of them: for each a token is looked for. */
function recipientsIn(headers: ReadonlyArray<string | undefined>): string[] {
  const found: string[] = []
  for (const header of headers) {
    if (found.length >= mostRecipients) break
    found.push(...addressesIn(header))
  }
  return found.slice(0, mostRecipients)
}

/** Reads headers by their names in lower case. */
type Headers = ReadonlyMap<string, string>

function readHeaders(text: string): Headers {
  const lines = text.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)
  return new Map(
    lines.flatMap((line) => {
      const colon = line.indexOf(':')
      return colon < 1 ? [] : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const]
    }),
  )
}

/** RFC 3834, and what programs say that are older. @param sender of the envelope; '' for what cannot be answered */
function isAutomatic(headers: Headers, sender: string | undefined): boolean {
  const submitted = headers.get('auto-submitted')?.toLowerCase()
  return (
    sender?.trim() === '' ||
    headers.get('return-path') === '<>' ||
    (submitted !== undefined && !submitted.startsWith('no')) ||
    /^(bulk|junk|auto_reply)/i.test(headers.get('precedence') ?? '') ||
    /^multipart\/report/i.test(headers.get('content-type') ?? '') ||
    ['x-autoreply', 'x-autorespond', 'x-failed-recipients'].some((name) => headers.has(name))
  )
}

/** The text, made of the HTML where there is no other. */
function textOf(text: string | undefined, html: string | undefined): string {
  const { mailTextLength } = limits.notifications
  if (text?.trim()) return asMeant(text.slice(0, mailTextLength))
  if (!html) return ''
  const converted = convert(html, {
    wordwrap: false,
    limits: { maxDepth: 50, maxInputLength: mailTextLength * 10 },
    selectors: [
      ...['blockquote', 'img', 'div.gmail_quote', 'div.gmail_attr', '#appendonsend', '#divRplyFwdMsg'].map(
        (selector) => ({ selector, format: 'skip' }),
      ),
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
    ],
  })
  return asMeant(converted.slice(0, mailTextLength))
}

const windows = new TextDecoder('windows-1252')
/** Node 20 reads windows-1252 as Latin-1 where it decodes all at once; what only the former has are such characters then. */
function asMeant(text: string): string {
  return text.replaceAll(/[\u0080-\u009f]/g, (character) => {
    const byte = Buffer.from(character, 'latin1')
    return windows.decode(byte, { stream: true }) + windows.decode()
  })
}

/** What SendGrid Inbound Parse posts. Fields are text whose characters are the bytes that came. */
export async function readForm(fields: ReadonlyMap<string, string>): Promise<IncomingMail> {
  const envelope = objectIn(fields.get('envelope'))
  const raw = fields.get('email')
  if (raw !== undefined) {
    const mail = await readRaw(Buffer.from(raw, 'latin1'))
    const recipients = [...recipientsIn(receiversOf(envelope)), ...mail.recipients]
    return { ...mail, recipients, isAutomatic: mail.isAutomatic || isAutomatic(new Map(), senderOf(envelope)) }
  }
  const charsets = objectIn(fields.get('charsets'))
  const field = (name: string) => decode(fields.get(name), charsets[name])
  const written = field('headers') ?? ''
  const headers = readHeaders(written)
  return {
    recipients: recipientsIn([...receiversOf(envelope), field('to'), field('cc')]),
    text: textOf(field('text'), field('html')),
    // Where it has no name, its headers are as good: when it was written and how it came.
    messageId: headers.get('message-id') ?? (written || undefined),
    isAutomatic: isAutomatic(headers, senderOf(envelope)),
  }
}

function receiversOf({ to }: Readonly<Record<string, unknown>>): string[] {
  return Array.isArray(to) ? to.filter((one) => typeof one === 'string') : []
}

function senderOf({ from }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof from === 'string' ? from : undefined
}

function objectIn(json: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json ?? '{}')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    // What SendGrid did not write says nothing.
    return {}
  }
}

/** @param charset as SendGrid gives it; UTF-8 where it gives none, or one that is not known here */
function decode(bytes: string | undefined, charset: unknown): string | undefined {
  if (bytes === undefined) return undefined
  return decoderOf(charset).decode(Buffer.from(bytes, 'latin1'))
}

function decoderOf(charset: unknown): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(typeof charset === 'string' ? charset : 'utf-8')
  } catch {
    return new TextDecoder('utf-8')
  }
}

/** A whole e-mail as mail servers have it (RFC 5322). @throws 400 for what is nested without end */
export async function readRaw(raw: Buffer): Promise<IncomingMail> {
  const mail = await parse(raw)
  const headers = new Map(mail.headers.map(({ key, value }) => [key.toLowerCase(), value] as const))
  const named = ['delivered-to', 'x-original-to', 'envelope-to', 'to', 'cc']
  return {
    recipients: recipientsIn(named.map((name) => headers.get(name))),
    text: textOf(mail.text, mail.html),
    messageId: mail.messageId,
    isAutomatic: isAutomatic(headers, undefined),
  }
}

async function parse(raw: Buffer): Promise<Email> {
  try {
    return await PostalMime.parse(raw, { maxNestingDepth: 50, maxHeadersSize: 256 * 1024, maxRfc822NestingDepth: 0 })
  } catch (error) {
    throw badRequest([{ path: 'body', message: `is no e-mail: ${(error as Error).message}` }])
  }
}

/** What a program of one's own hands on. */
export interface PlainMail {
  readonly to: string | readonly string[]
  readonly text?: string
  readonly html?: string
  readonly messageId?: string
  readonly headers?: string
}

export function readPlain({ to, text, html, messageId, headers: written = '' }: PlainMail): IncomingMail {
  const headers = readHeaders(written.slice(0, longestHeader))
  return {
    recipients: recipientsIn([to].flat()),
    text: textOf(text, html),
    messageId: messageId ?? headers.get('message-id'),
    isAutomatic: isAutomatic(headers, undefined),
  }
}
