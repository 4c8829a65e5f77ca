import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { Flagging } from './records.ts'

/** Rules that flag and have not flagged the message before, or not in this revision. */
const newRules = `(
    select jsonb_agg(n.flagging)
    from jsonb_array_elements($4::text::jsonb) as n(flagging)
    where not exists (
      select
      from json_array_elements(q.by_rule) as o(flagging)
      where o.flagging ->> 'ruleId' = n.flagging ->> 'ruleId'
      and o.flagging ->> 'revision' = n.flagging ->> 'revision'
    )
  )`

const open = statement(`
  insert into moderation_queue as q (app_id, message, opened_at, by_rule)
  values ($1, $2, $3, $4::text::json)
  on conflict (app_id, message) do update
  set status = 'open',
    opened_at = case when q.status = 'open' then q.opened_at else excluded.opened_at end,
    by_rule = (q.by_rule::jsonb || coalesce(${newRules}, '[]'))::json
  where q.status <> 'deleted'
  and (
    ${newRules} is not null
    or q.status <> 'open'
    and (
      $5
      or exists (
        select
        from moderation_reviews r
        join messages m on m.app_id = r.app_id and m.id = r.message
        where r.app_id = q.app_id
        and r.message = q.message
        and r.edited_at is distinct from m.edited_at
      )
    )
  )`)

/** Why people are to look at a message. */
export interface Opening {
  /** Rules that flag it. */
  readonly flaggedBy?: readonly Flagging[]
  /** That this opens a review again which is over; else a new rule, or that the message says something else by now, does. */
  readonly isNew: boolean
}

/**
 * Has people look at a message. A review that is open keeps its place, and gets rules that are new; one that is over is
 * opened again where there is reason. A rule counts once in each of its revisions.
 */
export async function openReview(
  tx: Transaction,
  appId: number,
  id: number,
  { flaggedBy = [], isNew }: Opening,
  now: number,
): Promise<void> {
  await tx.query(open, [appId, id, now, JSON.stringify(flaggedBy), isNew])
}

/** As `openReview`, where rules flag a message. @param isEdited what they look at is what an edit in this transaction says */
export async function flagByRules(
  tx: Transaction,
  appId: number,
  id: number,
  flaggedBy: readonly Flagging[],
  isEdited: boolean,
  now: number,
): Promise<void> {
  if (flaggedBy.length > 0) await openReview(tx, appId, id, { flaggedBy, isNew: isEdited }, now)
}

const leave = statement(`
  update moderation_queue
  set status = 'deleted'
  where app_id = $1
  and message = $2
  and status = 'open'`)

/** A message is deleted: it waits for no reviewer any more. */
export async function leaveQueue(tx: Transaction, appId: number, id: number): Promise<void> {
  await tx.query(leave, [appId, id])
}
