import type { ParleyOptions } from '../app.ts'
import { createMetrics, watchPool } from '../metrics.ts'
import { createAgeClock } from '../store/age-clock.ts'
import { openSecrets } from '../store/data-keys.ts'
import { openDatabase } from '../store/database.ts'
import { createInvalidation } from '../store/invalidation.ts'
import { migrate } from '../store/migrate.ts'
import { monitorDatabase } from '../store/monitor.ts'
import type { Secrets } from '../store/secrets.ts'
import { countSpans, createTracing } from '../tracing/tracing.ts'

/** What everything else stands on: the database as this version needs it, and what comes with it. */
export type Ground = Awaited<ReturnType<typeof openGround>>

/** The same in all processes of a deployment. */
const deploymentOf = (secrets: Secrets) => secrets.digest('redis').toString('hex').slice(0, 16)

/** Migrates the database and opens it. */
export async function openGround(options: ParleyOptions) {
  const { config, log, connection } = options
  const applied = await migrate(connection, options.onMigrating)
  if (applied.length > 0) log.info({ migrations: applied }, 'the database was migrated')

  const database = openDatabase(connection, {
    listTimeoutMs: config.listTimeoutSeconds * 1000,
    giveWay: options.ownDatabase === true,
  })
  const ageClock = createAgeClock(database, log)
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
  const redis = config.redis && (await import('../store/redis.ts')).openRedis(config.redis, deploymentOf(secrets), log)
  return { database, ageClock, source, secrets, invalidation, metrics, tracing, monitor, redis }
}
