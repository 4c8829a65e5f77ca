import type { Context } from '../context.ts'
import { type Broadcast, type BroadcastParts, broadcastAtOnce, disconnectToResync, sendBroadcast } from './broadcast.ts'
import { ConversationQueues } from './conversation-queues.ts'
import type { AppSockets } from './registry.ts'

/** Sends broadcasts, those of one conversation in the order in which they came. */
export interface Dispatcher {
  /** At once where it can be; else behind what waits in that conversation. */
  dispatch(sockets: AppSockets, broadcast: Broadcast): void
  /** One that is only known when something was read: it keeps its place in the order meanwhile. */
  dispatchLater(
    sockets: AppSockets,
    about: Pick<Broadcast, 'place' | 'to' | 'only' | 'isStored' | 'span'>,
    prepare: () => Promise<Broadcast | undefined>,
  ): void
  /** Resolves when nothing waits any more. */
  drain(): Promise<void>
}

/** More than this waits only when the database does not answer. */
const maxWaiting = 20_000

export function createDispatcher(parts: BroadcastParts & { readonly context: Context }): Dispatcher {
  const { log } = parts.context
  const queues = new ConversationQueues()

  const dispatchLater: Dispatcher['dispatchLater'] = (sockets, about, prepare) => {
    if (queues.length >= maxWaiting) {
      about.span?.end('too much waits')
      if (about.isStored) disconnectToResync(sockets, about)
      return
    }
    queues.add(queueOf(sockets, about.place), async () => {
      let known = about
      try {
        const broadcast = await prepare()
        if (broadcast !== undefined) {
          known = broadcast
          await sendBroadcast(parts, sockets, broadcast)
        }
        about.span?.end()
      } catch (error) {
        about.span?.end(error)
        log.warn({ cause: (error as Error).message }, 'something could not be sent over sockets')
        if (known.isStored) disconnectToResync(sockets, known)
      }
    })
  }
  return {
    dispatch(sockets, broadcast) {
      if (queues.isEmpty(queueOf(sockets, broadcast.place)) && broadcastAtOnce(parts.context, sockets, broadcast)) {
        broadcast.span?.end()
        return
      }
      dispatchLater(sockets, broadcast, async () => broadcast)
    },
    dispatchLater,
    drain: () => queues.drain(),
  }
}

function queueOf({ app }: AppSockets, { kind, first, second }: Broadcast['place']): string {
  return `${app.appId} ${kind} ${first} ${second}`
}
