import { mediaTypes } from '@parley/contract'
import type { JsonRecord } from '../import/records.ts'

/** A file that messages of the source name. */
export interface SourceFile {
  readonly url: string
  readonly name: string
  readonly mimeType: string
  /** Bytes, where the message says so. */
  readonly size: number | undefined
}

/** The files that a message names by an address: its attachments, or the one of a media message that has none. */
export function filesOf(message: JsonRecord): SourceFile[] {
  const attachments = attachmentsOf(message)
  const alone = attachments.length === 0 ? addressAlone(message) : undefined
  return (alone === undefined ? attachments : [{ url: alone }]).flatMap((attachment: JsonRecord | null) => {
    const { url, name, mimeType, size } = attachment ?? {}
    if (typeof url !== 'string' || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return []
    const bytes = Number(size)
    const called = typeof name === 'string' && name !== '' ? name : nameIn(url)
    return {
      url,
      name: called,
      mimeType: typeof mimeType === 'string' && mimeType !== '' ? mimeType : typeOf(called),
      size: size === undefined || size === '' || !Number.isSafeInteger(bytes) ? undefined : bytes,
    }
  })
}

/** What a message says, with the new addresses of its files; undefined where none of them has one. */
export function readdressed(message: JsonRecord, addresses: ReadonlyMap<string, string>): JsonRecord | undefined {
  if (filesOf(message).every(({ url }) => !addresses.has(url))) return undefined
  const data = message.data as JsonRecord
  const alone = addressAlone(message)
  const attachments = attachmentsOf(message).map((attachment) => {
    const url = addresses.get(String(attachment?.url))
    return url === undefined ? attachment : { ...attachment, url }
  })
  if (attachments.length === 0) return { ...data, url: addresses.get(String(alone)) ?? alone }
  // Elsewhere it may name something else.
  const url = addresses.get(String(data.url))
  return { ...data, ...(url !== undefined && { url }), attachments }
}

/** The address by which a media message names its only file. Beside attachments it repeats that of the first. */
export function addressAlone(message: JsonRecord): string | undefined {
  const { category = 'message', type } = message
  const { url } = (message.data ?? {}) as { url?: unknown }
  const isMedia = category === 'message' && mediaTypes.includes(String(type))
  return isMedia && attachmentsOf(message).length === 0 && typeof url === 'string' ? url : undefined
}

function attachmentsOf({ data }: JsonRecord): Array<JsonRecord | null> {
  const { attachments } = (data ?? {}) as { attachments?: unknown }
  return Array.isArray(attachments) ? attachments : []
}

/** The last part of an address, by which a file goes that has no other name. */
function nameIn(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(last) || 'file'
  } catch {
    // It is no text in UTF-8: as it is written, then.
    return last
  }
}

/** Front ends show by its type what has no other: those that they do show. */
const typesByExtension: Readonly<Record<string, string>> = {
  ...{ avif: 'image/avif', gif: 'image/gif', heic: 'image/heic', jpeg: 'image/jpeg', jpg: 'image/jpeg' },
  ...{ png: 'image/png', webp: 'image/webp' },
  ...{ m4v: 'video/mp4', mov: 'video/quicktime', mp4: 'video/mp4', webm: 'video/webm' },
  ...{ aac: 'audio/aac', m4a: 'audio/mp4', mp3: 'audio/mpeg', ogg: 'audio/ogg', wav: 'audio/wav' },
  pdf: 'application/pdf',
}

function typeOf(name: string): string {
  const extension = name.split('.').at(-1)?.toLowerCase() ?? ''
  return (Object.hasOwn(typesByExtension, extension) && typesByExtension[extension]) || 'application/octet-stream'
}
