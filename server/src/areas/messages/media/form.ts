import { attachmentOf } from '../../../media/describe.ts'
import type { UploadedFile } from '../../../media/library.ts'
import { invalidAttachments } from '../errors.ts'

interface FormBody {
  readonly data?: Record<string, unknown>
  readonly metadata?: Record<string, unknown>
  readonly caption?: string
}

/**
 * `data` of a message that came as a form: its fields gathered, its files before the attachments that it names. Others stay
 * as they are.
 * @throws 400 `ERR_INVALID_MEDIA_MESSAGE` for attachments that are no list
 */
export function dataOfForm(body: FormBody, files: readonly UploadedFile[]): Record<string, unknown> | undefined {
  if (files.length === 0) return body.data
  const attachments = files.map((file) => attachmentOf(file, file.url))
  const { attachments: named = [] } = body.data ?? {}
  if (!Array.isArray(named)) throw invalidAttachments({ kind: 'no-list' })
  return {
    ...body.data,
    ...(body.metadata && { metadata: body.metadata }),
    ...(body.caption !== undefined && { text: body.caption }),
    attachments: [...attachments, ...named],
  }
}
