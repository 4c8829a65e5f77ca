import type { Message, User } from '@parley/contract'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { storedKind } from '../kind.ts'
import { userOfAction } from './action-entities.ts'
import { ownEntities } from './entities.ts'
import { type DraftView, renderMessage, viewOfNew } from './render.ts'
import type { StoredMessage } from './rows.ts'

/** What happened in a group, as its action message says it. */
export interface GroupAction {
  readonly appId: number
  readonly guid: string
  /** Key of the group's conversation, which the transaction has locked. */
  readonly conversation: number
  readonly action: 'joined' | 'left' | 'added' | 'kicked' | 'banned' | 'unbanned' | 'scopeChanged'
  /** Who did it; the same user for joined and left, `app_system` if the app acts. */
  readonly by: User
  /** Who it was done to; the same user for joined and left. */
  readonly on: User
  /** The group after the event, as answers show it. */
  readonly group: object
  readonly scope?: { readonly old: string; readonly new: string }
  /** Epoch seconds. */
  readonly now: number
}

const insert = statement(`
  with numbered as materialized (
    select nextval('message_ids') as id, greatest($6::bigint, c.last_sent_at) as sent_at
    from conversations c
    where c.app_id = $1
    and c.key = $2
  ),
  moved as (
    update conversations c
    set last_sent_at = n.sent_at,
      last_id = n.id,
      last_sender = null,
      listed_sent_at = n.sent_at,
      listed_id = n.id
    from numbered n
    where c.app_id = $1
    and c.key = $2
  )
  insert into messages (
    app_id, id, conversation, sender, kind, receiver, category, type, data, countable, sent_at, updated_at
  )
  select $1, n.id, $2, $3, 2, $4, 'action', 'groupMember', $5::json, false, n.sent_at, n.sent_at
  from numbered n
  returning id, sent_at as "sentAt"`)

/**
 * Writes the action message that a group event leaves in the group, in the transaction of the event and under the
 * conversation's lock. Its entities are stored with it: they are history. It does not count as unread.
 * @returns the message as answers show it
 */
export async function writeGroupAction(tx: Transaction, event: GroupAction): Promise<Message> {
  const data = dataOf(event)
  const values = [event.appId, event.conversation, event.by.uid, event.guid, JSON.stringify(data), event.now]
  const [row] = await tx.query<{ id: number; sentAt: number }>(insert, values)
  if (row === undefined) throw new Error(`the group ${event.guid} has no conversation`)
  return showGroupAction(event, data, row)
}

const drawPositions = statement(`
  select nextval('message_ids') as id, greatest($3::bigint, c.last_sent_at) as "sentAt"
  from conversations c
  cross join generate_series(1, $4::int)
  where c.app_id = $1
  and c.key = $2`)

/**
 * Action messages of events of one group that leave none there: for whoever is connected, stored nowhere. Each has an id
 * of its own, which no other message gets. As `writeGroupAction`, under the conversation's lock.
 */
export async function draftGroupActions(tx: Transaction, events: readonly GroupAction[]): Promise<Message[]> {
  const [first] = events
  if (first === undefined) return []
  const values = [first.appId, first.conversation, first.now, events.length]
  const positions = await tx.query<{ id: number; sentAt: number }>(drawPositions, values)
  return positions.map((position, n) => {
    const event = events[n] as GroupAction
    return showGroupAction(event, dataOf(event), position)
  })
}

type ShownAction = Pick<GroupAction, 'guid' | 'action' | 'by' | 'on' | 'group' | 'scope'>

/** An action message of `draftGroupActions`, which is stored nowhere, for somebody who missed it. */
export function showDraftedAction(event: ShownAction, position: { id: number; sentAt: number }): Message {
  return showGroupAction(event, dataOf(event), position)
}

function dataOf({ action, by, on, group, scope }: ShownAction) {
  return {
    action,
    entities: {
      by: { entity: userOfAction(by), entityType: 'user' },
      on: { entity: userOfAction(on), entityType: 'user' },
      for: { entity: group, entityType: 'group' },
    },
    ...(scope && { extras: { scope } }),
  }
}

function showGroupAction(
  { guid, by }: Pick<GroupAction, 'guid' | 'by'>,
  data: Message['data'],
  { id, sentAt }: { id: number; sentAt: number },
): Message {
  const ends = { sender: by.uid, kind: 'group', receiver: guid } as const
  const none = { muid: null, parentId: null, quotedId: null, tags: null }
  const draft: DraftView = { ...ends, ...none, category: 'action', type: 'groupMember', data }
  return renderMessage(viewOfNew(draft, draft.data, id, sentAt), ownEntities(ends))
}

const insertAboutMessage = statement(`
  with numbered as materialized (
    select nextval('message_ids') as id, greatest($9::bigint, c.last_sent_at) as sent_at
    from conversations c
    where c.app_id = $1
    and c.key = $2
  ),
  moved as (
    update conversations c
    set last_sent_at = n.sent_at,
      last_id = n.id,
      last_sender = null
    from numbered n
    where c.app_id = $1
    and c.key = $2
  )
  insert into messages (
    app_id, id, conversation, sender, kind, receiver, category, type, data, subject_id, parent_id, countable, sent_at,
    updated_at
  )
  select $1, n.id, $2, $3, $4, $5, 'action', 'message', $6::json, $7, $8, false, n.sent_at, n.sent_at
  from numbered n
  returning id`)

/**
 * Writes the action message of an edit or a deletion, under the conversation's lock. It names the message by
 * its id only, so that deleted text does not live on in it, and does not move the conversation in lists.
 * @param by who did it; the sender of the message where the app acts
 * @returns the id of the action message
 */
export async function writeMessageAction(
  tx: Transaction,
  appId: number,
  action: 'edited' | 'deleted',
  message: StoredMessage,
  by: string,
  now: number,
): Promise<number> {
  const { conversation, kind, receiver, id, parentId } = message
  const data = JSON.stringify({ action })
  const values = [appId, conversation, by, storedKind(kind), receiver, data, id, parentId, now]
  const [row] = await tx.query<{ id: number }>(insertAboutMessage, values)
  if (row === undefined) throw new Error(`the message ${id} has no conversation`)
  return row.id
}

/**
 * The action message of an edit or a deletion that no history has: of what moderation holds, which its sender alone hears of, or
 * of what it takes from those who saw it. It is stored nowhere; its position is drawn as that of any message, so no other has it.
 */
export async function draftMessageAction(
  tx: Transaction,
  appId: number,
  action: 'edited' | 'deleted',
  message: StoredMessage,
  by: string,
  now: number,
): Promise<StoredMessage> {
  const { conversation, kind, receiver, parentId } = message
  const [position] = await tx.query<{ id: number; sentAt: number }>(drawPositions, [appId, conversation, now, 1])
  if (position === undefined) throw new Error(`the message ${message.id} has no conversation`)
  return {
    ...{ ...position, updatedAt: position.sentAt, conversation, sender: by, kind, receiver, parentId },
    ...{ category: 'action', type: 'message', data: { action }, subjectId: message.id, traits: 0 },
    ...{ quotedId: null, muid: null, tags: null, mentioned: null, deliveredAt: null, readAt: null },
    ...{ editedAt: null, editedBy: null, deletedAt: null, deletedBy: null },
  }
}
