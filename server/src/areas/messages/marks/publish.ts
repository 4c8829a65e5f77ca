import type { Message } from '@parley/contract'
import { systemUid } from '../../../chat/apps.ts'
import { type App, actingDevice, type Caller } from '../../../chat/identity.ts'
import { readMessages } from '../../../chat/messages/rows.ts'
import { showMessages } from '../../../chat/messages/show.ts'
import { placeOf } from '../../../chat/place.ts'
import type { Context } from '../../../context.ts'

/**
 * Sends open front ends word of a pin, which all who take part in the conversation see, or of a saved message, which only
 * the user does.
 * @param own the message as the user sees it, where it is theirs alone
 */
export async function publishMark(
  { database, events }: Context,
  app: App,
  caller: Caller,
  id: number,
  action: 'pinned' | 'unpinned' | 'saved' | 'unsaved',
  own?: Message,
): Promise<void> {
  if (!events.bus.isHeard) return
  const row = (await readMessages(database, app.appId, [id])).get(id)
  // It may have been removed for good meanwhile.
  if (row === undefined) return
  const message = own ?? (await showMessages(database, app.appId, [row], { withTags: true }))[0]
  events.publish(app.appId, {
    mark: own === undefined ? 'message_pin' : 'message_save',
    place: placeOf(row),
    uid: caller.kind === 'user' ? caller.uid : systemUid,
    device: actingDevice(caller),
    isPrivate: own !== undefined,
    body: { action, ...(message && { message }) },
  })
}
