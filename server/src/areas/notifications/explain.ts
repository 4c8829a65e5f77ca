import {
  type Channel,
  channels,
  type Explanation,
  type NotificationGate,
  type NotificationLog,
  type UnplannedReason,
} from '@parley/contract'
import { sql } from 'kysely'
import type { App } from '../../chat/identity.ts'
import type { StoredGate } from '../../chat/notifications/decide.ts'
import { requireUser } from '../../chat/users/require.ts'
import type { Context } from '../../context.ts'
import { appKey } from '../../store/app-key.ts'
import type { Fragment } from '../../store/statement.ts'
import { type ExplainedMessage, readExplained, readWithheld } from './explained-message.ts'
import { selectLogs } from './logs.ts'

/** What is to be explained: everything about a message, or one event. */
export interface Asked {
  readonly uid: string
  readonly messageId: number | undefined
  readonly eventId: number | undefined
}

/** A row of the log with what an answer does not show. */
interface Found {
  readonly log: NotificationLog
  readonly row: {
    readonly gates: readonly StoredGate[]
    /** Of an e-mail or SMS: the message that opened its window. */
    readonly openedId: number | null
    /** Of one that was decided: what it is about; of what takes back: what that was. */
    readonly messages: readonly number[] | null
  }
}

/** Why a user was notified, or was not. @throws 404 `ERR_UID_NOT_FOUND`, `ERR_MESSAGE_ID_NOT_FOUND` */
export async function explain(context: Context, app: App, asked: Asked): Promise<Explanation> {
  const { database } = context
  const { appId } = app
  const { uid } = await requireUser(database, appId, asked.uid)
  const message = await readExplained(database, appId, asked)
  if (message?.isPurged === true) return { uid, notifications: [], unplanned: 'ERASED' }
  const about = asked.messageId === undefined ? sql`d.event = ${asked.eventId}` : aboutMessage(appId, asked.messageId)
  const rows: readonly Found[] = await selectLogs<Found['row']>(
    database,
    [sql`d.app_id = ${appKey(appId)}`, sql`d.uid = ${uid}`, about],
    { ascending: true, limit: 200, also: sql`, d.gates, d.opened_id as "openedId", d.messages` },
  )
  const named = rows.flatMap(({ log }) => log.messageId ?? [])
  const withheld = await readWithheld(context, appId, uid, message === undefined ? named : [...named, message.id])
  const subject = message && { ...message, isOwn: message.sender === uid, gate: withheld.get(message.id) }
  const concerned = subject === undefined ? rows : rows.filter((one) => isAbout(one, subject, rows))
  const notifications = concerned.map((one) => show(one, subject, withheld))
  const whyNot = async (channel?: Channel) => {
    const why = await whyUnplanned(context, app, { ...asked, uid, channel }, subject?.gate)
    const isLeftOut = rows.some(({ log, row }) => isDecided(row) && (channel ?? log.channel) === log.channel)
    return why.unplanned === 'NOT_PLANNED' && isLeftOut ? { unplanned: 'NOT_LISTED' as const } : why
  }
  if (notifications.length === 0) return { uid, notifications, ...(await whyNot()) }
  if (subject?.gate !== undefined) return { uid, notifications }
  const others = channels.filter((channel) => notifications.every((one) => one.channel !== channel))
  const unplanned = await Promise.all(others.map(async (channel) => ({ channel, ...(await whyNot(channel)) })))
  return { uid, notifications, ...(unplanned.length > 0 && { channels: unplanned }) }
}

/** The message that is asked about. */
interface Subject extends ExplainedMessage {
  /** Who is asked about wrote it. */
  readonly isOwn: boolean
  /** All that may be shown of it; undefined: it is there, and they see it. */
  readonly gate: NotificationGate | undefined
}

/**
 * Whether a row is about a message. An e-mail or SMS is about what it listed; while its window is open, about whatever will be
 * looked at then, but for what was stopped as it came.
 */
function isAbout({ log, row }: Found, { id, isOwn, gate, mayBeListed }: Subject, rows: readonly Found[]): boolean {
  if (row.openedId === null) return true
  if (isOwn) return false
  if (row.messages !== null) return row.messages.includes(id)
  const isStopped = rows.some((one) => one.row.openedId === null && one.log.channel === log.channel)
  return mayBeListed && gate === undefined && !isStopped
}

/** Whether it is an e-mail or SMS whose messages are known. */
function isDecided({ openedId, messages }: Found['row']): boolean {
  return openedId !== null && messages !== null
}

const isOfDeletion = ({ trigger }: NotificationLog) => trigger === 'message_deleted'

/** Of what may not be shown the one gate that says so. What an e-mail or SMS was decided by is of all that it lists. */
function show(
  { log, row }: Found,
  subject: Subject | undefined,
  withheld: ReadonlyMap<number, NotificationGate>,
): Explanation['notifications'][number] {
  const gates = row.gates.map(showGate)
  const ofNamed = withheld.get(log.messageId ?? 0)
  const gate = row.openedId === null || subject === undefined ? ofNamed : subject.gate
  if (isOfDeletion(log) || (gate ?? ofNamed) === undefined) return { ...log, gates }
  const { answer: _, error: _error, ...shown } = log
  return { ...shown, gates: gate === undefined ? gates : [gate] }
}

/** Why nothing was planned, by one channel or at all. Of a message of which nothing may be shown, that; else only what is said of its user. */
async function whyUnplanned(
  { notifications }: Context,
  app: App,
  asked: Asked & { readonly channel: Channel | undefined },
  gate: NotificationGate | undefined,
): Promise<Pick<Explanation, 'gates'> & Required<Pick<Explanation, 'unplanned'>>> {
  if (gate?.value === 'held') return { unplanned: 'HELD' }
  const { reason, gates } = await notifications.whyUnplanned(app, asked)
  if (gate !== undefined && !ofUsers.includes(reason)) {
    return { unplanned: gate.value === 'deleted' ? 'DELETED' : 'HIDDEN', gates: [gate] }
  }
  return { unplanned: reason, ...(gates.length > 0 && { gates: gates.map(showGate) }) }
}

/** Reasons that say nothing of the message. */
const ofUsers: readonly UnplannedReason[] = [
  'NO_PROVIDER',
  'NO_EVENT',
  'OWN_ACTION',
  'NOT_A_PARTICIPANT',
  'DEACTIVATED',
]

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
