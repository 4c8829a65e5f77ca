import { lockConversation } from '../../chat/conversations/membership.ts'
import { everyState } from '../../chat/conversations/participant-state.ts'
import { readMembership } from '../../chat/groups/access.ts'
import type { Context } from '../../context.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { takeTime } from '../../store/held.ts'
import { statement } from '../../store/statement.ts'
import { purgeConversation } from '../messages/index.ts'
import { notAnAdmin } from './errors.ts'
import type { ParticipantOf } from './marks.ts'

const writeTags = statement(`
  update conversation_states
  set tags = $4
  where app_id = $1
  and uid = $2
  and conversation = $3`)

/** Sets a user's own tags of a conversation. */
export async function setTags(database: Database, state: ParticipantOf, tags: readonly string[]): Promise<void> {
  await database.query(writeTags, [state.appId, state.uid, state.conversation.key, tags])
}

/**
 * Ends the history at this moment, with a bare position: what is sent from now on comes after it, and what is imported
 * with earlier times before it, so that a reset hides that too.
 */
const endHistory = statement(`
  with ended as (
    update conversations c
    set last_sent_at = $3, last_id = nextval('message_ids'), last_sender = null
    where c.app_id = $1
    and c.key = $2
    and coalesce(c.last_sent_at, 0) < $3
    returning c.app_id, c.key, c.kind, c.last_sent_at, c.last_id
  )
  insert into messages (
    app_id, id, conversation, sender, kind, receiver, category, type, data, countable, sent_at, updated_at, purged
  )
  select app_id, last_id, key, '', kind, '', '', '', '{}', false, last_sent_at, last_sent_at, true
  from ended`)

/** What is cleared is not unread either, and what a reset before this one hides stays hidden. */
const clearFor = (whose: string) =>
  statement(`
  update conversation_states s
  set cleared_sent_at = coalesce(c.last_sent_at, c.listed_sent_at, 0), cleared_id = coalesce(c.last_id, 0),
    hidden = $3 or (s.hidden and coalesce((c.listed_sent_at, c.listed_id) <= (s.cleared_sent_at, s.cleared_id), true)),
    unread_sent_at = coalesce(c.last_sent_at, 0), unread_id = coalesce(c.last_id, 0),
    counted_sent_at = coalesce(c.last_sent_at, 0), counted_id = coalesce(c.last_id, 0), counted_unread = 0, counted_version = c.version
  from conversations c
  where s.app_id = $1
  and s.conversation = $2
  and ${whose}
  and c.app_id = s.app_id
  and c.key = s.conversation`)

const clear = clearFor('s.uid = $4')
const clearForAll = clearFor(everyState)

const forget = statement(`
  update conversations
  set begun_at = null, listed_sent_at = null, listed_id = null, last_sender = null
  where app_id = $1
  and key = $2`)

/**
 * Hides the history up to now from a user, also what is imported into it later. The conversation leaves their list until the next message, unless its place is
 * to be preserved. With `forBoth` the messages are removed for good, for the other side as well.
 */
export async function resetConversation(
  context: Pick<Context, 'database' | 'tables'>,
  state: ParticipantOf,
  { preserveOrder, forBoth }: { preserveOrder: boolean; forBoth: boolean },
): Promise<void> {
  await underLock(context.database, state, async (tx) => {
    if (forBoth) await purgeConversation(context, tx, state.appId, state.conversation.key)
    await tx.query(endHistory, [state.appId, state.conversation.key, Math.floor(Date.now() / 1000)])
    await tx.query(clear, [state.appId, state.conversation.key, !preserveOrder, state.uid])
  })
}

/**
 * Removes a conversation with its messages for every user; the next message makes it anew.
 * @throws 403 `ERR_GROUP_NO_ADMIN_SCOPE`: that of a group is removed by its admins
 */
export async function deleteForAll(context: Pick<Context, 'database' | 'tables'>, state: ParticipantOf): Promise<void> {
  const { appId, uid, conversation } = state
  await underLock(context.database, state, async (tx) => {
    if (conversation.kind === 'group') {
      const membership = await readMembership(tx, appId, conversation.first, uid)
      if (membership?.scope !== 'admin') throw notAnAdmin(conversation.first, uid)
    }
    await purgeConversation(context, tx, state.appId, state.conversation.key)
    await tx.query(clearForAll, [state.appId, state.conversation.key, true])
    await tx.query(forget, [state.appId, state.conversation.key])
  })
}

function underLock(database: Database, state: ParticipantOf, work: (tx: Transaction) => Promise<void>): Promise<void> {
  return database.longTransaction(async (tx) => {
    await lockConversation(tx, state.appId, state.conversation.key)
    await tx.query(takeTime)
    await work(tx)
  })
}
