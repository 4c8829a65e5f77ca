import { attachmentOf } from '../../../media/describe.ts'
import type { UploadedFile } from '../../../media/library.ts'

interface FormBody {
  readonly data?: Record<string, unknown>
  readonly metadata?: Record<string, unknown>
  readonly caption?: string
}

/** `data` of a message that came as a form: its fields gathered, its files as attachments. Others stay as they are. */
export function dataOfForm(body: FormBody, files: readonly UploadedFile[]): Record<string, unknown> | undefined {
  if (files.length === 0) return body.data
  const attachments = files.map((file) => attachmentOf(file, file.url))
  const sent = Array.isArray(body.data?.attachments) ? body.data.attachments : []
  return {
    ...body.data,
    ...(body.metadata && { metadata: body.metadata }),
    ...(body.caption !== undefined && { text: body.caption }),
    attachments: [...attachments, ...sent],
  }
}
