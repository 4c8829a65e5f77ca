import { decisionOf, logDecisions } from '../../../chat/moderation/records.ts'
import { storedHit } from '../../../chat/moderation/verdict.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { type Deciding, laneOf } from './holding.ts'

/** Appends what was decided to the log. @param decision where it left the message, `refused` or `late` */
export async function logDecision(
  tx: Transaction,
  appId: number,
  id: number,
  { by, hit, took }: Deciding,
  decision: string,
  now: number,
): Promise<void> {
  await logDecisions(tx, appId, id, [decisionOf(hit, { lane: laneOf(by), took: took ?? null }, decision)], now)
}

/** What is stopped is reviewed by whoever stops it: that it was seen before says nothing of that. */
const upsert = statement(`
  insert into message_moderation as k (
    app_id, message, conversation, sender, status, was_visible, lane, created_at, updated_at, rule_id, rule_name,
    rule_revision, condition, list_id, list_revision, match, confidence, reason, actions, reviewed_at, reviewed_by, review_status,
    took
  )
  values (
    $1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22
  )
  on conflict (app_id, message) do update
  set status = excluded.status,
    was_visible = excluded.was_visible,
    lane = excluded.lane,
    took = excluded.took,
    updated_at = excluded.updated_at,
    waiting = null,
    questions = null,
    due_at = null,
    leased_until = null,
    rule_id = coalesce(excluded.rule_id, k.rule_id),
    rule_name = coalesce(excluded.rule_name, k.rule_name),
    rule_revision = coalesce(excluded.rule_revision, k.rule_revision),
    condition = coalesce(excluded.condition, k.condition),
    list_id = case when excluded.rule_id is null then k.list_id else excluded.list_id end,
    list_revision = case when excluded.rule_id is null then k.list_revision else excluded.list_revision end,
    match = case when excluded.rule_id is null then k.match else excluded.match end,
    confidence = case when excluded.rule_id is null then k.confidence else excluded.confidence end,
    reason = case when excluded.rule_id is null then k.reason else excluded.reason end,
    actions = coalesce(excluded.actions, k.actions),
    reviewed_at = case when excluded.status = 'disapproved' then excluded.reviewed_at
      else coalesce(excluded.reviewed_at, k.reviewed_at) end,
    reviewed_by = case when excluded.status = 'disapproved' or excluded.reviewed_at is not null then excluded.reviewed_by
      else k.reviewed_by end,
    review_status = case when excluded.status = 'disapproved' then excluded.review_status
      else coalesce(excluded.review_status, k.review_status) end`)

/** Keeps where a decision leaves a message. Nobody is asked about it any more. */
export async function keepDecision(
  tx: Transaction,
  appId: number,
  { id, conversation, sender }: { readonly id: number; readonly conversation: number; readonly sender: string },
  deciding: Deciding,
  { status, wasVisible }: { readonly status: 'approved' | 'disapproved'; readonly wasVisible: boolean },
  now: number,
): Promise<void> {
  const { by, hit, took } = deciding
  const stored = hit && storedHit(hit)
  const json = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value))
  const review = typeof by === 'string' ? [null, null, null] : [now, by.reviewer ?? null, status]
  await tx.query(upsert, [
    ...[appId, id, conversation, sender, status, wasVisible, laneOf(by), now],
    ...[stored?.rule_id ?? null, stored?.rule_name ?? null, stored?.rule_revision ?? null, json(stored?.condition)],
    ...[stored?.list_id ?? null, stored?.list_revision ?? null, json(stored?.match), stored?.confidence ?? null],
    ...[stored?.reason ?? null, stored?.actions ?? null, ...review, took ?? null],
  ])
  await logDecision(tx, appId, id, deciding, status, now)
}
