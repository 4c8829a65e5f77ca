import type { MessageChanged, MessageSent, Reacted, Traceable } from '../../events/types.ts'
import type { AppSockets } from '../registry.ts'
import type { EventParts } from './parts.ts'

/** The span in which an event is broadcast, where the request that it came from is traced. */
export function spanOf(
  { context: { tracing } }: EventParts,
  { app }: AppSockets,
  { trigger, messageId, trace }: Traceable & (MessageSent | MessageChanged | Reacted),
) {
  if (tracing === undefined || trace === undefined) return undefined
  const attributes = { 'parley.app': app.name, 'parley.trigger': trigger, 'parley.message': messageId }
  return tracing.follow('sockets', trace, { kind: 'producer', attributes })
}
