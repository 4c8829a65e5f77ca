import { sql } from 'kysely'
import { packedFrom, packStates, unpackStates } from '../../chat/conversations/packed.ts'
import { countUnreadOf, type ParticipantState, takesPartInFew } from '../../chat/conversations/participant-state.ts'
import { type FoundPeers, selectPeers } from '../../chat/conversations/peers.ts'
import { allByKey, eachByKey, type Whose } from '../../chat/conversations/states.ts'
import { isVisibleUnread } from '../../chat/conversations/unread.ts'
import type { JsonText } from '../../chat/json.ts'
import { packMessages, unpackMessages } from '../../chat/messages/packed.ts'
import { receiptColumns, type StoredMessage, steppedTimes } from '../../chat/messages/rows.ts'
import { type RevisedUser, readRevised, userArray } from '../../chat/users/rows.ts'
import type { PageRequest } from '../../paging.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import { pageLookup } from '../../store/lookups.ts'
import { type Fragment, fixedStatement, inOrder } from '../../store/statement.ts'
import { type ConversationFilters, conditionsOf, statesWhere } from './filters.ts'
import { selectAllConversations } from './list-all.ts'

export interface ConversationsFound {
  readonly states: ParticipantState[]
  readonly total: number
  /** By id: the last messages, where they were read with them. */
  readonly last?: ReadonlyMap<number, StoredMessage<JsonText>>
  /** Who is on the other side, where that was found with them. */
  readonly peers?: FoundPeers
  /** What was found of the user whose they are, unless there is no such user. */
  readonly viewer?: RevisedUser | undefined
}

/**
 * A page of conversations and how many there are: those of a user, pinned ones first and then by last message, or for
 * the app every state of all of them.
 * @param hiding what is hidden from the user: conditions on `m` that unread messages must meet
 * @param known what is remembered of users
 */
export async function selectConversations(
  on: Queryable,
  appId: number,
  uid: string | undefined,
  filters: ConversationFilters,
  page: PageRequest,
  hiding: readonly Fragment[] = [],
  known: KnownUsers = { viewer: null, missesMany: false },
): Promise<ConversationsFound> {
  return uid === undefined
    ? selectAllConversations(on, appId, filters, page)
    : selectConversationsOf(on, appId, uid, filters, page, hiding, known)
}

/** What is remembered of users. */
export interface KnownUsers {
  /** The revision at which the user is whose conversations they are, 0 where they are not; null where nothing is wanted of them. */
  readonly viewer: number | null
  /** Whether those on the other side are to be brought along, as so many are not. */
  readonly missesMany: boolean
}

async function selectConversationsOf(
  on: Queryable,
  appId: number,
  uid: string,
  filters: ConversationFilters,
  page: PageRequest,
  hiding: readonly Fragment[],
  known: KnownUsers,
): Promise<ConversationsFound> {
  const seesUnread = sql`exists (
      select from messages m
      where ${isVisibleUnread(uid, hiding)}
      offset 0
    )`
  const unhidden = filters.unread === true && hiding.length > 0 ? [seesUnread] : []
  const whose = { app: appKey(appId), viewer: sql`${uid}` }
  const conditions = [...conditionsOf(whose.app, whose.viewer, filters), ...unhidden]
  const matching = statesWhere(allByKey(whose), conditions, filters, whose.app)
  const asked: Page = {
    ...whose,
    ...{ limit: sql`${page.perPage}`, offset: sql`${page.offset}` },
    ...{ known: sql`${known.viewer}::bigint`, withUsers: sql`${known.missesMany}::boolean` },
  }
  const [row] = await on.run(sql<Columns>`${pageOfMany(asked, matching)}`)
  return foundIn(row)
}

interface Columns extends FoundPeers {
  readonly total: number
  readonly viewer: string | null
  readonly states: string | null
  readonly messages: string | null
}

interface Page extends Whose {
  readonly limit: Fragment
  readonly offset: Fragment
  /** See `KnownUsers`. */
  readonly known: Fragment
  readonly withUsers: Fragment
}

const order = sql`p.app_place nulls last, p.pinned_at desc nulls last, p.listed_sent_at desc, p.listed_id desc, p.key`

/**
 * One row with the columns of `Columns`, in their order. The order of the list is by what others write last, which is kept once
 * for each conversation and not for each member: all of the user's conversations are looked at, once, with what a list shows
 * of them. What is counted and read beside is read for the page alone, each for all of its rows at once.
 * @param matching what follows `select` in a query of the states, from `from` on
 */
function pageOf(page: Page, matching: Fragment): Fragment {
  return sql`
    with matching as materialized (
      select ${sql.raw(packedFrom)}
      ${matching}
    ),
    page as materialized (${cut(page)}
    )${columnsOf(page)}`
}

/** The same of very many: of all of them only what they are ordered by is kept, and of those on the page the rest is read again. */
function pageOfMany(page: Page, matching: Fragment): Fragment {
  const { app, viewer } = page
  return sql`
    with matching as materialized (
      select c.key, c.listed_sent_at, c.listed_id, s.pinned_at, ap.place as app_place, ap.pinned_at as app_pinned_at
      ${matching}
    ),
    places as materialized (${cut(page)}
    ),
    page as materialized (
      select ${sql.raw(packedFrom)}
      from places p
      cross join lateral (
        select *
        from conversation_states s
        where s.app_id = ${app} and s.uid = ${viewer} and s.conversation = p.key
        offset 0
      ) s
      cross join lateral (
        select *
        from conversations c
        where c.app_id = ${app} and c.key = p.key
        offset 0
      ) c
      cross join lateral (select p.app_place as place, p.app_pinned_at as pinned_at) ap
    )${columnsOf(page)}`
}

const cut = ({ limit, offset }: Page) => sql`
      select *
      from matching p
      order by ${order}
      limit ${limit}
      offset ${offset}`

/** What follows the page. */
function columnsOf({ app, viewer, known, withUsers }: Page): Fragment {
  return sql`,
    last as materialized (
      select m.*, ${sql.raw(receiptColumns)}
      from messages m
      where m.app_id = ${app}
      and m.id = any(array(select p.listed_id from page p))
      and not m.purged
    )
    select (select count(*) from matching) as total,
    (
      select concat_ws(' ', u.revision, case when u.revision <> ${known} then ${sql.raw(userArray)} end)
      from users u
      where u.app_id = ${app}
      and u.uid = ${viewer}
    ) as viewer,
    (
      select ${packStates(order)}
      from (
        select p.*, (${sql.raw(countUnreadOf('p', 'p'))}
        ) as counted
        from page p
        offset 0
      ) p
    ) as states,
    (
      select ${sql.raw(packMessages(steppedTimes))}
      from last m
    ) as messages,
    ${selectPeers(app, viewer, withUsers)}`
}

function foundIn(row: Columns | undefined): ConversationsFound {
  const last = unpackMessages(row?.messages ?? null).map((message) => [message.id, message] as const)
  return {
    states: unpackStates(row?.states ?? null),
    total: row?.total ?? 0,
    ...(row && { peers: row }),
    viewer: row === undefined || row.viewer === null ? undefined : readRevised(row.viewer),
    last: new Map(last),
  }
}

type PlacedRow = readonly [
  place: number,
  total: number | null,
  viewer: string | null,
  states: string | null,
  messages: string | null,
  users: string | null,
  blockers: string | null,
  groups: string | null,
]

/** What a query may say besides, since it concerns how conversations are shown. */
const plain = new Set(['perPage', 'page', 'withTags', 'withUserAndGroupTags', 'withBlockedInfo', 'useCursoredIndex'])
/** Few at once, as pages of histories are. */
const atOnce = 4

const wanted: Page = {
  ...{ app: sql.raw('$1'), viewer: sql.raw('w.viewer'), limit: sql.raw('w.per_page'), offset: sql.raw('0') },
  ...{ known: sql.raw('w.known'), withUsers: sql.raw('w.with_users') },
}

/** What chats ask for when they start: the first page without filters, as one fixed statement for all who ask at the moment. */
const selectFirstPages = pageLookup<PlacedRow>(
  inOrder(
    fixedStatement(sql`
  select w.place::int, p.*
  from unnest($2::text[], $3::int[], $4::bigint[], $5::boolean[]) with ordinality
    as w(viewer, per_page, known, with_users, place)
  left join lateral (${pageOf(wanted, statesWhere(eachByKey, conditionsOf(wanted.app, wanted.viewer, {}), {}))}
    where ${sql.raw(takesPartInFew('$1', 'w.viewer'))}
  ) p on true`),
  ),
  ([place]) => place,
  atOnce,
)

/**
 * As `selectConversations`, of a first page without filters.
 * @returns undefined where more is asked for, or where the user takes part in so much that others would wait
 */
export async function selectFirstPage(
  on: Queryable,
  appId: number,
  uid: string,
  filters: ConversationFilters,
  page: PageRequest,
  known: KnownUsers,
): Promise<ConversationsFound | undefined> {
  if (page.offset > 0 || !Object.keys(filters).every((name) => plain.has(name))) return undefined
  const key = [uid, page.perPage, known.viewer, known.missesMany]
  const [row] = await on.query<PlacedRow>(selectFirstPages, [appId, ...key.map((part) => [part])])
  const [, total, viewer, states, messages, users, blockers, groups] = row as PlacedRow
  return total === null ? undefined : foundIn({ total, viewer, states, messages, users, blockers, groups })
}
