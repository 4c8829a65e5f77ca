import { ApiError, type BodyOf, type NotificationLog, type resendNotifications } from '@parley/contract'
import { sql } from 'kysely'
import type { App } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import { appKey } from '../../store/app-key.ts'
import { selectLogs } from './logs.ts'

/** Has one push of the log sent again. @throws 404 `ERR_DELIVERY_NOT_FOUND`, also where its provider was removed */
export async function resendOne(context: Context, app: App, logId: string): Promise<NotificationLog> {
  const unknown = new ApiError(
    'ERR_DELIVERY_NOT_FOUND',
    `There is no push with the id ${logId} that can be sent again.`,
  )
  if (!/^[0-9]{1,15}$/.test(logId)) throw unknown
  const id = Number(logId)
  if ((await context.notifications.resend(app, { id })) === 0) throw unknown
  const one = [sql`d.app_id = ${appKey(app.appId)}`, sql`d.id = ${id}`]
  const [found] = await selectLogs(context.database, one, { ascending: true, limit: 1 })
  if (found === undefined) throw unknown
  return found.log
}

/** Has the pushes of a status and a stretch of time sent again. @returns how many */
export async function resendMany(
  context: Context,
  app: App,
  body: BodyOf<typeof resendNotifications>,
): Promise<number> {
  const { status, from, to, uid, provider } = body
  return context.notifications.resend(app, {
    status,
    ...(from !== undefined && { from: milliseconds(from) }),
    ...(to !== undefined && { to: milliseconds(to) }),
    ...(uid !== undefined && { uid: uid.toLowerCase() }),
    ...(provider !== undefined && { provider }),
  })
}

function milliseconds(time: number): number {
  return time < 1e11 ? time * 1000 : time
}
