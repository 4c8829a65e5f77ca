import { sql } from 'kysely'
import { systemUid } from '../../chat/apps.ts'
import { releaseUsesOf } from '../../chat/messages/file-uses.ts'
import { forgetReactionEvents } from '../../chat/messages/forget-reactions.ts'
import { showDeletedUser } from '../../chat/users/rows.ts'
import { appKey } from '../../store/app-key.ts'
import type { Fragment } from '../../store/statement.ts'

/** What is removed with a user, and found under locks before anything is. */
export interface Traces {
  readonly appId: number
  readonly uid: string
  /** Epoch seconds. */
  readonly now: number
  /** Keys of his one-to-one conversations, and whom each is with. */
  readonly pairs: readonly number[]
  readonly others: readonly string[]
  /** Keys and guids of the groups in which he left anything. */
  readonly groups: readonly number[]
  readonly guids: readonly string[]
  /** Guids of the groups that count him as a member. */
  readonly counted: readonly string[]
}

type Place = (traces: Traces) => Fragment

const inPairs = ({ pairs }: Traces) => sql`conversation = any(${pairs}::bigint[])`
const inGroups = ({ groups }: Traces) => sql`conversation = any(${groups}::bigint[])`
const messagesInPairs = (t: Traces) =>
  sql`(select id from messages where app_id = ${appKey(t.appId)} and ${inPairs(t)})`

/**
 * His one-to-one conversations, for both sides. A mark that is being set at this moment holds the row of the state and is
 * waited for there, so the receipt steps that it leaves are seen by the statement after it.
 */
const conversations: readonly Place[] = [
  (t) => sql`
    delete from conversation_states s
    using unnest(${t.pairs}::bigint[], ${t.others}::text[]) as pair(conversation, other)
    where s.app_id = ${appKey(t.appId)}
    and s.conversation = pair.conversation
    and s.uid = pair.other`,
  (t) => sql`delete from conversation_states where app_id = ${appKey(t.appId)} and uid = ${t.uid}`,
  (t) => sql`delete from receipt_steps where app_id = ${appKey(t.appId)} and ${inPairs(t)}`,
  (t) => releaseUsesOf(t.appId, messagesInPairs(t)),
  (t) => forgetReactionEvents.ofMessages(t.appId, sql`array${messagesInPairs(t)}`),
  (t) => forgetReactionEvents.ofUser(t.appId, t.uid),
  (t) => sql`delete from reactions where app_id = ${appKey(t.appId)} and message_id in ${messagesInPairs(t)}`,
  (t) => sql`delete from interactions where app_id = ${appKey(t.appId)} and message_id in ${messagesInPairs(t)}`,
  (t) => sql`delete from saved_messages where app_id = ${appKey(t.appId)} and message_id in ${messagesInPairs(t)}`,
  (t) => sql`delete from thread_subscriptions where app_id = ${appKey(t.appId)} and parent_id in ${messagesInPairs(t)}`,
  (t) => sql`delete from threads where app_id = ${appKey(t.appId)} and ${inPairs(t)}`,
  (t) => sql`delete from pinned_messages where app_id = ${appKey(t.appId)} and ${inPairs(t)}`,
  (t) => sql`delete from messages where app_id = ${appKey(t.appId)} and ${inPairs(t)}`,
  (t) => sql`delete from conversations where app_id = ${appKey(t.appId)} and key = any(${t.pairs}::bigint[])`,
  (t) => sql`delete from app_pinned_conversations where app_id = ${appKey(t.appId)} and kind = 1 and peer = ${t.uid}`,
]

const memberships: readonly Place[] = [
  (t) => sql`delete from group_members where app_id = ${appKey(t.appId)} and uid = ${t.uid}`,
  (t) => sql`
    update groups
    set members_count = members_count - 1,
      updated_at = ${t.now}
    where app_id = ${appKey(t.appId)}
    and guid = any(${t.counted}::text[])`,
  (t) => sql`
    update groups g
    set owner = coalesce(
        (
          select m.uid
          from group_members m
          join users u on u.app_id = m.app_id
            and u.uid = m.uid
          where m.app_id = g.app_id
          and m.guid = g.guid
          and m.scope = 'admin'
          and u.deactivated_at is null
          order by m.joined_at, m.uid
          limit 1
        ),
        ${systemUid}
      ),
      updated_at = ${t.now},
      updated_by = ${systemUid}
    where g.app_id = ${appKey(t.appId)}
    and g.owner = ${t.uid}`,
  (t) => sql`
    update groups
    set updated_by = ${systemUid}
    where app_id = ${appKey(t.appId)}
    and guid = any(${t.guids}::text[])
    and updated_by = ${t.uid}`,
  (t) => sql`delete from group_bans where app_id = ${appKey(t.appId)} and uid = ${t.uid}`,
  (t) => sql`
    update group_bans
    set banned_by = ${systemUid}
    where app_id = ${appKey(t.appId)}
    and guid = any(${t.guids}::text[])
    and banned_by = ${t.uid}`,
]

/** His messages in groups stay, and what he pinned there stays pinned; what he did with messages of others goes. */
const groupHistories: readonly Place[] = [
  (t) => sql`delete from receipt_steps where app_id = ${appKey(t.appId)} and ${inGroups(t)} and uid = ${t.uid}`,
  (t) => sql`
    update conversations
    set last_sender = null
    where app_id = ${appKey(t.appId)}
    and key = any(${t.groups}::bigint[])
    and last_sender = ${t.uid}`,
  (t) => sql`
    update pinned_messages
    set pinned_by = ${systemUid}
    where app_id = ${appKey(t.appId)}
    and ${inGroups(t)}
    and pinned_by = ${t.uid}`,
  (t) => sql`delete from reactions where app_id = ${appKey(t.appId)} and uid = ${t.uid}`,
  (t) => sql`delete from interactions where app_id = ${appKey(t.appId)} and uid = ${t.uid}`,
  (t) => sql`delete from saved_messages where app_id = ${appKey(t.appId)} and uid = ${t.uid}`,
  (t) => sql`delete from thread_subscriptions where app_id = ${appKey(t.appId)} and uid = ${t.uid}`,
  (t) => sql`
    update threads h
    set starter = ''
    from messages m
    where m.app_id = ${appKey(t.appId)} and m.sender = ${t.uid} and m.kind = 2
    and h.app_id = m.app_id and h.parent_id = m.id and h.starter = m.sender`,
  forgetInActions,
]

/**
 * Action messages of group events keep their entities; of him they keep what his other messages tell. What does not
 * count as unread is found in the index of the history alone, and action messages are among it.
 */
function forgetInActions(t: Traces): Fragment {
  const forget = (data: Fragment, part: 'by' | 'on') => {
    const entity = sql.lit(`{entities,${part},entity}`)
    const deleted = JSON.stringify(showDeletedUser(t.uid))
    return sql`case
          when m.data #> ${entity} ->> 'uid' = ${t.uid} then jsonb_set(${data}, ${entity}, ${deleted}::jsonb)
          else ${data}
        end`
  }
  return sql`
    with uncounted as materialized (
      select id
      from messages
      where app_id = ${appKey(t.appId)}
      and ${inGroups(t)}
      and not countable
    )
    update messages m
    set data = (${forget(forget(sql`m.data::jsonb`, 'by'), 'on')})::json
    from uncounted
    where m.app_id = ${appKey(t.appId)}
    and m.id = uncounted.id
    and m.category = 'action'
    and m.type = 'groupMember'
    and ${t.uid} in (m.data #>> '{entities,by,entity,uid}', m.data #>> '{entities,on,entity,uid}')`
}

const himself: readonly Place[] = [
  (t) => sql`delete from auth_tokens where app_id = ${appKey(t.appId)} and uid = ${t.uid}`,
  // A friendship is kept from both sides.
  (t) => sql`
    delete from friends f
    using friends mine
    where mine.app_id = ${appKey(t.appId)}
    and mine.uid = ${t.uid}
    and f.app_id = mine.app_id
    and f.uid = mine.friend
    and f.friend = mine.uid`,
  (t) => sql`delete from friends where app_id = ${appKey(t.appId)} and uid = ${t.uid}`,
  (t) => sql`delete from blocks where app_id = ${appKey(t.appId)} and blocker = ${t.uid}`,
  (t) => sql`delete from blocks where app_id = ${appKey(t.appId)} and blocked = ${t.uid}`,
  (t) => sql`delete from presence where app_id = ${appKey(t.appId)} and uid = ${t.uid}`,
  (t) => sql`delete from users where app_id = ${appKey(t.appId)} and uid = ${t.uid}`,
]

/**
 * Where something of a user lives, table by table, and what becomes of it when he is removed for good. It reaches into the
 * tables of every area, so that there is one list; its test knows every table and looks through all of them.
 */
export const places: readonly Place[] = [...conversations, ...memberships, ...groupHistories, ...himself]
