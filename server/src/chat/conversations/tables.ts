import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import { erasable } from '../erasure.ts'
import { everyState } from './participant-state.ts'

/**
 * The states come before the receipt steps. A mark that is being set at this moment holds the row of its state and is
 * waited for there, so the steps that it leaves are seen by the statement after it.
 */
export const receiptTables = [
  erasable(
    'conversation_states',
    { conversation: 'conversation', uids: ['uid'] },
    {
      ofUser: [
        (user) => sql`
          delete from conversation_states s
          using unnest(${user.pairs}::bigint[], ${user.others}::text[]) as pair(conversation, other)
          where s.app_id = ${appKey(user.appId)}
          and s.conversation = pair.conversation
          and s.uid = pair.other`,
        (user) => sql`delete from conversation_states where app_id = ${appKey(user.appId)} and uid = ${user.uid}`,
      ],
      ofGroup: [
        (group) => sql`
          delete from conversation_states
          where app_id = ${appKey(group.appId)}
          and conversation = ${group.conversation}
          and ${sql.raw(everyState)}`,
      ],
    },
  ),

  // Those of a group as a whole name nobody, and stay.
  erasable(
    'receipt_steps',
    { conversation: 'conversation' },
    {
      ofUser: [
        (user) => sql`
          delete from receipt_steps
          where app_id = ${appKey(user.appId)}
          and conversation = any(${user.pairs}::bigint[])`,
        (user) => sql`
          delete from receipt_steps
          where app_id = ${appKey(user.appId)}
          and conversation = any(${user.groups}::bigint[])
          and uid = ${user.uid}`,
      ],
    },
  ),
]

/** They come after what is found by the messages in them. */
export const conversationTables = [
  erasable(
    'conversations',
    {},
    {
      ofUser: [
        (user) =>
          sql`delete from conversations where app_id = ${appKey(user.appId)} and key = any(${user.pairs}::bigint[])`,
        (user) => sql`
          update conversations
          set last_sender = null
          where app_id = ${appKey(user.appId)}
          and key = any(${user.groups}::bigint[])
          and last_sender = ${user.uid}`,
      ],
      ofGroup: [
        (group) => sql`delete from conversations where app_id = ${appKey(group.appId)} and key = ${group.conversation}`,
      ],
    },
  ),

  erasable(
    'app_pinned_conversations',
    {},
    {
      ofUser: [
        (user) => sql`
          delete from app_pinned_conversations
          where app_id = ${appKey(user.appId)}
          and kind = 1
          and peer = ${user.uid}`,
      ],
      ofGroup: [
        (group) => sql`
          delete from app_pinned_conversations
          where app_id = ${appKey(group.appId)}
          and kind = 2
          and peer = ${group.guid}`,
      ],
    },
  ),
]
