import type { AnswerOf, listNotificationLogs, NotificationLog, QueryOf } from '@parley/contract'
import { limits } from '@parley/contract'
import { sql } from 'kysely'
import { type ConversationKind, kindSql, storedKind } from '../../chat/kind.ts'
import { notHeldSql } from '../../chat/sight/participation.ts'
import type { Context } from '../../context.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import { allOf, type Fragment } from '../../store/statement.ts'

type Query = QueryOf<typeof listNotificationLogs>

interface LogRow {
  readonly id: number
  readonly uid: string
  readonly channel: NotificationLog['channel']
  readonly providerKind: string
  readonly providerId: string
  readonly digest: Buffer | null
  readonly platform: string | null
  readonly trigger: string
  readonly message: number | null
  readonly reaction: number | null
  readonly kind: ConversationKind
  readonly receiver: string
  readonly status: 'pending' | 'delivered' | 'failed' | 'stopped'
  readonly reason: string | null
  readonly attempts: number
  readonly dueAt: number | null
  readonly createdAt: number
  readonly endedAt: number | null
  readonly answerStatus: number | null
  readonly answer: string | null
  readonly error: string | null
  readonly sender: string | null
  readonly sentAt: number | null
  readonly reactionSender: string | null
}

/** What a log says of a message is joined, not stored: what was deleted does not live on in the logs. */
const columns =
  sql.raw(`d.id, d.uid, d.channel, d.provider_kind as "providerKind", d.provider_id as "providerId", d.digest,
  d.platform, d.trigger, d.message, d.reaction, ${kindSql('d.kind')} as kind, d.receiver, d.status, d.reason, d.attempts, d.due_at as "dueAt",
  d.created_at as "createdAt", d.ended_at as "endedAt", d.answer_status as "answerStatus", d.answer, d.error, m.sender,
  m.sent_at as "sentAt", r.uid as "reactionSender"`)

/** A page of what became of notifications; rows ascend. Without a word of which way to go it is the newest, as people look at them. */
export async function listLogs(
  { database }: Pick<Context, 'database'>,
  appId: number,
  query: Query,
): Promise<AnswerOf<typeof listNotificationLogs>> {
  const limit = query.limit ?? limits.notificationLogLimit.default
  const ascending = query.affix === 'append'
  const conditions = conditionsOf(appId, query)
  if (query.logId !== undefined) conditions.push(ascending ? sql`d.id > ${query.logId}` : sql`d.id < ${query.logId}`)
  const rows = await selectLogs(database, conditions, { ascending, limit: limit + 1 })
  const hasMore = rows.length > limit
  const page = rows.slice(0, limit)
  if (!ascending) page.reverse()
  const [first, last] = [page[0]?.row, page.at(-1)?.row]
  const hasCursor = query.logId !== undefined
  const [hasOlder, hasNewer] = ascending ? [hasCursor, hasMore] : [hasMore, hasCursor]
  return {
    data: page.map(({ log }) => log),
    meta: {
      ...(first && hasOlder && { previous: { affix: 'prepend', logId: String(first.id) } }),
      current: { limit, count: page.length },
      ...(last && hasNewer && { next: { affix: 'append', logId: String(last.id) } }),
    },
  }
}

/**
 * Logs as answers show them, beside their rows.
 * @param also columns that are read besides
 */
export async function selectLogs<More = unknown>(
  on: Queryable,
  conditions: readonly Fragment[],
  { ascending, limit, also = sql`` }: { readonly ascending: boolean; readonly limit: number; readonly also?: Fragment },
): Promise<Array<{ log: NotificationLog; row: { readonly id: number } & More }>> {
  const rows = await on.run(sql<LogRow & More>`
    select ${columns}${also}
    from notification_deliveries d
    left join messages m on m.app_id = d.app_id and m.id = d.message and not m.purged and ${notHeldSql}
    left join reactions r on r.app_id = d.app_id and r.message_id = d.message and r.id = d.reaction
    where ${allOf(conditions)}
    order by d.id ${sql.raw(ascending ? 'asc' : 'desc')}
    limit ${limit}`)
  return rows.map((row) => ({ log: showLog(row), row }))
}

function conditionsOf(appId: number, query: Query): Fragment[] {
  const conditions: Fragment[] = [sql`d.app_id = ${appKey(appId)}`]
  const equal = (column: string, value: unknown) => {
    if (value !== undefined) conditions.push(sql`${sql.ref(column)} = ${value}`)
  }
  const lower = (text: string | undefined) => text?.toLowerCase()
  equal('d.message', query.messageId)
  equal('d.reaction', query.reactionId)
  equal('d.trigger', query.trigger)
  equal('d.channel', query.channel)
  equal('d.provider_kind', query.provider)
  equal('d.reason', query.reason)
  equal('d.receiver', lower(query.receiver))
  equal('m.category', query.messageCategory)
  equal('m.type', query.messageType)
  equal('m.sender', lower(query.sender))
  equal('r.uid', lower(query.reactionSender))
  if (query.receiverType !== undefined) conditions.push(sql`d.kind = ${storedKind(query.receiverType)}`)
  if (query.member !== undefined) conditions.push(sql`d.uid = ${lower(query.member)}`, sql`d.kind = 2`)
  if (query.reactionReceiver !== undefined) {
    conditions.push(sql`d.uid = ${lower(query.reactionReceiver)}`, sql`d.reaction is not null`)
  }
  if (query.from !== undefined) conditions.push(sql`m.sent_at * 1000 > ${query.from}`)
  if (query.to !== undefined) conditions.push(sql`m.sent_at * 1000 <= ${query.to}`)
  if (query.notificationTriggered === true) conditions.push(sql`d.status <> 'stopped'`)
  if (query.notificationTriggered === false) conditions.push(sql`d.status = 'stopped'`)
  if (query.success === true) conditions.push(sql`d.status = 'delivered'`)
  if (query.success === false) conditions.push(sql`d.status = 'failed'`)
  return conditions
}

function showLog(row: LogRow): NotificationLog {
  const isReaction = row.reaction !== null
  const hasAnswer = row.answerStatus !== null || row.answer !== null
  return {
    _id: String(row.id),
    processingStartedAtMS: row.createdAt,
    ...(row.endedAt !== null && {
      processingEndedAtMS: row.endedAt,
      totalProcessingTimeInMS: Math.max(0, row.endedAt - row.createdAt),
    }),
    component: 'notifications-core',
    channel: row.channel,
    provider: row.providerKind,
    providerId: row.providerId,
    ...(row.message !== null && { messageId: row.message }),
    ...(isReaction && { reactionId: row.reaction }),
    trigger: row.trigger,
    ...(row.sentAt !== null && { messageSentAtMS: row.sentAt * 1000 }),
    ...(row.sender !== null && { sender: row.sender }),
    ...(row.reactionSender !== null && { reactionSender: row.reactionSender }),
    receiver: row.receiver,
    ...(isReaction && { reactionReceiver: row.uid }),
    receiverType: row.kind,
    ...(row.kind === 'group' && { member: row.uid }),
    uid: row.uid,
    ...(row.platform !== null && { tokenType: row.platform }),
    ...(row.digest !== null && { pushToken: `…${row.digest.toString('hex').slice(0, 8)}` }),
    notificationTriggered: row.status !== 'stopped',
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.status === 'delivered' && { success: true }),
    ...(row.status === 'failed' && { success: false }),
    attempts: row.attempts,
    ...(row.dueAt !== null && { nextAttemptAtMS: row.dueAt }),
    ...(hasAnswer && {
      answer: {
        ...(row.answerStatus !== null && { status: row.answerStatus }),
        ...(row.answer !== null && { text: row.answer }),
      },
    }),
    ...(row.error !== null && { error: row.error }),
  }
}
