import type { FastifyInstance } from 'fastify'
import { type Background, startBackground } from './app/background.ts'
import { type Ground, openGround } from './app/ground.ts'
import { buildServers, type Served } from './app/serve.ts'
import { createServices, type Services } from './app/services.ts'
import type { PasswordCost } from './areas/operators/index.ts'
import type { Route } from './call.ts'
import type { Config } from './config/index.ts'
import type { Context } from './context.ts'
import type { TlsMaterial } from './http/server.ts'
import type { Log } from './log.ts'
import type { MediaStorage } from './media/storage.ts'
import type { Sockets } from './sockets/index.ts'
import type { ConnectionSettings } from './store/connection.ts'
import type { MasterKeySource } from './store/key-watch.ts'
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

/** Builds the whole service on a database: migrated, its default app made, ready to listen. Tests build the same. */
export async function buildParley(options: ParleyOptions): Promise<Parley> {
  const ground = await openGround(options)
  const services = createServices(options, ground)
  const background = await startBackground(options, ground, services)
  const served = await buildServers(options, services.context)
  const { http, metricsHttp, adminHttp, sockets } = served
  return {
    ...{ context: services.context, http, metricsHttp, adminHttp, sockets },
    close: () => closeAll(ground, services, background, served),
  }
}

/** Ends everything, whatever others need after them. */
async function closeAll(
  { monitor, invalidation, database, tracing, redis }: Ground,
  { context, ledger, backups, dryRuns, doctor, personExports }: Services,
  { keyWatch, resealing, stopRetention, stopAuditChain, removals, retention, stopEndingKeys }: Background,
  { http, adminHttp, metricsHttp, sockets, remote }: Served,
): Promise<void> {
  const {
    questions,
    messages,
    groupMarks,
    tokens,
    usage,
    search,
    events,
    webhooks,
    notifications,
    jobs,
    outbound,
    media,
  } = context
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
}
