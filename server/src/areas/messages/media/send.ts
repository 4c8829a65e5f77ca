import type { App } from '../../../chat/identity.ts'
import type { Context } from '../../../context.ts'
import type { UploadedFile } from '../../../media/library.ts'
import { dataOfForm } from './form.ts'

interface FormBody {
  readonly data?: Record<string, unknown>
  readonly metadata?: Record<string, unknown>
  readonly caption?: string
}

/**
 * Sends a message that may have come as a form, with the files of the form in it.
 * @param send sends the body that it is given
 */
export async function sendForm<Body extends FormBody, Sent>(
  { media }: Context,
  app: App,
  files: readonly UploadedFile[],
  body: Body,
  send: (body: Body) => Promise<Sent>,
): Promise<Sent> {
  if (files.length === 0) return send(body)
  const sent = await send({ ...body, data: dataOfForm(body, files) })
  // A repeated muid was answered with the message stored before, which has its own files.
  await media.discard(
    app,
    files.map(({ key }) => key),
  )
  return sent
}
