import { isWebAddress } from './web-address.ts'

/** The kinds of files, and the types of the messages of category `message` that name them. */
export const fileKinds = ['image', 'file', 'audio', 'video'] as const
export const mediaTypes: readonly string[] = fileKinds

/** What is wrong with how a message names its files. */
export interface FilesFault {
  readonly kind: 'no-list' | 'no-attachment' | 'no-file'
  /** Of what is wrong, within `data`: `attachments/0/url`. */
  readonly path: string
  /** What is there; undefined where nothing is. */
  readonly value?: unknown
}

/** What is wrong with `attachments`: a list of objects, each with the address of a file; whatever else is known may be left out. */
export function* faultsOfAttachments({ attachments = [] }: Readonly<Record<string, unknown>>): Generator<FilesFault> {
  if (!Array.isArray(attachments)) return yield { kind: 'no-list', path: 'attachments', value: attachments }
  for (const [place, attachment] of attachments.entries()) {
    const path = `attachments/${place}`
    if (typeof attachment !== 'object' || attachment === null) yield { kind: 'no-attachment', path, value: attachment }
    else if (!isWebAddress(attachment.url)) yield { kind: 'no-attachment', path: `${path}/url`, value: attachment.url }
  }
}

/**
 * What is wrong with the files of a message of a media type. It refers to them by their addresses: in `attachments`, or to a
 * single one in `url`.
 */
export function* faultsOfFiles(data: Readonly<Record<string, unknown>>): Generator<FilesFault> {
  yield* faultsOfAttachments(data)
  const { attachments = [], url } = data
  if (!Array.isArray(attachments) || attachments.length > 0 || isWebAddress(url)) return
  yield { kind: 'no-file', path: url === undefined ? 'attachments' : 'url', value: url }
}
