import type { Place } from '../events/types.ts'
import type { ConversationKind } from './kind.ts'
import { orderPair } from './naming.ts'

/** Where a message stands, by what its row tells. */
export function placeOf(message: {
  readonly conversation: number
  readonly kind: ConversationKind
  readonly sender: string
  readonly receiver: string
}): Place {
  const { conversation, kind, sender, receiver } = message
  if (kind === 'group') return placeOfGroup({ guid: receiver, conversation })
  const [first, second] = orderPair(sender, receiver)
  return { conversation, kind, first, second }
}

export function placeOfGroup({ guid, conversation }: { guid: string; conversation: number }): Place {
  return { conversation, kind: 'group', first: guid, second: '' }
}
