import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import { erasable } from '../erasure.ts'

/** What moderation keeps of messages goes with them. */
export const heldTables = [
  erasable(
    'message_moderation',
    { message: 'message', conversation: 'conversation' },
    {
      ofReuse: [
        ({ appId, uid, former }) => sql`
          update message_moderation
          set sender = ${former}
          where app_id = ${appKey(appId)}
          and sender = ${uid}`,
      ],
    },
  ),
  erasable('moderation_decisions', { message: 'message' }),
  erasable('moderation_queue', { message: 'message' }),
]
