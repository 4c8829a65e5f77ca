import type { FastifyInstance } from 'fastify'
import { removeKeysInTime } from './areas/api-keys/index.ts'
import { startRemovals } from './areas/apps/index.ts'
import { createGroupMarkWriter } from './areas/conversations/index.ts'
import { createHookJudge, createMessageSearch, createMessageWriter } from './areas/messages/index.ts'
import { createDryRuns, createModerationActions, createModerationJudge, watchQueue } from './areas/moderation/index.ts'
import { createChangeWatch, createPasswords, createSignInProvider, type PasswordCost } from './areas/operators/index.ts'
import { startPersonExports } from './areas/person-exports/index.ts'
import { startRetention } from './areas/retention/index.ts'
import { openLedgerPlaces } from './backup/ledger/open.ts'
import { createLedgerWriter } from './backup/ledger/writer.ts'
import { createScheduledBackups } from './backup/schedule.ts'
import type { Route } from './call.ts'
import { createAppSettings } from './chat/app-settings.ts'
import { createAppRegistry } from './chat/apps.ts'
import { createAudit } from './chat/audit/audit.ts'
import { startAuditChain } from './chat/audit/chain.ts'
import { keepAuditLogShort } from './chat/audit/retention.ts'
import { createJwts } from './chat/credentials/jwts.ts'
import { createKeyRing } from './chat/credentials/keys.ts'
import { createTokens } from './chat/credentials/tokens.ts'
import { createGroupPasswords } from './chat/groups/password.ts'
import { createEngineSettings } from './chat/moderation/engine-settings.ts'
import { createReasons } from './chat/moderation/reasons.ts'
import { createRulebook } from './chat/moderation/rulebook.ts'
import { createNotificationSettings } from './chat/notifications/settings.ts'
import { createRolePolicies } from './chat/roles/policies.ts'
import { createUsage } from './chat/usage/usage.ts'
import type { Config } from './config/index.ts'
import type { Context } from './context.ts'
import { dropLeases } from './delivery/leases.ts'
import { createQuestions } from './delivery/moderation/index.ts'
import { createNotificationDelivery } from './delivery/notifications/index.ts'
import { createOutbound, readKeys } from './delivery/outbound/index.ts'
import { createWebhookDelivery } from './delivery/webhooks/index.ts'
import { createDoctorJob } from './doctor/job.ts'
import { createEvents } from './events/index.ts'
import { createRemoteBus } from './events/remote-bus.ts'
import { buildMetricsServer } from './http/probes.ts'
import { buildHttpServer, type TlsMaterial } from './http/server.ts'
import { createJobRunner } from './jobs/runner.ts'
import { createLimits } from './limits/index.ts'
import type { Log } from './log.ts'
import { createMediaStorage } from './media/create.ts'
import { createMediaLibrary } from './media/library.ts'
import { createFileLinks } from './media/links.ts'
import { createFileOrigins } from './media/origins.ts'
import type { MediaStorage } from './media/storage.ts'
import { createMetrics, watchPool, watchReads } from './metrics.ts'
import { createAddresses } from './protocol/addresses.ts'
import { createWrongCredentials } from './protocol/wrong-credentials.ts'
import { adminRoutes, routes } from './routes.ts'
import { sealedColumns } from './sealed.ts'
import { createSockets, type Sockets } from './sockets/index.ts'
import type { ConnectionSettings } from './store/connection.ts'
import { openSecrets } from './store/data-keys.ts'
import { openDatabase } from './store/database.ts'
import { createInvalidation } from './store/invalidation.ts'
import { type MasterKeySource, watchKeys } from './store/key-watch.ts'
import { migrate } from './store/migrate.ts'
import { monitorDatabase } from './store/monitor.ts'
import { startResealing } from './store/reseal.ts'
import type { Secrets } from './store/secrets.ts'
import { tables } from './tables.ts'
import { countSpans, createTracing } from './tracing/tracing.ts'

export interface Parley {
  readonly context: Context
  readonly http: FastifyInstance
  /** Serves the metrics, where they have a port of their own. */
  readonly metricsHttp: FastifyInstance | undefined
  /** Serves the admin API, where it has a port of its own. */
  readonly adminHttp: FastifyInstance | undefined
  readonly sockets: Sockets
  /** Stops accepting, finishes what runs, flushes batches, closes the database connections. */
  close(): Promise<void>
}

export interface ParleyOptions {
  readonly config: Config
  readonly log: Log
  readonly connection: ConnectionSettings
  /** 64 hexadecimal characters. */
  readonly masterKey: string
  /** Where it was read, and where it is looked for while the process runs; absent: it stays what it is. */
  readonly masterKeySource?: MasterKeySource | undefined
  /** Folder for files sent with messages, unless a bucket is configured. */
  readonly mediaDir: string
  /** Where what restores must do again is kept beside the data (`ledger/`); absent: it is kept in the database alone. */
  readonly dataDir?: string | undefined
  /** Where files are kept, if not as the configuration says. Tests give one that fails. */
  readonly mediaStorage?: MediaStorage | undefined
  readonly tls?: TlsMaterial | undefined
  /** What is served: everything. Tests watch or break handlers by giving others. */
  readonly routes?: readonly Route[]
  /** How long the database may take to answer a ping before it counts as away, in milliseconds. */
  readonly databasePatienceMs?: number | undefined
  /** The database is a child of this service, on this machine. */
  readonly ownDatabase?: boolean | undefined
  /** No other process serves this database: what others held before is free. */
  readonly isOnlyProcess?: boolean | undefined
  /** Epoch milliseconds by which notifications are planned and decided, if not the machine's. Tests set it. */
  readonly notificationClock?: (() => number) | undefined
  /** Notifications are planned and sent in a thread of their own, so that nobody who calls the service waits behind them. */
  readonly notifiesApart?: boolean | undefined
  /** What passwords of operators cost from now on, if not what they should. Tests, which sign in all the time, say so. */
  readonly passwordCost?: PasswordCost | undefined
  /** The text of the metrics, where that is not of this process alone. */
  readonly exposeMetrics?: (() => Promise<string | undefined>) | undefined
  /** Called again and again while the database is brought up to date, or somebody keeps it from that, such as a backup. */
  readonly onMigrating?: (() => void) | undefined
}

/** The same in all processes of a deployment. */
const deploymentOf = (secrets: Secrets) => secrets.digest('redis').toString('hex').slice(0, 16)

/** Builds the whole service on a database: migrated, its default app made, ready to listen. Tests build the same. */
export async function buildParley(options: ParleyOptions): Promise<Parley> {
  const { config, log, connection } = options
  const applied = await migrate(connection, options.onMigrating)
  if (applied.length > 0) log.info({ migrations: applied }, 'the database was migrated')

  const database = openDatabase(connection, {
    listTimeoutMs: config.listTimeoutSeconds * 1000,
    giveWay: options.ownDatabase === true,
  })
  const source = options.masterKeySource ?? { name: 'its start', read: async () => options.masterKey }
  const secrets = await openSecrets(database, [(await source.read()) ?? options.masterKey, options.masterKey])
  const invalidation = createInvalidation(database)
  const metrics = createMetrics(options.exposeMetrics)
  watchPool(metrics, database.pool)
  const tracing = await createTracing(config.tracing, {
    log,
    counted: countSpans(metrics.registry, config.tracing),
  })
  const monitor = monitorDatabase(database, log, options.databasePatienceMs)
  const redis = config.redis && (await import('./store/redis.ts')).openRedis(config.redis, deploymentOf(secrets), log)
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
  const usage = createUsage(database, log, metrics.registry)
  const outbound = createOutbound(config.outbound)
  const jwts = createJwts((url) => readKeys(outbound.poster, url))
  const tokens = createTokens({ database, jwts, secrets, settings, log, onUse: usage.active })
  const events = createEvents(database, invalidation, { log, retention: config.eventsRetentionDays * 86_400 })
  const messages = createMessageWriter({ database, secrets, metrics, events, usage, tracing })
  const jobs = createJobRunner({ connection, log, registry: metrics.registry, tracing })
  // Over many millions of rows, which are there while an endpoint is down, a count takes longer than any list may.
  const figures = database.openReads({ name: 'figures', atOnce: 1, timeoutMs: 60_000 })
  const webhooks = createWebhookDelivery({
    ...{ config, log, metrics, figures, database, secrets, invalidation, events, jobs, fileLinks },
    ...{ tracing, poster: outbound.poster },
  })
  const notifications = createNotificationDelivery({
    ...{ config, log, metrics, figures, database, secrets, settings, notificationSettings, policies, events, jobs },
    ...{ fileLinks },
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
  watchReads(metrics, { list: database.lists, search: search.load })
  const media = createMediaLibrary({
    ...{ database, log, minFreeBytes: config.mediaMinFreeBytes },
    storage: options.mediaStorage ?? createMediaStorage(config, options.mediaDir),
  })
  const dryRuns = createDryRuns({ database, jobs, log, metrics })
  const doctor = createDoctorJob({ database, jobs, log })
  const personExports = startPersonExports({ database, policies, audit, jobs, log })
  const ledger =
    options.dataDir === undefined
      ? undefined
      : createLedgerWriter(database, openLedgerPlaces(config, options.dataDir, options.mediaDir), log)
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
    judges: [
      createHookJudge(database, webhooks.hooks),
      createModerationJudge({ database, rulebook, settings, metrics, log }),
    ],
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
  const keyWatch = watchKeys({ database, secrets, invalidation, log, masterKey: options.masterKey, source })
  await invalidation.start()
  await keyWatch.start()
  const resealing = startResealing({ database, secrets, log, columns: sealedColumns })
  const stopRetention = keepAuditLogShort(database, secrets, log, config.auditRetentionDays)
  const stopAuditChain = startAuditChain({ database, secrets, log })
  search.start()
  usage.start()
  context.moderationActions.start(context)
  if (options.isOnlyProcess) await dropLeases(database)
  jobs.start()
  webhooks.start()
  notifications.start()
  questions.start(context)
  events.start()
  ledger?.start()
  backups?.start()
  const removals = startRemovals(context)
  const retention = startRetention(context)
  const stopEndingKeys = removeKeysInTime(context)
  const sockets = createSockets(context)
  const served = { routes: options.routes ?? routes, adminRoutes }
  const isApart = config.console && config.adminPort !== undefined
  const http = await buildHttpServer(context, served, options.tls, isApart ? 'public' : 'all')
  const adminHttp = isApart ? await buildHttpServer(context, served, options.tls, 'admin') : undefined
  const metricsHttp = buildMetricsServer(context)
  sockets.attach(http)
  // While sockets are asked to connect again, requests are still answered; the server would wait for ever on open ones.
  http.addHook('preClose', () => sockets.drain())
  sockets.start()
  const remote =
    redis &&
    createRemoteBus({
      ...{ bus: events.bus, redis, secrets, log, registry: metrics.registry },
      onResync: sockets.resync,
      onMissed: sockets.disconnectToResync,
    })
  await remote?.start()

  return {
    context,
    http,
    metricsHttp,
    adminHttp,
    sockets,
    async close() {
      // Ending a backup takes a while: meanwhile the rest ends, too.
      const backing = backups?.stop()
      context.changes.stop()
      // Together: while one waits for its clients, those of the others are notified.
      await Promise.all([http.close(), adminHttp?.close(), metricsHttp?.close()])
      await removals.stop()
      await ledger?.stop()
      await retention.stop()
      await resealing.stop()
      await keyWatch.stop()
      await questions.stop()
      await context.moderationActions.stop()
      await messages.drain()
      await groupMarks.drain()
      await sockets.stop()
      await tokens.stop()
      await usage.stop()
      await search.stop()
      await events.stop()
      await webhooks.stop()
      await notifications.stop()
      dryRuns.stop()
      doctor.stop()
      personExports.stop()
      await jobs.stop()
      await notifications.close()
      await outbound.close()
      await context.signInProvider?.close()
      await remote?.stop()
      redis?.close()
      media.stop()
      stopRetention()
      stopEndingKeys()
      await stopAuditChain()
      monitor.stop()
      await invalidation.stop()
      await backing
      await database.close()
      await tracing?.stop()
    },
  }
}
