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
        forgetChanges,
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
      // Senders decide who edits and deletes, and which muids count; mentions, what is found as "mentions me". Who was erased
      // before that was done, may still stand at messages of others.
      ofReuse: [
        forgetChanges,
        ({ appId, uid, former }) => sql`
          update messages
          set sender = ${former}, edited_by = ${byAnother('edited_by', uid, former)}, deleted_by = ${byAnother('deleted_by', uid, former)}
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

/** What a column has once who is named there is named otherwise. */
function byAnother(column: 'edited_by' | 'deleted_by', uid: string, then: string): Fragment {
  const by = sql.ref(column)
  return sql`case when ${by} = ${uid} then ${then} else ${by} end`
}

/** A message about an event in a group, such as who was added by whom. */
export const isMemberAction = sql`category = 'action' and type = 'groupMember'`

/** Action messages of group events keep their entities; of a deleted user they keep what their other messages tell. */
function forgetInActions({ appId, uid }: ErasedUser): Fragment {
  const entity = (side: 'by' | 'on') => sql.lit(`{entities,${side},entity}`)
  const uidOf = (side: 'by' | 'on') => sql.lit(`{entities,${side},entity,uid}`)
  const forget = (data: Fragment, side: 'by' | 'on') => sql`case
          when m.data #>> ${uidOf(side)} = ${uid} then
            jsonb_set(${data}, ${entity(side)}, ${JSON.stringify(showDeletedUser(uid))}::jsonb)
          else ${data}
        end`
  const found = (condition: Fragment) => sql`
      select id
      from messages
      where app_id = ${appKey(appId)}
      and ${isMemberAction}
      and ${condition}`
  return sql`
    update messages m
    set data = (${forget(forget(sql`m.data::jsonb`, 'by'), 'on')})::json
    where m.app_id = ${appKey(appId)}
    and m.id in (${found(sql`data #>> ${uidOf('on')} = ${uid}`)}
      union all${found(sql`sender = ${uid} and kind = 2`)}
      union all${found(sql`data #>> ${uidOf('by')} = ${uid} and data #>> ${uidOf('by')} <> sender`)}
    )
    and ${uid} in (m.data #>> ${uidOf('by')}, m.data #>> ${uidOf('on')})`
}

/** Messages of others that a user has edited or deleted. By the indexes `messages_edited_by_others` and `messages_deleted_by_others`. */
export const changedBy = (column: 'edited_by' | 'deleted_by', uid: string): Fragment =>
  sql`${sql.ref(column)} = ${uid} and ${sql.ref(column)} <> sender`

/** Who has edited or deleted messages of others is not kept any more. */
function forgetChanges({ appId, uid }: Pick<ErasedUser, 'appId' | 'uid'>): Fragment {
  const found = (column: 'edited_by' | 'deleted_by') => sql`
      select id
      from messages
      where app_id = ${appKey(appId)}
      and ${changedBy(column, uid)}`
  return sql`
    update messages m
    set edited_by = ${byAnother('edited_by', uid, systemUid)}, deleted_by = ${byAnother('deleted_by', uid, systemUid)}
    where m.app_id = ${appKey(appId)}
    and m.id in (${found('edited_by')}
      union all${found('deleted_by')}
    )`
}
