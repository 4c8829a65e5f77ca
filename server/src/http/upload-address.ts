import type { FastifyInstance, FastifyRequest } from 'fastify'
import { findRunning } from '../chat/apps.ts'
import { requireActiveUser } from '../chat/users/require.ts'
import type { Context } from '../context.ts'
import { databaseAway } from '../faults.ts'
import { mediaAddress } from '../media/address.ts'
import { attachmentOf } from '../media/describe.ts'
import { filesTooLarge, missingUpload, notAsAnnounced, tooManyFiles, uploadAddressExpired } from '../media/errors.ts'
import type { MediaFile } from '../media/library.ts'
import { readTicket, type UploadTicket } from '../media/ticket.ts'
import { quotasOf, type Uploader } from '../media/usage.ts'
import { unsupportedMediaType } from '../protocol/errors.ts'
import { parseForm } from './form.ts'
import { isForm, lengthOf, restOfForm } from './uploads.ts'

/**
 * `POST /media/{app}/{key}/{name}`: takes the file that an upload address is for, once. The address was signed for whoever
 * asked for it, so it needs no other credential.
 */
export function registerUploadAddress(server: FastifyInstance, context: Context): void {
  server.route<{ Params: { app: string; key: string; name: string } }>({
    method: 'POST',
    url: '/media/:app/:key/:name',
    config: { operation: 'upload' },
    handler: async (request) => {
      if (!context.monitor.available) throw databaseAway()
      const { app: name, ...file } = request.params
      const app = await findRunning(context.apps, name)
      const query = request.query as Record<string, unknown>
      const ticket = app && readTicket(context.secrets, { app: app.name, ...file }, query)
      if (!app || !ticket) throw uploadAddressExpired()
      if (!isForm(request)) throw unsupportedMediaType('multipart/form-data')

      const { database, media, settings, addresses } = context
      if (ticket.uid !== undefined) await requireActiveUser(database, app.appId, ticket.uid)
      const uploader = { appId: app.appId, uid: ticket.uid, quotas: quotasOf(await settings.of(app.appId)) }
      if ((lengthOf(request) ?? 0) > ticket.size + restOfForm) throw filesTooLarge(ticket.size)
      await media.admit(uploader, ticket.size)
      const origin = addresses.publicUrlOf(request.raw)
      const kept = await takeFile(request, context, uploader, ticket, origin)
      if (kept.size !== ticket.size) {
        await media.discard(app, [kept.key])
        throw notAsAnnounced(kept.size, ticket.size)
      }
      const url = mediaAddress(origin, app, kept)
      return context.fileLinks.inValue(app, { data: attachmentOf(kept, url) })
    },
  })
}

/** Takes in the one file of a form. Its fields say nothing, and its type is that of the ticket. */
async function takeFile(
  request: FastifyRequest,
  { media, config }: Pick<Context, 'media' | 'config'>,
  uploader: Uploader,
  { key, name, mimeType, size }: UploadTicket,
  origin: string,
): Promise<MediaFile> {
  let taken: Promise<MediaFile> | undefined
  try {
    await parseForm(request.raw, config.uploadStallSeconds, {
      field: () => {},
      async file({ content }) {
        if (taken !== undefined) throw tooManyFiles()
        const tooLarge = () => filesTooLarge(size)
        taken = media.keep(uploader, { key, name, mimeType, content, origin, atMost: size, tooLarge }).then((kept) => {
          if (kept === undefined) throw uploadAddressExpired()
          return kept
        })
        await taken
      },
    })
  } catch (error) {
    // Whoever used the address before has the file.
    const kept = await taken?.catch(() => undefined)
    if (kept !== undefined) await media.discard(uploader, [key])
    throw error
  }
  if (taken === undefined) throw missingUpload()
  return taken
}
