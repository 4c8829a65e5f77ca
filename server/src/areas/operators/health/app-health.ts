import type { HealthCheck } from '@parley/contract'
import type { App } from '../../../chat/identity.ts'
import type { Context } from '../../../context.ts'
import { statement } from '../../../store/statement.ts'
import { lookAtApps, type Waiting } from './apps.ts'
import { found, judge, nowSeconds, sizeOf } from './judge.ts'

const megabyte = 1024 * 1024
/** Of what is allowed. */
const nearlyFull = 0.9

const selectBytes = statement(`
  select bytes
  from media_usage
  where app_id = $1`)

/** Of the index `messages_by_time`. */
const countSent = statement(`
  select count(*) as count
  from (
    select
    from messages
    where app_id = $1
    and sent_at > $2
    and category <> 'action'
    limit 100000
  ) m`)

/** How an app does. */
export async function readAppHealth({ database, settings }: Context, { appId }: App) {
  const [apps, { mediaMegabytes }, [used], [sent]] = await Promise.all([
    lookAtApps(database, appId),
    settings.of(appId),
    database.query<{ bytes: number }>(selectBytes, [appId]),
    database.query<{ count: number }>(countSent, [appId, nowSeconds() - 60]),
  ])
  const storage = {
    bytes: Number(used?.bytes ?? 0),
    ...(mediaMegabytes > 0 && { mostBytes: mediaMegabytes * megabyte }),
  }
  return {
    ...judge([...apps.checks, judgeFiles(storage)]),
    messages: { lastMinute: Number(sent?.count ?? 0) },
    webhooks: showWaiting(apps.webhooks),
    notifications: showWaiting(apps.notifications),
    reviews: showWaiting(apps.reviews),
    storage,
  }
}

/** Where nothing waits there is no time since when. */
function showWaiting<Counts extends object>({ oldestAt, ...rest }: Counts & Pick<Waiting, 'oldestAt'>) {
  return { ...rest, ...(oldestAt !== null && { oldestAt }) }
}

function judgeFiles({ bytes, mostBytes }: { readonly bytes: number; readonly mostBytes?: number }): HealthCheck {
  if (mostBytes === undefined) return found('ok', 'files', `Files take ${sizeOf(bytes)}.`)
  const says = `Files take ${sizeOf(bytes)} of ${sizeOf(mostBytes)} that the app may have.`
  if (bytes < nearlyFull * mostBytes) return found('ok', 'files', says)
  return found(bytes >= mostBytes ? 'failing' : 'warning', 'files', says, {
    advice: 'Raise mediaMegabytes in the settings of the app, or delete messages with files: more uploads are refused.',
  })
}
