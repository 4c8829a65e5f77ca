import type { Span } from '../tracing/tracing.ts'
import type { Events } from './index.ts'
import type { BusEvent } from './types.ts'

/** The same events; what is raised leads back to a piece of work that is traced, wherever it is heard of. */
export function tracedEvents(events: Events, { traceparent }: Span): Events {
  const stamped = <Event extends BusEvent>(event: Event): Event => ({ ...event, trace: traceparent })
  return {
    ...events,
    raise: (tx, appId, raised) => events.raise(tx, appId, raised.map(stamped)),
    record: (on, appId, recorded) => events.record(on, appId, recorded.map(stamped)),
    publish: (appId, event) => events.publish(appId, stamped(event)),
  }
}
