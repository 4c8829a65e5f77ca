import { type Attachment, limits } from '@parley/contract'
import type { MediaFile } from './library.ts'

/** A media type as files are served with it. */
export function cleanType(mimeType: string): string {
  return /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType.toLowerCase() : 'application/octet-stream'
}

/** The last part of a path, without what a file system or a header could mistake for something else. */
export function cleanName(name: string): string {
  const last = name.toWellFormed().split(/[/\\]/).at(-1) ?? ''
  const clean = [...last].filter((char) => char >= ' ' && char !== '\u007f' && !'"<>|:*?'.includes(char)).join('')
  return clean.replace(/^\.+/, '').slice(0, limits.nameLength).toWellFormed() || 'file'
}

/** A file as messages name it. */
export function attachmentOf({ name, mimeType, size }: Omit<MediaFile, 'key'>, url: string): Attachment {
  const extension = name.includes('.') ? (name.split('.').at(-1) ?? '') : ''
  return { url, name, mimeType, extension, size: String(size) }
}
