import { sql } from 'kysely'
import { packedFrom, packStates, unpackStates } from '../../chat/conversations/packed.ts'
import { countUnreadOf, type ParticipantState } from '../../chat/conversations/participant-state.ts'
import { type FoundPeers, selectPeers } from '../../chat/conversations/peers.ts'
import { isVisibleUnread } from '../../chat/conversations/unread.ts'
import type { JsonText } from '../../chat/json.ts'
import { packMessages, unpackMessages } from '../../chat/messages/packed.ts'
import { receiptColumns, type StoredMessage, steppedTimes } from '../../chat/messages/rows.ts'
import type { PageRequest } from '../../paging.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import type { Fragment } from '../../store/statement.ts'
import { type ConversationFilters, conditionsOf, sidesWhere } from './filters.ts'
import { selectAllConversations } from './list-all.ts'

export interface ConversationsFound {
  readonly states: ParticipantState[]
  readonly total: number
  /** By id: the last messages, where they were read with them. */
  readonly last?: ReadonlyMap<number, StoredMessage<JsonText>>
  /** Who is on the other side, where that was found with them. */
  readonly peers?: FoundPeers
  /** Of the user whose they are: the revision, unless there is no such user. */
  readonly viewer?: number | undefined
}

/**
 * A page of conversations and how many there are: those of a user, pinned ones first and then by last message, or for
 * the app every side of all of them.
 * @param hiding what is hidden from the user: conditions on `m` that unread messages must meet
 */
export async function selectConversations(
  on: Queryable,
  appId: number,
  uid: string | undefined,
  filters: ConversationFilters,
  page: PageRequest,
  hiding: readonly Fragment[] = [],
): Promise<ConversationsFound> {
  return uid === undefined
    ? selectAllConversations(on, appId, filters, page)
    : selectConversationsOf(on, appId, uid, filters, page, hiding)
}

/**
 * The order is by what others write last, which is kept once for each conversation and not for each member: all of the
 * user's conversations are looked at, once, with what a list shows of them. What is counted and read beside is read for the
 * page alone, each for all of its rows at once, and comes as one row.
 */
async function selectConversationsOf(
  on: Queryable,
  appId: number,
  uid: string,
  filters: ConversationFilters,
  page: PageRequest,
  hiding: readonly Fragment[],
): Promise<ConversationsFound> {
  const order = sql`p.app_place nulls last, p.pinned_at desc nulls last, p.listed_sent_at desc, p.listed_id desc, p.key`
  const seesUnread = sql`exists (
      select from messages m
      where ${isVisibleUnread(uid, hiding)}
      offset 0
    )`
  const unhidden = filters.unread === true && hiding.length > 0 ? [seesUnread] : []
  const [row] = await on.run(
    sql<{ total: number; viewer: number | null; states: string | null; messages: string | null } & FoundPeers>`
    with matching as materialized (
      select ${sql.raw(packedFrom)}
      ${sidesWhere([...conditionsOf(appId, uid, filters), ...unhidden], filters, true)}
    ),
    page as materialized (
      select *
      from matching p
      order by ${order}
      limit ${page.perPage}
      offset ${page.offset}
    )
    select (select count(*) from matching) as total,
    (select u.revision from users u where u.app_id = ${appKey(appId)} and u.uid = ${uid}) as viewer,
    (
      select ${packStates(order)}
      from (
        select p.*, (${sql.raw(countUnreadOf('p', 'p'))}
        ) as counted
        from page p
        offset 0
      ) p
    ) as states,
    ${selectPeers(appKey(appId), uid)},
    (
      select ${sql.raw(packMessages(steppedTimes))}
      from (
        select m.*, ${sql.raw(receiptColumns)}
        from messages m
        where m.app_id = ${appKey(appId)}
        and m.id = any(array(select p.listed_id from page p))
        and not m.purged
        offset 0
      ) m
    ) as messages`,
  )
  const last = unpackMessages(row?.messages ?? null).map((message) => [message.id, message] as const)
  return {
    states: unpackStates(row?.states ?? null),
    total: row?.total ?? 0,
    ...(row && { peers: row }),
    viewer: row?.viewer ?? undefined,
    last: new Map(last),
  }
}
