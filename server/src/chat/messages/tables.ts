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
        forgetInUncounted,
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

/**
 * Those messages of a user's groups that do not count as unread, with `id` as their only column. They are found in the index
 * of the history alone (in the words of which it is said); action messages and deleted ones are among them.
 */
export const uncountedOf = ({ appId, groups }: ErasedUser): Fragment => sql`
      select id
      from messages
      where app_id = ${appKey(appId)}
      and conversation = any(${groups}::bigint[])
      and (countable or not purged)
      and not countable`

/** Those messages of others that action messages of a user's say they have changed, with `id` as their only column. */
export const changedBy = ({ appId, uid }: Pick<ErasedUser, 'appId' | 'uid'>): Fragment => sql`
      select a.subject_id as id
      from messages a
      where a.app_id = ${appKey(appId)}
      and a.sender = ${uid}
      and a.kind = 2
      and a.subject_id is not null`

/**
 * Action messages of group events keep their entities; of a deleted user they keep what their other messages tell. Who has
 * deleted messages of others is not told any more.
 */
function forgetInUncounted(user: ErasedUser): Fragment {
  const forget = (data: Fragment, part: 'by' | 'on') => {
    const entity = sql.lit(`{entities,${part},entity}`)
    const deleted = JSON.stringify(showDeletedUser(user.uid))
    return sql`case
          when m.data #> ${entity} ->> 'uid' = ${user.uid} then jsonb_set(${data}, ${entity}, ${deleted}::jsonb)
          else ${data}
        end`
  }
  return sql`
    with uncounted as materialized (${uncountedOf(user)}
    )
    update messages m
    set data = (${forget(forget(sql`m.data::jsonb`, 'by'), 'on')})::json,
      deleted_by = ${byAnother('deleted_by', user.uid, systemUid)}
    from uncounted
    where m.app_id = ${appKey(user.appId)}
    and m.id = uncounted.id
    and (
      m.deleted_by = ${user.uid} and m.sender <> ${user.uid}
      or m.category = 'action'
      and m.type = 'groupMember'
      and ${user.uid} in (m.data #>> '{entities,by,entity,uid}', m.data #>> '{entities,on,entity,uid}')
    )`
}

/** Nor is who has edited messages of others. Those count as unread, so they are found by what tells of the edits. */
function forgetChanges(user: Pick<ErasedUser, 'appId' | 'uid'>): Fragment {
  return sql`
    update messages m
    set edited_by = ${byAnother('edited_by', user.uid, systemUid)}, deleted_by = ${byAnother('deleted_by', user.uid, systemUid)}
    where m.app_id = ${appKey(user.appId)}
    and m.id in (${changedBy(user)})
    and m.sender <> ${user.uid}
    and ${user.uid} in (m.edited_by, m.deleted_by)`
}
