import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import { type ErasableTable, erasable } from '../erasure.ts'
import { forgetReviewer } from './forget.ts'

const held = erasable('message_moderation', { message: 'message', conversation: 'conversation' })

/** What moderation keeps of messages goes with them. What it holds of a user in groups is removed before: `eraseHeldOf`. */
export const heldTables: readonly ErasableTable[] = [
  {
    ...held,
    ofUser: [...held.ofUser, forgetReviewer('message_moderation', 'reviewed_by')],
    ofReuse: [
      ({ appId, uid, former }) => sql`
          update message_moderation
          set sender = ${former}
          where app_id = ${appKey(appId)}
          and sender = ${uid}`,
    ],
  },
  erasable('moderation_decisions', { message: 'message' }),
  erasable('moderation_queue', { message: 'message' }),
]
