import type { TypingFrameIn } from '@parley/contract'
import { createCache } from '../cache.ts'
import { partsOf } from '../chat/naming.ts'
import { requireMayWrite } from '../chat/writing/may-write.ts'
import type { Context } from '../context.ts'
import type { Signal } from '../events/types.ts'
import type { Login } from './connection.ts'
import { tooManyTransients } from './errors.ts'
import type { MissingGroups } from './missing-groups.ts'

/** What users who are connected tell each other, and nobody stores: typing and transient messages. */
export interface Signals {
  /**
   * Puts a signal on the bus.
   * @throws as sending a message does, by the same rules; 403 `ERR_CONVERSATION_NOT_ACCESSIBLE` for what says something to
   *   a user with whom there is no conversation yet; 429 `ERR_TOO_MANY_REQUESTS`
   */
  send(
    login: Login,
    address: Pick<TypingFrameIn, 'receiver' | 'receiverType'>,
    signal: Signal['signal'],
    body: Signal['body'],
  ): Promise<void>
}

/** Signals of one type a second in one group, of all its members together: each goes to every member. */
const perSecond = 20
/** Groups of which it is known how much was signalled. */
const maxPaces = 20_000

export function createSignals(context: Context, missing: MissingGroups): Signals {
  const paces = createCache<string, { count: number; since: number }>({ max: maxPaces })

  const mayPass = (key: string): boolean => {
    const now = Date.now()
    let pace = paces.get(key)
    if (pace === undefined || now - pace.since >= 1000) {
      pace = { count: 0, since: now }
      paces.set(key, pace)
    }
    return ++pace.count <= perSecond
  }

  const send: Signals['send'] = async ({ app, uid, info }, address, signal, body) => {
    const { appId } = app
    const receiver = address.receiver.toLowerCase()
    const kind = address.receiverType
    const deed = { key: 'sendMessage' } as const
    const conversation = saysSomething(signal, body) ? 'begun' : 'any'
    const writing = { appId, sender: uid, kind, receiver, deed, isNew: true, conversation } as const
    const requireMay = () => requireMayWrite(context, context.database, writing)
    // Before anything is published: who listens in a group is read for those only who may write there.
    await (kind === 'group' ? missing.ask(appId, uid, receiver, requireMay) : requireMay())
    if (kind === 'group' && !mayPass(`${appId} ${receiver} ${signal}`)) {
      // Typing that is not told is not missed.
      if (signal === 'typing_indicator') return
      throw tooManyTransients(receiver, perSecond)
    }
    const [first, second] = partsOf({ kind, sender: uid, receiver })
    context.events.publish(appId, { signal, uid, device: info.deviceId, body, kind, first, second })
  }

  return { send }
}

/** That somebody types may be told to a stranger, for whom it is the first sign; anything else of theirs may not. */
function saysSomething(signal: Signal['signal'], body: Signal['body']): boolean {
  return signal === 'transient_message' || 'metadata' in body
}
