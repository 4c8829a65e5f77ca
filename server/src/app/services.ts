import type { ParleyOptions } from '../app.ts'
import { createGroupMarkWriter } from '../areas/conversations/index.ts'
import { createHookJudge, createMessageSearch, createMessageWriter } from '../areas/messages/index.ts'
import { createDryRuns, createModerationActions, createModerationJudge, watchQueue } from '../areas/moderation/index.ts'
import { createChangeWatch, createPasswords, createSignInProvider } from '../areas/operators/index.ts'
import { startPersonExports } from '../areas/person-exports/index.ts'
import { openLedgerDestinations } from '../backup/ledger/open.ts'
import { createLedgerWriter } from '../backup/ledger/writer.ts'
import { createScheduledBackups } from '../backup/schedule.ts'
import { createAppSettings } from '../chat/app-settings.ts'
import { createAppRegistry } from '../chat/apps.ts'
import { createAudit } from '../chat/audit/audit.ts'
import { createJwts } from '../chat/credentials/jwts.ts'
import { createKeyRing } from '../chat/credentials/keys.ts'
import { createTokens } from '../chat/credentials/tokens.ts'
import { createGroupPasswords } from '../chat/groups/password.ts'
import { createEngineSettings } from '../chat/moderation/engine-settings.ts'
import { createReasons } from '../chat/moderation/reasons.ts'
import { createRulebook } from '../chat/moderation/rulebook.ts'
import { createNotificationSettings } from '../chat/notifications/settings.ts'
import { createRolePolicies } from '../chat/roles/policies.ts'
import { createUsage } from '../chat/usage/usage.ts'
import type { Context } from '../context.ts'
import { createQuestions } from '../delivery/moderation/index.ts'
import { createNotificationDelivery } from '../delivery/notifications/index.ts'
import { createOutbound, readKeys } from '../delivery/outbound/index.ts'
import { createWebhookDelivery } from '../delivery/webhooks/index.ts'
import { createDoctorJob } from '../doctor/job.ts'
import { createEvents } from '../events/index.ts'
import { watchEventLag } from '../events/lag.ts'
import { createJobRunner } from '../jobs/runner.ts'
import { createLimits } from '../limits/index.ts'
import { createMediaStorage } from '../media/create.ts'
import { createMediaLibrary } from '../media/library.ts'
import { createFileLinks } from '../media/links.ts'
import { createFileOrigins } from '../media/origins.ts'
import { watchReads } from '../metrics.ts'
import { createAddresses } from '../protocol/addresses.ts'
import { createWrongCredentials } from '../protocol/wrong-credentials.ts'
import { tables } from '../tables.ts'
import type { Ground } from './ground.ts'

/** What handlers are given, and what runs beside it. */
export type Services = ReturnType<typeof createServices>

/** Makes what the service does its work with. Whatever works by itself is started later. */
export function createServices(options: ParleyOptions, ground: Ground) {
  const { config, log, connection } = options
  const { database, ageClock, secrets, invalidation, metrics, tracing, monitor, redis } = ground
  const keys = createKeyRing(database, secrets, invalidation)
  const policies = createRolePolicies(database, invalidation)
  const audit = createAudit(secrets, { caller: 'service' })
  const apps = createAppRegistry(database, invalidation, audit)
  const settings = createAppSettings(database, invalidation, config.appDefaults)
  const notificationSettings = createNotificationSettings(database, invalidation)
  const engineSettings = createEngineSettings(database, invalidation)
  const flagReasons = createReasons(database, invalidation)
  const fileLinks = createFileLinks(secrets, settings, createFileOrigins(database))
  const rulebook = createRulebook({ database, invalidation, log })
  const usage = createUsage(database, log, metrics.registry, ageClock)
  const outbound = createOutbound(config.outbound)
  const jwts = createJwts((url) => readKeys(outbound.poster, url))
  const tokens = createTokens({ database, jwts, secrets, settings, log, onUse: usage.active })
  const events = createEvents(database, invalidation, {
    ...{ log, ageClock, retention: config.eventsRetentionDays * 86_400 },
  })
  const messages = createMessageWriter({ database, secrets, metrics, events, usage, tracing })
  const jobs = createJobRunner({ connection, log, registry: metrics.registry, tracing })
  // Over many millions of rows, which are there while an endpoint is down, a count takes longer than any list may.
  const figures = database.openReads({ name: 'figures', atOnce: 1, timeoutMs: 60_000 })
  const webhooks = createWebhookDelivery({
    ...{ config, log, metrics, figures, database, ageClock, secrets, invalidation, events, jobs, fileLinks },
    ...{ tracing, poster: outbound.poster },
  })
  const notifications = createNotificationDelivery({
    ...{ config, log, metrics, figures, database, secrets, settings, notificationSettings, policies, events, jobs },
    ...{ ageClock, fileLinks },
    ...(options.notificationClock && { now: options.notificationClock }),
    ...(options.notifiesApart && {
      thread: { connection, ownDatabase: options.ownDatabase === true, patienceMs: options.databasePatienceMs },
    }),
    ...{ tracing, poster: outbound.poster },
  })
  const questions = createQuestions({ database, log, metrics, secrets, tracing, poster: outbound.poster })
  const groupMarks = createGroupMarkWriter(database, events)
  const search = createMessageSearch(database, log, config.searchTimeoutSeconds * 1000)
  watchQueue(metrics.registry, database)
  watchEventLag(metrics.registry, database)
  watchReads(metrics, { list: database.lists, search: search.load })
  const media = createMediaLibrary({
    ...{ database, ageClock, log, minFreeBytes: config.mediaMinFreeBytes },
    storage: options.mediaStorage ?? createMediaStorage(config, options.mediaDir),
  })
  const dryRuns = createDryRuns({ database, jobs, log, metrics })
  const doctor = createDoctorJob({ database, jobs, log })
  const personExports = startPersonExports({ database, ageClock, policies, audit, jobs, log })
  const ledger =
    options.dataDir === undefined
      ? undefined
      : createLedgerWriter(database, openLedgerDestinations(config, options.dataDir, options.mediaDir), log)
  const backups =
    options.dataDir === undefined
      ? undefined
      : createScheduledBackups({ config, database, log, registry: metrics.registry, dataDir: options.dataDir })
  const limits = createLimits(config.rateLimits, redis, metrics.registry)
  const context: Context = {
    config,
    log,
    metrics,
    database,
    ageClock,
    tables,
    monitor,
    secrets,
    invalidation,
    addresses: createAddresses(config),
    audit,
    apps,
    settings,
    groupPasswords: createGroupPasswords(secrets),
    operatorPasswords: createPasswords(options.passwordCost),
    signInProvider: config.oidc && createSignInProvider(config.oidc, log),
    engineSettings,
    flagReasons,
    questions,
    notificationSettings,
    keys,
    tokens,
    policies,
    usage,
    rulebook,
    judges: [createHookJudge(database, webhooks.hooks), createModerationJudge({ database, rulebook, settings })],
    messages,
    groupMarks,
    search,
    moderationActions: createModerationActions(),
    media,
    fileLinks,
    events,
    changes: createChangeWatch(events.bus),
    jobs,
    outbound,
    webhooks,
    limits,
    wrongCredentials: createWrongCredentials(() => limits.onRefused('credentials')),
    notifications,
    redis,
    tracing,
    span: undefined,
  }
  return { context, ledger, backups, dryRuns, doctor, personExports }
}
