import type { Explanation, NotificationGate, NotificationLog } from '@parley/contract'
import { sql } from 'kysely'
import type { App } from '../../chat/identity.ts'
import { unknownMessage } from '../../chat/messages/read.ts'
import { readMessages } from '../../chat/messages/rows.ts'
import { isHeld } from '../../chat/messages/traits.ts'
import type { StoredGate } from '../../chat/notifications/decide.ts'
import { notHeldIn } from '../../chat/sight/participation.ts'
import { identifyViewer, readVisible } from '../../chat/sight/sight.ts'
import { requireUser } from '../../chat/users/require.ts'
import type { Context } from '../../context.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import { type Fragment, statement } from '../../store/statement.ts'
import { selectLogs } from './logs.ts'

/** What is to be explained: everything about a message, or one event. */
export interface Asked {
  readonly uid: string
  readonly messageId: number | undefined
  readonly eventId: number | undefined
}

/** Why a user was notified, or was not. @throws 404 `ERR_UID_NOT_FOUND`, `ERR_MESSAGE_ID_NOT_FOUND` */
export async function explain(context: Context, app: App, asked: Asked): Promise<Explanation> {
  const { database } = context
  const { uid } = await requireUser(database, app.appId, asked.uid)
  const kept = asked.messageId === undefined ? 'there' : await requireMessage(database, app.appId, asked.messageId)
  if (kept === 'purged') return { uid, notifications: [], unplanned: 'ERASED' }
  const about =
    asked.messageId === undefined ? sql`d.event = ${asked.eventId}` : aboutMessage(app.appId, asked.messageId)
  const rows = await selectLogs<{ gates: readonly StoredGate[] }>(
    database,
    [sql`d.app_id = ${appKey(app.appId)}`, sql`d.uid = ${uid}`, about],
    { ascending: true, limit: 200, also: sql`, d.gates` },
  )
  const withheld = await readWithheld(context, app.appId, uid, rows)
  const notifications = rows.map(({ log, row }) => {
    const gate = withheld.get(log.messageId ?? 0)
    if (gate === undefined || isOfDeletion(log)) return { ...log, gates: row.gates.map(showGate) }
    const { answer: _, error: _error, ...shown } = log
    return { ...shown, gates: [gate] }
  })
  if (notifications.length > 0) return { uid, notifications }
  if (kept === 'held') return { uid, notifications, unplanned: 'HELD' }
  const { reason, gates } = await context.notifications.whyUnplanned(app, { ...asked, uid })
  return { uid, notifications, unplanned: reason, ...(gates.length > 0 && { gates: gates.map(showGate) }) }
}

const isOfDeletion = ({ trigger }: NotificationLog) => trigger === 'message_deleted'

/** Of a message that is deleted, held by moderation, or hidden from the user, nothing is said but that: the one gate that says so. */
async function readWithheld(
  { database, policies }: Context,
  appId: number,
  uid: string,
  rows: ReadonlyArray<{ readonly log: NotificationLog }>,
): Promise<ReadonlyMap<number, NotificationGate>> {
  const ids = new Set(rows.flatMap(({ log }) => log.messageId ?? []))
  const messages = ids.size === 0 ? [] : [...(await readMessages(database, appId, [...ids])).values()]
  const visible = await readVisible(database, appId, await identifyViewer(database, policies, appId, uid), messages)
  const gateOf = (value: string): NotificationGate => ({ gate: 'message', value, setBy: 'chat', passes: false })
  return new Map(
    messages.flatMap((message) => {
      const { id, deletedAt } = message
      if (isHeld(message)) return [[id, gateOf('held')]]
      if (deletedAt !== null) return [[id, gateOf('deleted')]]
      return visible.has(id) ? [] : [[id, gateOf('hidden')]]
    }),
  )
}

/** What is of a message, its taking back, and the e-mails and SMS about what was unread when it came. */
function aboutMessage(appId: number, id: number): Fragment {
  return sql`(d.message = ${id} or ${id} = any(d.messages) or (d.opened_id is not null and exists (
    select
    from messages o
    where o.app_id = ${appKey(appId)}
    and o.id = ${id}
    and o.conversation = d.conversation
    and (o.sent_at, o.id) >= (d.opened_sent_at, d.opened_id)
    and (d.closed_at is null or (o.sent_at, o.id) <= (d.until_sent_at, d.until_id))
  )))`
}

/** @returns a gate as answers show it; whoever is muted for ever is muted: true */
export function showGate([gate, value, setBy, passes]: StoredGate): NotificationGate {
  return { gate, value: value ?? true, setBy, passes }
}

const selectMessage = statement(`
  select case when purged then 'purged' when ${notHeldIn('messages')} then 'there' else 'held' end as kept
  from messages
  where app_id = $1
  and id = $2`)

/** What there is of a message; purged: its place in the history only. @throws 404 `ERR_MESSAGE_ID_NOT_FOUND` */
async function requireMessage(on: Queryable, appId: number, id: number): Promise<'there' | 'held' | 'purged'> {
  const [found] = await on.query<{ kept: 'there' | 'held' | 'purged' }>(selectMessage, [appId, id])
  if (found === undefined) throw unknownMessage(id)
  return found.kept
}
