import type { Context } from './context.ts'
import { tracedEvents } from './events/traced.ts'
import { tracedDatabase } from './store/traced.ts'
import type { Span } from './tracing/tracing.ts'

/** What the areas are given, with what is a caller's own in place of what is everybody's. */
type Own = Partial<Pick<Context, 'database' | 'audit'>>

/**
 * What the areas are given for a piece of work. Where it is told of, its statements are parts of it, and its events lead back to it.
 * Both are made in one place, and so have one shape: with a second one, the first request that is told of would have the engine
 * throw away much of what it has compiled for the others.
 */
export function contextOf(context: Context, span: Span | undefined, own: Own = {}): Context {
  const { database = context.database, audit = context.audit } = own
  // Member by member: to spread and set some anew took 2 % of the service, since the engine has no quick way for so many.
  return {
    span,
    audit,
    database: span === undefined ? database : tracedDatabase(database, span),
    events: span === undefined ? context.events : tracedEvents(context.events, span),
    config: context.config,
    log: context.log,
    metrics: context.metrics,
    tables: context.tables,
    monitor: context.monitor,
    secrets: context.secrets,
    invalidation: context.invalidation,
    addresses: context.addresses,
    apps: context.apps,
    groupPasswords: context.groupPasswords,
    operatorPasswords: context.operatorPasswords,
    signInProvider: context.signInProvider,
    settings: context.settings,
    engineSettings: context.engineSettings,
    flagReasons: context.flagReasons,
    questions: context.questions,
    notificationSettings: context.notificationSettings,
    keys: context.keys,
    tokens: context.tokens,
    policies: context.policies,
    judges: context.judges,
    rulebook: context.rulebook,
    usage: context.usage,
    messages: context.messages,
    groupMarks: context.groupMarks,
    search: context.search,
    moderationActions: context.moderationActions,
    media: context.media,
    fileLinks: context.fileLinks,
    changes: context.changes,
    jobs: context.jobs,
    outbound: context.outbound,
    webhooks: context.webhooks,
    limits: context.limits,
    wrongCredentials: context.wrongCredentials,
    notifications: context.notifications,
    redis: context.redis,
    tracing: context.tracing,
  }
}
