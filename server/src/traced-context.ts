import type { Context } from './context.ts'
import { tracedEvents } from './events/traced.ts'
import { tracedDatabase } from './store/traced.ts'
import type { Span } from './tracing/tracing.ts'

/** What the areas are given, with what is a caller's own in place of what is everybody's. */
type Own = Partial<Pick<Context, 'database' | 'audit'>>

/**
 * What the areas are given for a piece of work. Where it is traced, its statements are parts of it, and its events lead back to it.
 * Both are made in one place, and so have one shape: with a second one, the first request that is traced would have the engine
 * throw away much of what it has compiled for the others. All that is set here is in `context` before: to add something to a copy
 * takes forty times as long as to copy it.
 */
export function contextOf(context: Context, span: Span | undefined, own: Own = {}): Context {
  const { database = context.database, audit = context.audit } = own
  return {
    ...context,
    span,
    audit,
    database: span === undefined ? database : tracedDatabase(database, span),
    events: span === undefined ? context.events : tracedEvents(context.events, span),
  }
}
