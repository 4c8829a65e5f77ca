import type { Context } from './context.ts'
import { tracedEvents } from './events/traced.ts'
import { tracedDatabase } from './store/traced.ts'
import type { Span } from './tracing/tracing.ts'

/** What the areas are given for work that is told of: their statements are parts of it, and their events lead back to it. */
export function tracedContext(context: Context, span: Span): Context {
  const { database, events } = context
  return { ...context, span, database: tracedDatabase(database, span), events: tracedEvents(events, span) }
}
