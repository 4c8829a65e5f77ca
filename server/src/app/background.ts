import type { ParleyOptions } from '../app.ts'
import { removeKeysInTime } from '../areas/api-keys/index.ts'
import { startRemovals } from '../areas/apps/index.ts'
import { startRetention } from '../areas/retention/index.ts'
import { startAuditChain } from '../chat/audit/chain.ts'
import { keepAuditLogShort } from '../chat/audit/retention.ts'
import { dropLeases } from '../delivery/leases.ts'
import { sealedColumns } from '../sealed.ts'
import { watchKeys } from '../store/key-watch.ts'
import { startResealing } from '../store/reseal.ts'
import type { Ground } from './ground.ts'
import type { Services } from './services.ts'

/** What works by itself, whether anybody calls or not. */
export type Background = Awaited<ReturnType<typeof startBackground>>

/** Starts it. Sockets and servers come after that. */
export async function startBackground(
  options: ParleyOptions,
  { database, ageClock, secrets, invalidation, source }: Ground,
  { context, ledger, backups }: Services,
) {
  const { config, log } = options
  const { search, usage, jobs, webhooks, notifications, questions, events } = context
  const keyWatch = watchKeys({ database, secrets, invalidation, log, masterKey: options.masterKey, source })
  await invalidation.start()
  await keyWatch.start()
  const resealing = startResealing({ database, secrets, log, columns: sealedColumns })
  const stopRetention = keepAuditLogShort({ database, ageClock, secrets, log }, config.auditRetentionDays)
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
  return { keyWatch, resealing, stopRetention, stopAuditChain, removals, retention, stopEndingKeys }
}
