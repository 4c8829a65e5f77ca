import type { Group, Message, User } from '@parley/client'
import type { AttachmentProps } from './props.ts'

/** The name of a user or a group. */
export function nameOfEntity(entity: User | Group | undefined, fallback = ''): string {
  return entity?.name ?? fallback
}

interface Entities {
  readonly [role: string]: {
    readonly entity?: { readonly name?: string; readonly avatar?: string; readonly uid?: string }
  }
}

/** Users and groups that a message names by their part in it: `sender`, `by`, `on`. */
export function entitiesOf(message: Message): Entities {
  return (message.data.entities ?? {}) as Entities
}

/** The name of who sent a message. */
export function senderName(message: Message): string {
  return entitiesOf(message).sender?.entity?.name ?? message.sender
}

/** The text of a message, or that of what else it is. */
export function textOf(message: Message): string {
  return typeof message.data.text === 'string' ? message.data.text : ''
}

/** The files of a message, as far as they are some: what others stored may be of any kind. */
export function attachmentsOf(message: Message): AttachmentProps['attachment'][] {
  const { attachments } = message.data as { attachments?: unknown }
  if (!Array.isArray(attachments)) return []
  return attachments.flatMap((attachment) => {
    if (typeof attachment?.url !== 'string') return []
    const { name, mimeType, size, ...others } = attachment
    const bytes = typeof size === 'string' && size !== '' ? Number(size) : size
    return {
      ...others,
      ...(typeof name === 'string' && { name }),
      ...(typeof mimeType === 'string' && { mimeType }),
      ...(Number.isFinite(bytes) && { size: bytes }),
    }
  })
}

/** The address on the web that a text is, as browsers read it: moderation looks at what stands there. */
export function webAddressOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, href } = new URL(text)
  return protocol === 'https:' || protocol === 'http:' ? href : undefined
}

/** A piece of a text: a mention of a user, a link, or words. */
export type Piece =
  | { readonly is: 'words'; readonly text: string }
  | { readonly is: 'mention'; readonly uid: string; readonly name: string }
  | { readonly is: 'link'; readonly href: string }

const special = /<@uid:([A-Za-z0-9_-]{1,100})>|(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)\]])/g

/** Takes a text apart: `<@uid:bob> see https://example.com` */
export function piecesOf(message: Message): Piece[] {
  const text = textOf(message)
  const mentions = (message.data.mentions ?? {}) as Record<string, { readonly name?: string } | null>
  const pieces: Piece[] = []
  let end = 0
  for (const match of text.matchAll(special)) {
    const [all, uid, href] = match
    if (match.index > end) pieces.push({ is: 'words', text: text.slice(end, match.index) })
    if (uid !== undefined) pieces.push({ is: 'mention', uid, name: mentions[uid]?.name ?? uid })
    else if (href !== undefined) pieces.push({ is: 'link', href })
    end = match.index + all.length
  }
  if (end < text.length) pieces.push({ is: 'words', text: text.slice(end) })
  return pieces
}

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(locale: string | undefined, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const name = `${locale} ${JSON.stringify(options)}`
  const known = formats.get(name) ?? new Intl.DateTimeFormat(locale, options)
  formats.set(name, known)
  return known
}

let lastTime = { minute: Number.NaN, locale: '' as string | undefined, text: '' }

/** `14:05`, of epoch seconds */
export function timeOf(seconds: number, locale: string | undefined): string {
  // Messages that stand together are mostly of the same minute.
  const minute = Math.floor(seconds / 60)
  if (lastTime.minute !== minute || lastTime.locale !== locale) {
    const text = formatOf(locale, { hour: '2-digit', minute: '2-digit' }).format(minute * 60_000)
    lastTime = { minute, locale, text }
  }
  return lastTime.text
}

/** A day as people say it, of epoch seconds. @param now the day that is `today`, as `toDateString` gives it */
export function dayOf(seconds: number, locale: string | undefined, today: string, now: string): string {
  const date = new Date(seconds * 1000)
  if (date.toDateString() === now) return today
  const isThisYear = date.getFullYear() === new Date(now).getFullYear()
  return formatOf(locale, { day: 'numeric', month: 'long', ...(!isThisYear && { year: 'numeric' }) }).format(date)
}

/** `1.5 MB` */
export function sizeOf(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return `${Number((bytes / 1000 ** power).toFixed(1))} ${units[power]}`
}
