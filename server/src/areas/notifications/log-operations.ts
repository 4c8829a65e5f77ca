import * as contract from '@parley/contract'
import { serve } from '../../call.ts'
import { readGroups } from '../../chat/groups/rows.ts'
import { requireActiveUser } from '../../chat/users/require.ts'
import { checkSettings } from './check.ts'
import { bothOrNeither, unknownGroup } from './errors.ts'
import { explain, showGate } from './explain.ts'
import { listLogs } from './logs.ts'
import { resendMany, resendOne } from './resend.ts'

/** What became of notifications, why, and what would. */
export const operations = [
  serve(contract.listNotificationLogs, async ({ app, query }, context) => {
    return listLogs(context, app.appId, query)
  }),

  serve(contract.resendNotification, async ({ app, params }, context) => {
    return { data: await resendOne(context, app, params.logId) }
  }),

  serve(contract.resendNotifications, async ({ app, body }, context) => {
    return { data: { count: await resendMany(context, app, body) } }
  }),

  serve(contract.explainNotification, async ({ app, query }, context) => {
    const { uid, messageId, eventId } = query
    if ((messageId === undefined) === (eventId === undefined)) throw bothOrNeither()
    const idOf = (id: string | number | undefined) => (id === undefined ? undefined : Number(id))
    return { data: await explain(context, app, { uid, messageId: idOf(messageId), eventId: idOf(eventId) }) }
  }),

  serve(contract.previewNotification, async ({ app, body }, context) => {
    checkSettings(body)
    await requireActiveUser(context.database, app.appId, body.sender)
    const receiver = body.receiver.toLowerCase()
    if (body.receiverType === 'user') await requireActiveUser(context.database, app.appId, receiver)
    else if (!(await readGroups(context.database, app.appId, [receiver])).has(receiver)) throw unknownGroup(receiver)
    const notifications = await context.notifications.preview(app, {
      ...body,
      receiver,
      sender: body.sender.toLowerCase(),
    })
    return { data: { notifications: notifications.map((one) => ({ ...one, gates: one.gates.map(showGate) })) } }
  }),
]
