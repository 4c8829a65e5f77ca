import { readMessages } from '../../chat/messages/rows.ts'
import type { Marked, Reacted, Traceable } from '../../events/types.ts'
import { asOfNow } from '../audiences.ts'
import type { AppSockets } from '../registry.ts'
import { markFrame, reactionFrame } from '../show.ts'
import { shownOf } from '../sight.ts'
import type { EventParts } from './parts.ts'
import { spanOf } from './span.ts'

/** A pin for everybody, or what a user pins or saves for themselves, which their other devices hear of. */
export function broadcastMark({ dispatch }: EventParts, sockets: AppSockets, event: Marked): void {
  const { place, uid, device, isPrivate, body } = event
  const frame = () => markFrame(sockets.app, event)
  const about = { place, actor: uid, device, isStored: true, frame }
  const { message } = body
  if (!isPrivate && message !== undefined) {
    const shows = () => shownOf(place, message)
    dispatch(sockets, { ...about, blocksKeep: 'pair', revision: asOfNow, shows, refersBack: true })
  } else if (sockets.connectionsOf(uid).length > 0) {
    dispatch(sockets, { ...about, blocksKeep: 'nothing', to: uid })
  }
}

/** A reaction that was added or removed. */
export function broadcastReaction(parts: EventParts, sockets: AppSockets, event: Traceable & Reacted): void {
  const { context, summaries, dispatch } = parts
  const { app } = sockets
  const frame = () => reactionFrame(summaries, app, event)
  const shows = async () => {
    const message = (await readMessages(context.database, app.appId, [event.messageId])).get(event.messageId)
    return message && { conversation: message.conversation, messages: [message] }
  }
  const about = {
    actor: event.uid,
    device: event.device,
    blocksKeep: 'pair',
    revision: asOfNow,
    isStored: true,
    isReaction: true,
    refersBack: true,
  } as const
  dispatch(sockets, { ...about, place: event.place, span: spanOf(parts, sockets, event), shows, frame })
}
