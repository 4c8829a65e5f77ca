import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import type { Fragment } from '../../store/statement.ts'
import { systemUid } from '../apps.ts'
import { type ErasedUser, erasable, everyMessage, messagesInGroup, messagesInPairs, untouched } from '../erasure.ts'
import { showDeletedUser } from '../users/rows.ts'
import { releaseUsesOf } from './file-uses.ts'
import { noStarter } from './threads.ts'
import { heldTraits } from './traits.ts'

const goesWithMessages = (name: string, message = 'message_id') => erasable(name, { message, uids: ['uid'] })

/**
 * What hangs on messages goes with them, and with the user whom it is of. Messages of a user in groups stay, and what they
 * pinned there stays pinned.
 */
export const messageTables = [
  erasable(
    'media_uses',
    { message: 'message_id' },
    {
      ofUser: [(user) => releaseUsesOf(user.appId, messagesInPairs(user))],
      ofGroup: [(group) => releaseUsesOf(group.appId, messagesInGroup(group))],
      ofMessages: [({ appId, ids }) => releaseUsesOf(appId, sql`(select unnest(${ids}::bigint[]))`)],
    },
  ),
  untouched('kept_message_ids', 'names no message'),
  untouched('app_imports', 'tells how far an import has come'),
  untouched('media_files', 'files are removed behind the service, once no message uses them'),
  untouched('media_usage', 'counts the bytes of all files of an app'),
  erasable('upload_days', { uids: ['uid'] }),

  goesWithMessages('reactions'),
  untouched('reaction_counts', 'a trigger keeps them as the reactions are'),
  goesWithMessages('interactions'),
  goesWithMessages('saved_messages'),
  goesWithMessages('thread_subscriptions', 'parent_id'),

  erasable(
    'threads',
    { message: 'parent_id', conversation: 'conversation' },
    {
      ofUser: [
        (user) => sql`
          delete from threads
          where app_id = ${appKey(user.appId)}
          and conversation = any(${user.pairs}::bigint[])`,
        (user) => sql`
          update threads h
          set starter = ${noStarter}
          from messages m
          where m.app_id = ${appKey(user.appId)} and m.sender = ${user.uid} and m.kind = 2
          and h.app_id = m.app_id and h.parent_id = m.id and h.starter = m.sender`,
      ],
    },
  ),

  erasable(
    'pinned_messages',
    { message: 'message_id', conversation: 'conversation' },
    {
      ofUser: [
        (user) => sql`
          delete from pinned_messages
          where app_id = ${appKey(user.appId)}
          and conversation = any(${user.pairs}::bigint[])`,
        (user) => sql`
          update pinned_messages
          set pinned_by = ${systemUid}
          where app_id = ${appKey(user.appId)}
          and conversation = any(${user.groups}::bigint[])
          and pinned_by = ${user.uid}`,
      ],
    },
  ),

  // The positions of a group's messages go as well: nobody has a cursor there any more.
  erasable(
    'messages',
    { conversation: 'conversation' },
    {
      ofUser: [
        (user) => sql`
          delete from messages
          where app_id = ${appKey(user.appId)}
          and conversation = any(${user.pairs}::bigint[])
          and ${everyMessage}`,
        forgetInActions,
      ],
      ofGroup: [
        (group) => sql`
          delete from messages
          where app_id = ${appKey(group.appId)}
          and conversation = ${group.conversation}
          and ${everyMessage}`,
      ],
      // Only the position stays: a cursor that names the message still works. That of a held one is nobody else's.
      ofMessages: [
        ({ appId, ids }) => sql`
          update messages
          set sender = '', receiver = '', category = '', type = '', data = '{}', parent_id = null, quoted_id = null,
            muid = null, tags = null, mentioned = null, traits = traits & ${sql.lit(heldTraits)}, countable = false, updated_at = sent_at,
            delivered_at = null, read_at = null, edited_at = null, edited_by = null, deleted_at = null, deleted_by = null,
            subject_id = null, purged = true
          where app_id = ${appKey(appId)}
          and id = any(${ids}::bigint[])`,
      ],
      // Senders decide who edits and deletes, and which muids count; mentions, what is found as "mentions me".
      ofReuse: [
        ({ appId, uid, former }) => sql`
          update messages
          set sender = ${former}
          where app_id = ${appKey(appId)}
          and sender = ${uid}
          and kind = 2`,
        ({ appId, uid, former }) => sql`
          update messages
          set mentioned = array_replace(mentioned, ${uid}, ${former})
          where app_id = ${appKey(appId)}
          and mentioned @> array[${uid}]::text[]`,
      ],
    },
  ),
]

/**
 * Action messages of group events keep their entities; of a deleted user they keep what their other messages tell. What
 * does not count as unread is found in the index of the history alone (in the words of which it is said), and action messages are
 * among it.
 */
function forgetInActions(user: ErasedUser): Fragment {
  const forget = (data: Fragment, part: 'by' | 'on') => {
    const entity = sql.lit(`{entities,${part},entity}`)
    const deleted = JSON.stringify(showDeletedUser(user.uid))
    return sql`case
          when m.data #> ${entity} ->> 'uid' = ${user.uid} then jsonb_set(${data}, ${entity}, ${deleted}::jsonb)
          else ${data}
        end`
  }
  return sql`
    with uncounted as materialized (
      select id
      from messages
      where app_id = ${appKey(user.appId)}
      and conversation = any(${user.groups}::bigint[])
      and (countable or not purged)
      and not countable
    )
    update messages m
    set data = (${forget(forget(sql`m.data::jsonb`, 'by'), 'on')})::json
    from uncounted
    where m.app_id = ${appKey(user.appId)}
    and m.id = uncounted.id
    and m.category = 'action'
    and m.type = 'groupMember'
    and ${user.uid} in (m.data #>> '{entities,by,entity,uid}', m.data #>> '{entities,on,entity,uid}')`
}
