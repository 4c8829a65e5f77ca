import { shownUid } from '../../chat/naming.ts'
import type { GoalReached, Receipt, ReceiptOfAll } from '../../events/types.ts'
import type { AppSockets } from '../registry.ts'
import { goalFrame, receiptsFrame } from '../show.ts'
import type { EventParts } from './parts.ts'

/** One-to-one, the other side hears of a mark. In a group only the author does: all members would be a storm. */
export function broadcastReceipt(
  { summaries, authors, dispatch, dispatchLater }: EventParts,
  sockets: AppSockets,
  event: Receipt | ReceiptOfAll,
): void {
  const { place, messageId } = event
  const { app } = sockets
  const { uid, device } = 'uid' in event ? event : {}
  const about = { place, device, blocksKeep: 'everywhere', isStored: true } as const
  if (place.kind === 'user') {
    const author = uid === place.first ? place.second : place.first
    const frame = () => receiptsFrame(summaries, app, event, author)
    dispatch(sockets, { ...about, actor: uid ?? author, frame })
    return
  }
  dispatchLater(sockets, { place, isStored: true }, async () => {
    const author = await authors.of(app.appId, messageId)
    if (author === undefined) return undefined
    const frame = () => receiptsFrame(summaries, app, event, shownUid(author))
    const only = uid === undefined ? [author] : [author, uid]
    return { ...about, actor: uid ?? author, only, frame }
  })
}

/** That a user has done what a message asks for. As receipts: for whom the message is from, and the user's other devices. */
export function broadcastGoal({ summaries, dispatch }: EventParts, sockets: AppSockets, event: GoalReached): void {
  const { place, uid, device, messageSender } = event
  const frame = () => goalFrame(summaries, sockets.app, event)
  const only = place.kind === 'group' ? { only: [messageSender, uid] } : {}
  dispatch(sockets, { place, actor: uid, device, blocksKeep: 'everywhere', isStored: true, ...only, frame })
}
