import { sql } from 'kysely'
import { keptSql } from '../../chat/conversations/participant-state.ts'
import type { ConversationKind } from '../../chat/kind.ts'
import { takesPartIn } from '../../chat/sight/participation.ts'
import { appKey } from '../../store/app-key.ts'
import type { Fragment } from '../../store/statement.ts'

/** Which of an app's conversations are counted. */
export interface Counted {
  /** Both kinds without it. */
  readonly kind?: ConversationKind | undefined
  /** Each conversation once, instead of once for each of its states. */
  readonly once: boolean
}

/**
 * Counts the states of all conversations of an app that are in somebody's list, or the conversations, without a look at each
 * state: a one-to-one conversation has two, one with oneself has one, that of a group as many as the group has members. What
 * is in nobody's list, and what was reset, has an index of its own.
 */
export function selectAppTotal(appId: number, { kind, once }: Counted): Fragment<{ total: number }> {
  const counts = once ? conversationsOf(appKey(appId)) : statesOf(appKey(appId))
  const total = kind === undefined ? sql`${counts.user} + ${counts.group}` : counts[kind]
  return sql`
    with reset as materialized (
      select c.kind, c.first, c.second, count(*) as states
      from conversation_states s
      join conversations c on c.app_id = s.app_id and c.key = s.conversation
      where s.app_id = ${appKey(appId)}
      and s.hidden
      and not ${sql.raw(keptSql('s'))}
      and ${sql.raw(takesPartIn('c'))}
      and c.listed_id is not null
      group by c.app_id, c.key
    )
    select (${total})::float8 as total`
}

type Counts = Readonly<Record<ConversationKind, Fragment>>

function statesOf(app: Fragment): Counts {
  return {
    user: sql`
      (select 2 * count(*) from conversations where app_id = ${app} and kind = 1)
      - (select count(*) from conversations where app_id = ${app} and kind = 1 and first = second)
      - (
        select count(*) + count(*) filter (where first <> second)
        from conversations
        where app_id = ${app} and unlisted and kind = 1
      )
      - (select coalesce(sum(states), 0) from reset where kind = 1)`,
    group: sql`
      (select coalesce(sum(members_count), 0) from groups where app_id = ${app})
      - (
        select coalesce(sum(g.members_count), 0)
        from conversations c
        join groups g on g.app_id = c.app_id and g.guid = c.first
        where c.app_id = ${app} and c.unlisted and c.kind = 2
      )
      - (select coalesce(sum(states), 0) from reset where kind = 2)`,
  }
}

function conversationsOf(app: Fragment): Counts {
  return {
    user: sql`
      (select count(*) from conversations where app_id = ${app} and kind = 1)
      - (select count(*) from conversations where app_id = ${app} and unlisted and kind = 1)
      - (select count(*) from reset where kind = 1 and states = case when first = second then 1 else 2 end)`,
    group: sql`
      (select count(*) from groups where app_id = ${app} and members_count > 0)
      - (
        select count(*)
        from conversations c
        join groups g on g.app_id = c.app_id and g.guid = c.first
        where c.app_id = ${app} and c.unlisted and c.kind = 2 and g.members_count > 0
      )
      - (
        select count(*)
        from reset r
        join groups g on g.app_id = ${app} and g.guid = r.first
        where r.kind = 2 and r.states = g.members_count
      )`,
  }
}
