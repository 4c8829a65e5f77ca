import type { Message } from '@parley/contract'
import type { MessageChanged, MessageSent, Notice, StatusChanged, Traceable } from '../../events/types.ts'
import { asOfNow } from '../audiences.ts'
import type { Broadcast } from '../broadcast.ts'
import type { AppSockets } from '../registry.ts'
import { messageFrame, readMessageOf, statusFrame } from '../show.ts'
import { keptFor, shownOf } from '../sight.ts'
import type { EventParts } from './parts.ts'
import { spanOf } from './span.ts'

/** A message that was sent, edited or deleted: as it came along, else as it is stored. */
export function broadcastMessage(
  parts: EventParts,
  sockets: AppSockets,
  event: Traceable & (MessageSent | MessageChanged),
): void {
  const { context, dispatch, dispatchLater } = parts
  const { place, device, message } = event
  const { app } = sockets
  const span = spanOf(parts, sockets, event)
  // A send to somebody who stands in a block was refused.
  const blocksKeep = event.trigger === 'message_sent' ? 'nothing' : 'pair'
  // A message says as of which members it was sent. Edits and deletions are rare: for them the members are read anew.
  const revision = event.trigger === 'message_sent' ? (event.groupRevision ?? 0) : asOfNow
  const exceptFor = 'exceptFor' in event ? event.exceptFor : undefined
  const broadcastOf = (shown: Message): Broadcast => {
    const frame = () => messageFrame(app, event, shown)
    const shownParts = shownOf(place, shown)
    const to = keptFor(shownParts)
    const refersBack = event.trigger !== 'message_sent' || shown.quotedMessage !== undefined
    const about = { place, device, actor: shown.sender, exceptFor, blocksKeep, revision, refersBack, span } as const
    return { ...about, isStored: true, ...(to !== undefined && { to }), shows: () => shownParts, frame }
  }
  if (message !== undefined) {
    dispatch(sockets, broadcastOf(message))
    return
  }
  dispatchLater(sockets, { place, isStored: true, span }, async () => {
    const found = await readMessageOf(context.database, app, event)
    return found && broadcastOf(found)
  })
}

/** What moderation has decided of a message, for its sender. */
export function broadcastStatus(
  { context, dispatchLater }: EventParts,
  sockets: AppSockets,
  event: StatusChanged,
): void {
  const { place, sender } = event
  if (sockets.connectionsOf(sender).length === 0) return
  const about = { place, to: sender, isStored: true } as const
  const frame = () => statusFrame(context.database, sockets.app, event)
  dispatchLater(sockets, about, async () => ({ ...about, actor: sender, blocksKeep: 'nothing', frame }))
}

/** A message that is not stored, for one user. */
export function broadcastNotice({ dispatch }: EventParts, sockets: AppSockets, event: Notice): void {
  const { notice, place, to, device } = event
  if (sockets.connectionsOf(to).length === 0) return
  const frame = () => messageFrame(sockets.app, event, notice)
  const shows = () => shownOf(place, notice)
  const about = { place, to, actor: notice.sender, device, blocksKeep: 'nothing', isStored: true } as const
  dispatch(sockets, { ...about, shows, frame })
}
