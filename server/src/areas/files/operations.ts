import {
  ApiError,
  type BodyOf,
  createUploadAddresses,
  limits,
  type MessageKind,
  type UploadAddress,
} from '@parley/contract'
import { serve } from '../../call.ts'
import { mediaAddress } from '../../media/address.ts'
import { attachmentOf, cleanName, cleanType } from '../../media/describe.ts'
import { filesTooLarge, tooManyFiles } from '../../media/errors.ts'
import { newMediaKey } from '../../media/library.ts'
import { signTicket, ticketSeconds } from '../../media/ticket.ts'
import { quotasOf } from '../../media/usage.ts'
import { judgeTarget, readTarget } from '../messages/index.ts'

type Files = BodyOf<typeof createUploadAddresses>['files']

export const operations = [
  serve(createUploadAddresses, async ({ app, caller, origin, body }, context) => {
    const files = Object.entries(body.files)
    if (files.length > limits.filesPerMessage) throw tooManyFiles()
    const bytes = files.reduce((sum, [, { size }]) => sum + size, 0)
    if (bytes > limits.bodyBytes.upload) throw filesTooLarge(limits.bodyBytes.upload)

    const target = readTarget(body)
    const related = body.parentMessageId === undefined ? {} : { parentId: body.parentMessageId }
    await oneOf(saidBy(body.files), (says) => judgeTarget(context, app, caller, related, target, says))
    const uid = caller.kind === 'user' ? caller.uid : undefined
    const quotas = quotasOf(await context.settings.of(app.appId))
    await context.media.admit({ appId: app.appId, uid, quotas }, bytes)

    const expiresAt = Math.floor(Date.now() / 1000) + ticketSeconds
    const addresses = files.map(async ([fileId, { name, size, mimeType = '' }]): Promise<[string, UploadAddress]> => {
      const file = { key: newMediaKey(), name: cleanName(name), mimeType: cleanType(mimeType), size }
      const url = mediaAddress(origin(), app, file)
      const ticket = signTicket(context.secrets, { ...file, app: app.name, uid, expiresAt })
      const request = { url: `${url}?${ticket}`, method: 'POST' as const, body: {} }
      const readAt = await context.fileLinks.ofNew(app, url, file.key)
      return [fileId, { request, attachment: attachmentOf(file, readAt), expiresAt }]
    })
    return { data: Object.fromEntries(await Promise.all(addresses)) }
  }),
]

/** What a message with these files may say: that of their kind, or one of files, as its sender likes. */
function saidBy(files: Files): MessageKind[] {
  const mimeTypes = Object.values(files).map(({ mimeType = '' }) => cleanType(mimeType))
  const kind = mimeTypes[0]?.split('/')[0] ?? ''
  const types = ['image', 'audio', 'video'].includes(kind) ? [kind, 'file'] : ['file']
  return types.map((type) => ({ category: 'message', type, mimeTypes }))
}

/** Asks for one after the other until nothing is said against it. @throws what was said against the first */
async function oneOf<Item>(items: readonly Item[], ask: (item: Item) => Promise<void>): Promise<void> {
  let refused: unknown
  for (const item of items) {
    try {
      return await ask(item)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      refused ??= error
    }
  }
  throw refused
}
