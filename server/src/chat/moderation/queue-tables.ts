import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import { type ErasableTable, erasable } from '../erasure.ts'
import { forgetReviewer } from './forget.ts'

/** With what removes it from a table anyway. */
function also(table: ErasableTable, ofUser: ErasableTable['ofUser']): ErasableTable {
  return { ...table, ofUser: [...table.ofUser, ...ofUser] }
}

const flags = erasable('moderation_flags', { message: 'message', uids: ['uid'] })

/** What users and reviewers leave beside messages goes with them; flags, with those who gave them, too. */
export const queueTables: readonly ErasableTable[] = [
  {
    ...flags,
    // What nobody but them has flagged waits for nobody, unless it is held for people to decide.
    ofUser: [
      ({ appId, uid }) => sql`
        delete from moderation_queue q
        using moderation_flags f
        where f.app_id = ${appKey(appId)}
        and f.uid = ${uid}
        and q.app_id = f.app_id
        and q.message = f.message
        and q.by_rule::text = '[]'
        and not exists (
          select
          from moderation_flags o
          where o.app_id = f.app_id
          and o.message = f.message
          and o.uid <> f.uid
        )
        and not exists (
          select
          from message_moderation h
          where h.app_id = f.app_id
          and h.message = f.message
          and h.status = 'pending'
          and h.lane = 'manual'
        )`,
      ...flags.ofUser,
    ],
  },
  also(erasable('moderation_claims', { message: 'message' }), [
    ({ appId, uid }) => sql`
      delete from moderation_claims
      where app_id = ${appKey(appId)}
      and lower(reviewer) = ${uid}`,
  ]),
  also(erasable('moderation_notes', { message: 'message' }), [forgetReviewer('moderation_notes', 'author')]),
  also(erasable('moderation_reviews', { message: 'message' }), [forgetReviewer('moderation_reviews', 'reviewer')]),
]
