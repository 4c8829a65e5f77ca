import { sql } from 'kysely'

// What waits for reviewers, by the partial indexes of it.

/** Of rows `q` of `moderation_queue`. What is blocked is not on the list of flagged messages meanwhile. */
export const isFlaggedWaiting = sql`
  q.status = 'open'
  and not exists (
    select
    from message_moderation h
    where h.app_id = q.app_id
    and h.message = q.message
    and h.status = 'disapproved'
  )`

/** Of rows `m` of `message_moderation`. */
export const isBlockedWaiting = sql`m.status = 'disapproved' and m.review_status is null`
