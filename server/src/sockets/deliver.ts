import type { Message } from '@parley/contract'
import { readMessages } from '../chat/messages/rows.ts'
import { shownUid } from '../chat/naming.ts'
import type { BusListener } from '../events/bus.ts'
import type {
  BusEvent,
  GoalReached,
  Marked,
  MessageChanged,
  MessageSent,
  Reacted,
  Receipt,
  ReceiptOfAll,
  Traceable,
} from '../events/types.ts'
import { asOfNow, changeMembers, forgetAudience } from './audiences.ts'
import { createAuthors } from './authors.ts'
import type { Broadcast, BroadcastParts } from './broadcast.ts'
import { createDispatcher } from './dispatch.ts'
import type { PresenceFanout } from './presence/fanout.ts'
import type { AppSockets, Registry } from './registry.ts'
import {
  goalFrame,
  markFrame,
  messageFrame,
  reactionFrame,
  readMessageOf,
  receiptsFrame,
  signalFrame,
  statusFrame,
} from './show.ts'
import { keptFor, shownOf } from './sight.ts'
import type { SignalPace } from './signal-pace.ts'
import type { UserSummaries } from './user-summaries.ts'

/** Turns events of the bus into frames for those who may hear of them. */
export interface Delivery {
  readonly onEvent: BusListener
  /** Resolves when every event so far is on its way. */
  drain(): Promise<void>
}

export interface DeliveryParts extends BroadcastParts {
  readonly registry: Registry
  readonly summaries: UserSummaries
  readonly presence: PresenceFanout
  readonly pace: SignalPace
}

export function createDelivery(parts: DeliveryParts): Delivery {
  const { registry, summaries, blocks, presence, pace, context } = parts
  const { tracing } = context
  const { dispatch, dispatchLater, drain } = createDispatcher(parts)
  const authors = createAuthors(context.database)
  let queue: Array<() => void> = []

  /** At the end of this turn of the event loop, so that what was committed just before has mostly been heard of. */
  const later = (work: () => void) => {
    if (queue.length === 0) setImmediate(flush)
    queue.push(work)
  }
  const flush = () => {
    const works = queue
    queue = []
    for (const work of works) work()
  }

  /** Telling of an event, where the request that it came from is told of. */
  const spanOf = (
    { app }: AppSockets,
    { trigger, messageId, trace }: Traceable & (MessageSent | MessageChanged | Reacted),
  ) => {
    if (tracing === undefined || trace === undefined) return undefined
    const attributes = { 'parley.app': app.name, 'parley.trigger': trigger, 'parley.message': messageId }
    return tracing.follow('sockets', trace, { kind: 'producer', attributes })
  }

  /** A message as it came along, else as it is stored. */
  const dispatchMessage = (sockets: AppSockets, event: Traceable & (MessageSent | MessageChanged)) => {
    const { place, device, message } = event
    const { app } = sockets
    const span = spanOf(sockets, event)
    // A send to somebody who stands in a block was refused.
    const blocksKeep = event.trigger === 'message_sent' ? 'nothing' : 'pair'
    // A message says as of which members it was sent. Edits and deletions are rare: for them the members are read anew.
    const revision = event.trigger === 'message_sent' ? (event.groupRevision ?? 0) : asOfNow
    const exceptFor = 'exceptFor' in event ? event.exceptFor : undefined
    const broadcastOf = (shown: Message): Broadcast => {
      const frame = () => messageFrame(app, event, shown)
      const parts = shownOf(place, shown)
      const to = keptFor(parts)
      const refersBack = event.trigger !== 'message_sent' || shown.quotedMessage !== undefined
      const about = { place, device, actor: shown.sender, exceptFor, blocksKeep, revision, refersBack, span } as const
      return { ...about, isStored: true, ...(to !== undefined && { to }), shows: () => parts, frame }
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

  /** One-to-one, the other side hears of a mark. In a group only the author does: all members would be a storm. */
  const dispatchReceipt = (sockets: AppSockets, event: Receipt | ReceiptOfAll) => {
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

  const dispatchMark = (sockets: AppSockets, event: Marked) => {
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

  /** As receipts: for whom the message is from, and the user's other devices. */
  const dispatchGoal = (sockets: AppSockets, event: GoalReached) => {
    const { place, uid, device, messageSender } = event
    const frame = () => goalFrame(summaries, sockets.app, event)
    const only = place.kind === 'group' ? { only: [messageSender, uid] } : {}
    dispatch(sockets, { place, actor: uid, device, blocksKeep: 'everywhere', isStored: true, ...only, frame })
  }

  const onChatEvent = (sockets: AppSockets, event: Exclude<BusEvent, { control: unknown }>) => {
    const { app } = sockets
    if ('signal' in event) {
      const frame = () => signalFrame(summaries, app, event)
      dispatch(sockets, {
        place: event,
        actor: event.uid,
        device: event.device,
        blocksKeep: 'everywhere',
        isStored: false,
        isClients: true,
        frame,
      })
      return
    }
    if ('mark' in event) {
      dispatchMark(sockets, event)
      return
    }
    if ('goalOf' in event) {
      dispatchGoal(sockets, event)
      return
    }
    if ('statusOf' in event) {
      const { place, sender } = event
      if (sockets.connectionsOf(sender).length === 0) return
      const about = { place, to: sender, isStored: true } as const
      const frame = () => statusFrame(context.database, app, event)
      dispatchLater(sockets, about, async () => ({ ...about, actor: sender, blocksKeep: 'nothing', frame }))
      return
    }
    if ('notice' in event) {
      const { notice, place, to, device } = event
      if (sockets.connectionsOf(to).length === 0) return
      const frame = () => messageFrame(app, event, notice)
      const shows = () => shownOf(place, notice)
      const about = { place, to, actor: notice.sender, device, blocksKeep: 'nothing', isStored: true } as const
      dispatch(sockets, { ...about, shows, frame })
      return
    }
    switch (event.trigger) {
      case 'message_sent': {
        const { place, message, messageId } = event
        if (place.kind === 'group' && message !== undefined) authors.set(app.appId, messageId, message.sender)
        dispatchMessage(sockets, event)
        return
      }
      case 'message_edited':
      case 'message_deleted':
        dispatchMessage(sockets, event)
        return
      case 'message_reaction_added':
      case 'message_reaction_removed': {
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
        dispatch(sockets, { ...about, place: event.place, span: spanOf(sockets, event), shows, frame })
        return
      }
      case 'message_delivery_receipt':
      case 'message_read_receipt':
      case 'message_delivered_to_all':
      case 'message_read_by_all':
        dispatchReceipt(sockets, event)
    }
  }

  return {
    onEvent(appId, event, isRemote) {
      if ('trigger' in event && (event.trigger === 'user_blocked' || event.trigger === 'user_unblocked')) {
        blocks.drop(appId, [event.by, ...event.uids])
        return
      }
      if ('control' in event) {
        if (event.control === 'in_doubt' || event.tokens !== undefined) return
        summaries.drop(appId, event.uid)
        authors.forget(appId, event.uid)
        return
      }
      const sockets = registry.of(appId)
      if (sockets === undefined) return
      // Those of clients of this process were counted before they were published.
      if ('signal' in event && isRemote && event.kind === 'group' && !pace.mayPass(appId, event.first, event.signal))
        return
      // What decides who may hear counts at once, before anything that waits.
      if ('trigger' in event) {
        switch (event.trigger) {
          case 'user_connection_status_changed':
            presence.add(sockets, event)
            return
          case 'group_member_joined':
          case 'group_member_added':
          case 'group_member_left':
          case 'group_member_kicked':
          case 'group_member_banned': {
            const areMembers = event.trigger === 'group_member_joined' || event.trigger === 'group_member_added'
            const uids = event.members.map(({ uid }) => uid)
            changeMembers(sockets, event.guid, uids, areMembers)
            return
          }
          case 'group_created':
          case 'group_deleted':
            forgetAudience(sockets, event.guid)
            return
        }
      }
      later(() => onChatEvent(sockets, event))
    },
    async drain() {
      while (queue.length > 0) await new Promise((resolve) => setImmediate(resolve))
      await drain()
    },
  }
}
