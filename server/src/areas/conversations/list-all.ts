import { agenticRole } from '@parley/contract'
import { sql } from 'kysely'
import {
  keptSql,
  type ParticipantState,
  participantColumns,
  participantJoins,
} from '../../chat/conversations/participant-state.ts'
import { eachByKey } from '../../chat/conversations/states.ts'
import { type PageRequest, selectTotal } from '../../paging.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import type { Fragment } from '../../store/statement.ts'
import { type ConversationFilters, conditionsOf, everybodys, looksAtStates, statesWhere } from './filters.ts'
import type { ConversationsFound } from './list.ts'
import { selectAppTotal } from './totals.ts'

/**
 * For the app. The page is read in its order. The total is reckoned where no filter looks at the states; where one does, the
 * true total costs a look at each of them.
 */
export async function selectAllConversations(
  on: Queryable,
  appId: number,
  filters: ConversationFilters,
  page: PageRequest,
): Promise<ConversationsFound> {
  const order = sql`s.uid, c.listed_sent_at desc, c.listed_id desc, c.key`
  const once = filters.unique === true
  const conditions = conditionsOf(appKey(appId), undefined, filters)
  const matching =
    once && looksAtStates(filters)
      ? firstOf(conditions, filters)
      : statesWhere(once ? eachByKey : everybodys, [...conditions, ...(once ? [isFirstState] : [])], filters)
  const [states, [count]] = await Promise.all([
    on.run<ParticipantState>(
      sql`
      select ${sql.raw(participantColumns)}
      from (
        select s.app_id, s.uid, s.conversation
        ${matching}
        order by ${order}
        limit ${page.perPage}
        offset ${page.offset}
      ) p
      join conversation_states s on s.app_id = p.app_id and s.uid = p.uid and s.conversation = p.conversation
      join conversations c on c.app_id = s.app_id and c.key = s.conversation
      ${sql.raw(participantJoins)}
      order by ${order}` as Fragment<ParticipantState>,
    ),
    on.run(
      looksAtStates(filters)
        ? selectTotal(page, matching)
        : selectAppTotal(appId, { kind: filters.conversationType, once }),
    ),
  ])
  return { states, total: count?.total ?? 0 }
}

/** Of each conversation the first state, by uid, that filters find: they may look at what only one of its states has. */
function firstOf(conditions: readonly Fragment[], filters: ConversationFilters): Fragment {
  const hidesAgents = filters.hideAgentic === true
  return sql`
      from (
        select distinct on (c.key) s.app_id, s.uid, s.conversation
        ${statesWhere(eachByKey, [...conditions, ...(hidesAgents ? [isNoAgents] : [])], filters)}
        order by c.key, s.uid
      ) s
      join conversations c on c.app_id = s.app_id and c.key = s.conversation`
}

/** Seen from an agent, the other one is none. */
const isNoAgents = sql`not (c.kind = 1 and exists (
    select
    from users a
    where a.app_id = s.app_id
    and a.uid = s.uid
    and a.role = ${agenticRole}
    offset 0
  ))`

/** The first of the users, by uid, in whose list a conversation is. */
const isFirstState = sql`case c.kind
    when 1 then s.uid = c.first or not exists (
      select
      from conversation_states o
      where o.app_id = c.app_id
      and o.uid = c.first
      and o.conversation = c.key
      and ${sql.raw(keptSql('o'))}
    )
    else s.uid = (
      select m.uid
      from group_members m
      where m.app_id = c.app_id
      and m.guid = c.first
      and exists (
        select
        from conversation_states o
        where o.app_id = m.app_id
        and o.uid = m.uid
        and o.conversation = c.key
        and o.member
        and ${sql.raw(keptSql('o'))}
        offset 0
      )
      order by m.uid
      limit 1
    )
  end`
