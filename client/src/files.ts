import type { CallAny } from './call.ts'
import { type Fetch, platform, type Signal } from './platform.ts'
import { sendForm } from './transport.ts'

/**
 * A file to upload. Browsers and Node.js 20 have `File`; React Native passes `{ uri, name, type, size }`.
 * `size` is in bytes.
 */
export interface Uploadable {
  readonly name: string
  readonly type: string
  readonly size: number
}

/** A file that was uploaded, as it stands in `data.attachments` of a message. */
export interface Attachment {
  readonly [other: string]: unknown
  readonly url: string
  readonly name: string
  readonly mimeType: string
  readonly extension: string
  readonly size: number
}

export interface UploadOptions {
  readonly receiver: string
  readonly receiverType: 'user' | 'group'
  /** The message in whose thread they will be sent. */
  readonly parentMessageId?: string | undefined
  readonly signal?: Signal | undefined
  /** Called with bytes sent so far and bytes in all; where there is no `XMLHttpRequest`, file by file. */
  readonly onProgress?: (sent: number, total: number) => void
}

interface Address {
  readonly request: { readonly url: string; readonly body: Readonly<Record<string, string>> }
  readonly attachment: Attachment
}

/** Uploads files, one after the other, before the message that they belong to. */
export type Upload = (files: readonly Uploadable[], options: UploadOptions) => Promise<Attachment[]>

export function createUpload(call: CallAny, fetch: Fetch | undefined): Upload {
  return async function upload(files, { signal, onProgress, receiver, receiverType, parentMessageId }) {
    const named = files.map((file, index) => [`f${index}`, file] as const)
    const announced = named.map(([fileId, { name, size, type }]) => [
      fileId,
      { fileId, name, size, mimeType: type || 'application/octet-stream' },
    ])
    const addresses = (await call(
      'POST /files/upload-url',
      {
        files: Object.fromEntries(announced),
        receiver,
        receiverType,
        ...(parentMessageId !== undefined && { parentMessageId }),
      },
      { signal },
    )) as unknown as Readonly<Record<string, Address>>
    const total = files.reduce((sum, { size }) => sum + size, 0)
    let done = 0
    const attachments: Attachment[] = []
    for (const [fileId, file] of named) {
      const { request, attachment } = addresses[fileId] as Address
      const form = new platform.FormData()
      for (const [name, value] of Object.entries(request.body)) form.append(name, value)
      form.append('file', file, file.name)
      await sendForm(fetch, request.url, form, {
        signal,
        onProgress: (sent) => onProgress?.(Math.min(done + sent, total), total),
      })
      done += file.size
      onProgress?.(done, total)
      attachments.push(attachment)
    }
    return attachments
  }
}
