import {
  type AnswerOf,
  type BlockedMessage,
  type FlaggedMessage,
  limits,
  type listBlockedMessages,
  type listFlaggedMessages,
  type listReviewedMessages,
  type QueryOf,
  type ReviewDecision,
  type ReviewedMessage,
} from '@parley/contract'
import { sql } from 'kysely'
import type { App } from '../../../chat/identity.ts'
import { blockedAtOf, showCondition } from '../../../chat/moderation/hits.ts'
import type { Condition } from '../../../chat/moderation/model.ts'
import type { Database } from '../../../store/database.ts'
import { allOf, type Fragment } from '../../../store/statement.ts'
import { revisionId } from '../revision-id.ts'
import { readAround } from './around.ts'
import { type Filters, readConditionsOf } from './filters.ts'

/** A row of a list: a message, and when it came into it. */
interface Entry {
  readonly id: number
  readonly at: number
}

/** Columns that say why a message was blocked, of `message_moderation h`. */
const hitColumns =
  sql.raw(`h.rule_id as "ruleId", h.rule_name as "ruleName", h.rule_revision as "revision", h.condition, h.match,
    h.confidence, h.reason, h.actions, h.created_at as "createdAt", h.updated_at as "updatedAt",
    h.review_status as decision, h.reviewed_at as "reviewedAt", h.reviewed_by as "reviewedBy"`)

interface HitRow {
  readonly ruleId: string | null
  readonly ruleName: string | null
  readonly revision: number | null
  readonly condition: Condition | null
  readonly match: { in: 'text' | 'custom'; start: number; end: number; text?: string } | null
  readonly confidence: number | null
  readonly reason: string | null
  readonly actions: readonly string[] | null
  readonly createdAt: number | null
  readonly updatedAt: number | null
}

type BlockedRow = Entry &
  HitRow & {
    readonly createdAt: number
    readonly updatedAt: number
    readonly decision: ReviewDecision | null
    readonly reviewedAt: number | null
    readonly reviewedBy: string | null
  }

type ReviewedRow = Entry &
  HitRow & {
    readonly list: 'flagged' | 'blocked'
    readonly decision: ReviewDecision
    readonly reviewedBy: string | null
    readonly wasBlocked: boolean
  }

/** A page of the messages that users or rules have flagged and nobody has decided about. */
export async function listFlagged(
  database: Database,
  app: App,
  query: QueryOf<typeof listFlaggedMessages>,
): Promise<AnswerOf<typeof listFlaggedMessages>> {
  const filters = await readConditionsOf(database, app.appId, query, 'flagged')
  return page(database, app, query, filters, sql`q.opened_at as at, m.id`, (row: Entry, { around, message }) => {
    const item: FlaggedMessage = {
      appId: app.name,
      ...message,
      ...around.flags(row.id),
      openedAt: row.at,
      ...around.claim(row.id),
      ...around.notes(row.id),
    }
    return item
  })
}

/** A page of the messages that moderation blocked. */
export async function listBlocked(
  database: Database,
  app: App,
  query: QueryOf<typeof listBlockedMessages>,
): Promise<AnswerOf<typeof listBlockedMessages>> {
  const filters = await readConditionsOf(database, app.appId, query, query.reviewed === true ? 'seen' : 'blocked')
  const columns = sql`h.updated_at as at, m.id, ${hitColumns}`
  return page(database, app, query, filters, columns, (row: BlockedRow, { around, message }) => {
    const { id, at, createdAt, updatedAt, decision, reviewedAt, reviewedBy } = row
    const item: BlockedMessage = {
      appId: app.name,
      ...showHit(app, row),
      message,
      createdAt,
      updatedAt,
      blockedAt: blockedAtOf(at, id),
      ...(decision !== null && { decision }),
      ...(reviewedAt !== null && { reviewedAt }),
      ...(reviewedBy !== null && { reviewedBy }),
      ...around.claim(id),
      ...around.notes(id),
    }
    return item
  })
}

/** A page of the messages about which reviewers have decided. */
export async function listReviewed(
  database: Database,
  app: App,
  query: QueryOf<typeof listReviewedMessages>,
): Promise<AnswerOf<typeof listReviewedMessages>> {
  const filters = await readConditionsOf(database, app.appId, { order: 'newest', ...query }, 'reviewed')
  if (query.decision !== undefined) filters.conditions.push(sql`r.decision = ${query.decision}`)
  if (query.reviewedBy !== undefined) filters.conditions.push(sql`r.reviewer = ${query.reviewedBy}`)
  const columns = sql`r.reviewed_at as at, m.id, ${hitColumns}, r.list, r.decision, r.reviewer as "reviewedBy",
    h.message is not null as "wasBlocked"`
  return page(database, app, query, filters, columns, (row: ReviewedRow, { around, message }) => {
    const { id, at, list, decision, reviewedBy, createdAt, updatedAt, wasBlocked } = row
    const item: ReviewedMessage = {
      appId: app.name,
      ...showHit(app, row),
      message,
      createdAt: createdAt ?? message.sentAt,
      updatedAt: updatedAt ?? at,
      ...(wasBlocked && { blockedAt: blockedAtOf(updatedAt ?? at, id) }),
      ...around.flags(id),
      list,
      decision,
      reviewedAt: at,
      ...(reviewedBy !== null && { reviewedBy }),
      ...around.claim(id),
      ...around.notes(id),
    }
    return item
  })
}

interface Beside {
  readonly around: Awaited<ReturnType<typeof readAround>>
  readonly message: NonNullable<ReturnType<Beside['around']['message']>>
}

async function page<Row extends Entry, Item>(
  database: Database,
  app: App,
  query: { readonly limit?: number },
  { from, conditions, at, id, descending }: Filters,
  columns: Fragment,
  show: (row: Row, beside: Beside) => Item,
) {
  const limit = query.limit ?? limits.moderationLimit.default
  const direction = sql.raw(descending ? 'desc' : 'asc')
  const rows = await database.run(sql<Row>`
    select ${columns}
    from ${from}
    where ${allOf(conditions)}
    order by ${at} ${direction}, ${id} ${direction}
    limit ${limit + 1}`)
  const found = rows.slice(0, limit)
  const around = await readAround(
    database,
    app,
    found.map(({ id }) => id),
  )
  const data = found.flatMap((row) => {
    const message = around.message(row.id)
    return message === undefined ? [] : [show(row, { around, message })]
  })
  const last = found.at(-1)
  const next = rows.length > limit && last !== undefined ? { next: { after: `${last.at}_${last.id}` } } : {}
  return { data, meta: { current: { limit, count: data.length }, ...next } }
}

function showHit(app: App, row: HitRow) {
  const { ruleId, ruleName, revision, condition, match, confidence, reason, actions } = row
  return {
    ...(ruleId !== null && { ruleId }),
    ...(ruleName !== null && { ruleName }),
    ...(ruleId !== null && revision !== null && { revisionId: revisionId(app, { id: ruleId, revision }) }),
    ...(condition !== null && { condition: showCondition(condition) }),
    ...(match !== null && { match }),
    ...(confidence !== null && { confidence }),
    ...(reason !== null && { reason }),
    ...(actions !== null && { action: [...actions] }),
  }
}
