import { sql } from 'kysely'
import type { RecalledActor } from '../../../call.ts'
import {
  type CountedState,
  rememberCounts,
  rememberedUnreadOf,
  rememberFrom,
  takesPartInFew,
} from '../../../chat/conversations/participant-state.ts'
import { allByKey, eachByKey, type Whose } from '../../../chat/conversations/states.ts'
import { readKind } from '../../../chat/kind.ts'
import { takesPartIn } from '../../../chat/sight/participation.ts'
import { hidesByRole } from '../../../chat/sight/sight.ts'
import { readRevised, revisedUserOfSql } from '../../../chat/users/rows.ts'
import type { Context } from '../../../context.ts'
import { appKey } from '../../../store/app-key.ts'
import type { Queryable } from '../../../store/database.ts'
import { pageLookup } from '../../../store/lookups.ts'
import { type Fragment, fixedStatement, inOrder } from '../../../store/statement.ts'
import { type ListAnswer, type ListRequest, showCounts } from './list.ts'

/*
 * The unread counts of all conversations of a user, which clients ask for when they come: without other filters, one fixed
 * statement for all who ask at the same moment. It counts as lists of conversations do, from what each state remembers.
 */

/** What a query may say besides, since a count has no page. */
const plain = new Set(['unread', 'count', 'affix', 'limit', 'perPage'])

function isPlain({ unread, count, ...rest }: ListRequest['query']): boolean {
  return unread === true && count === true && Object.keys(rest).every((name) => plain.has(name))
}

/** What a reset hides is not unread, wherever the pointer was put since. */
const isCleared = '(s.cleared_sent_at, s.cleared_id) > (s.unread_sent_at, s.unread_id)'
const countedFrom = (column: 'sent_at' | 'id') =>
  `case when ${isCleared} then s.cleared_${column} when s.counted_version = c.version then s.counted_${column} else s.unread_${column} end`

/** Nothing has come since the count that is remembered. */
const isCounted = `not ${isCleared} and s.counted_version = c.version and (s.counted_sent_at, s.counted_id) >= (c.last_sent_at, c.last_id)`

/** Of most apps no group restricts anything, which is seen once. */
const isRestricted = ({ app }: Whose) => sql`c.kind = 2
              and (select exists (select from groups g where g.app_id = ${app} and g.permissions_version > 0))
              and exists (
                select from groups g where g.app_id = ${app} and g.guid = c.first and g.permissions_version > 0 offset 0
              )`

/** Behind a count: that something of it may be hidden, or what was long to count, and is to be remembered. */
const noteOf = (whose: Whose, from: number) => sql`case
            when ${isRestricted(whose)} then '!'
            when n.counted >= ${sql.raw(String(from))} and not ${sql.raw(isCleared)} then
              concat_ws('/', s.conversation, n.counted, c.version, c.last_sent_at, c.last_id, s.unread_sent_at, s.unread_id)
          end`

/**
 * All counts in one text, null where there is none. `readCount` reads each.
 * @param states `eachByKey` or `allByKey`
 * @param from counts that took so much are returned with what is to be remembered of them
 */
function selectCounts(whose: Whose, states: Fragment, from: number): Fragment {
  return sql`
      select string_agg(
        concat_ws(' ', n.count, c.kind, c.first, c.second, ${noteOf(whose, from)}), ',' order by c.kind, c.first, c.second
      )
      from ${states}
      cross join lateral (
        select k.counted, k.counted + case when ${sql.raw(isCleared)} then 0 else ${sql.raw(rememberedUnreadOf('s', 'c'))} end as count
        from (
          select case when ${sql.raw(isCounted)} then 0 else (
            select count(*)
            from messages m
            where m.app_id = ${whose.app}
            and m.conversation = s.conversation
            and (m.sent_at, m.id) > (${sql.raw(countedFrom('sent_at'))}, ${sql.raw(countedFrom('id'))})
            and m.countable
            and m.sender <> ${whose.viewer}
          ) end as counted
          offset 0
        ) k
      ) n
      where s.app_id = ${whose.app}
      and s.uid = ${whose.viewer}
      and ${sql.raw(takesPartIn('c'))}
      and (c.last_sent_at, c.last_id) > (s.unread_sent_at, s.unread_id)
      and n.count > 0`
}

type Row = readonly [place: number, viewer: string | null, isFew: boolean, counts: string | null]

const atOnce = 8
const wanted: Whose = { app: sql.raw('$1'), viewer: sql.raw('w.viewer') }
const isFew = sql.raw(takesPartInFew('$1', 'w.viewer'))

const selectAtOnce = pageLookup<Row>(
  inOrder(
    fixedStatement(sql`
  select w.place::int, ${sql.raw(revisedUserOfSql('$1', 'w.viewer', 'w.known'))}, ${isFew},
    case when ${isFew} then (${selectCounts(wanted, eachByKey, rememberFrom)}
    ) end
  from unnest($2::text[], $3::bigint[]) with ordinality as w(viewer, known, place)`),
  ),
  ([place]) => place,
  atOnce,
)

/** Whoever takes part in much has much to count, however little it is in each conversation: it is remembered bit by bit. */
const rememberFromOfMany = 1
const rememberedAtOnce = 100

/** Of who takes part in much, as a list that waits for its turn. */
async function countAll(database: Queryable, appId: number, uid: string): Promise<string | null> {
  const whose: Whose = { app: appKey(appId), viewer: sql`${uid}` }
  const [found] = await database.run(
    sql<{ counts: string | null }>`select (${selectCounts(whose, allByKey(whose), rememberFromOfMany)}) as counts`,
  )
  return found?.counts ?? null
}

/**
 * Counts what is unread of all conversations of a user, and reads who they are with it, where that is not remembered.
 * @returns undefined where they may not ask for it, where something may be hidden from them, or where more is asked for
 */
export async function recallUnreadCounts(
  { database, log }: Pick<Context, 'database' | 'log'>,
  { app, query }: Pick<ListRequest, 'app' | 'query'>,
  actor: RecalledActor,
): Promise<ListAnswer | undefined> {
  const { uid, revision } = actor
  if (!isPlain(query) || hidesByRole(actor)) return undefined
  const [row] = await database.query<Row>(selectAtOnce, [app.appId, [uid], [revision]])
  const [, viewerText, isFew, few] = row as Row
  const viewer = await actor.confirm(viewerText === null ? undefined : readRevised(viewerText))
  if (viewer === undefined || hidesByRole({ uid, policy: viewer.policy })) return undefined
  const counts = isFew ? few : await countAll(database, app.appId, uid)
  const counted = counts === null ? [] : counts.split(',').map((line) => readCount(uid, line))
  if (counted.some(({ isRestricted }) => isRestricted)) return undefined
  const long = counted.flatMap(({ state }) => state ?? []).slice(0, rememberedAtOnce)
  rememberCounts(database, app.appId, long, isFew ? rememberFrom : rememberFromOfMany).catch((err: unknown) =>
    log.warn({ err }, 'unread counts could not be cached'),
  )
  return showCounts({ viewer: uid }, { rows: counted, isMore: false })
}

/** Of a group whose second part is empty there is a blank more. */
function readCount(uid: string, line: string) {
  const [count, kind, first = '', second = '', more] = line.split(' ')
  const state = more === undefined || more === '!' ? undefined : readCounted(uid, Number(count), more)
  return { kind: readKind(Number(kind)), first, second, count: Number(count), isRestricted: more === '!', state }
}

/** What was long to count, and is to be remembered. */
function readCounted(uid: string, unread: number, text: string): CountedState {
  const [key, counted, version, lastSentAt, lastId, unreadSentAt, unreadId] = text.split('/').map(Number) as [
    ...[number, number, number, number, number, number, number],
  ]
  return { uid, key, counted, unread, version, lastSentAt, lastId, unreadSentAt, unreadId }
}
