import type { BusListener } from '../events/bus.ts'
import type { ChatEvent } from '../events/types.ts'
import { changeMembers, forgetAudience } from './audiences.ts'
import { createAuthors } from './authors.ts'
import type { BroadcastParts } from './broadcast.ts'
import { broadcastEvent } from './broadcasts/index.ts'
import { createDispatcher } from './dispatch.ts'
import type { PresenceFanout } from './presence/fanout.ts'
import type { AppSockets, Registry } from './registry.ts'
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
  const { dispatch, dispatchLater, drain } = createDispatcher(parts)
  const authors = createAuthors(context.database)
  const eventParts = { context, summaries, authors, dispatch, dispatchLater }
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
      if ('trigger' in event && decidesWhoHears(sockets, presence, event)) return
      later(() => broadcastEvent(eventParts, sockets, event))
    },
    async drain() {
      while (queue.length > 0) await new Promise((resolve) => setImmediate(resolve))
      await drain()
    },
  }
}

/** Takes in who is online and who is in a group. @returns whether it was such an event, of which there is no other frame */
function decidesWhoHears(sockets: AppSockets, presence: PresenceFanout, event: ChatEvent): boolean {
  switch (event.trigger) {
    case 'user_connection_status_changed':
      presence.add(sockets, event)
      return true
    case 'group_member_joined':
    case 'group_member_added':
    case 'group_member_left':
    case 'group_member_kicked':
    case 'group_member_banned': {
      const areMembers = event.trigger === 'group_member_joined' || event.trigger === 'group_member_added'
      const uids = event.members.map(({ uid }) => uid)
      changeMembers(sockets, event.guid, uids, areMembers)
      return true
    }
    case 'group_created':
    case 'group_deleted':
      forgetAudience(sockets, event.guid)
      return true
    default:
      return false
  }
}
