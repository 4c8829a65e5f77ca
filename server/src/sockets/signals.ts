import type { TypingFrameIn } from '@parley/contract'
import { partsOf } from '../chat/naming.ts'
import { requireMayWrite } from '../chat/writing/may-write.ts'
import type { Context } from '../context.ts'
import type { Signal } from '../events/types.ts'
import type { Login } from './connection.ts'
import { tooManyTransients } from './errors.ts'
import type { MissingGroups } from './missing-groups.ts'
import { type SignalPace, signalsPerSecond } from './signal-pace.ts'

/** What users who are connected send each other, and nobody stores: typing and transient messages. */
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

export function createSignals(context: Context, missing: MissingGroups, pace: SignalPace): Signals {
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
    if (kind === 'group' && !pace.mayPass(appId, receiver, signal)) {
      // Typing that is not sent is not missed.
      if (signal === 'typing_indicator') return
      throw tooManyTransients(receiver, signalsPerSecond)
    }
    const [first, second] = partsOf({ kind, sender: uid, receiver })
    context.events.publish(appId, { signal, uid, device: info.deviceId, body, kind, first, second })
  }

  return { send }
}

/** That somebody types may be sent to a stranger, for whom it is the first sign; anything else of theirs may not. */
function saysSomething(signal: Signal['signal'], body: Signal['body']): boolean {
  return signal === 'transient_message' || 'metadata' in body
}
