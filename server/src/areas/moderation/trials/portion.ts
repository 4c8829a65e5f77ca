import { sql } from 'kysely'
import { systemUid } from '../../../chat/apps.ts'
import { type ConversationKind, kindSql } from '../../../chat/kind.ts'
import { judgedOf } from '../../../chat/moderation/describe.ts'
import type { JudgedGroup, JudgedMessage, JudgedUser } from '../../../chat/moderation/model.ts'
import { appKey } from '../../../store/app-key.ts'
import type { Fragment } from '../../../store/statement.ts'
import type { RunRow } from './runs.ts'

/** A message of history, with whom it is between. */
export interface PastMessage {
  readonly id: number
  readonly sentAt: number
  readonly sender: string
  readonly kind: ConversationKind
  readonly receiver: string
  readonly category: string
  readonly type: string
  /** Null where it is not looked at: it only moves the position. */
  readonly data: Record<string, unknown> | null
  readonly from: Omit<JudgedUser, 'uid'> | null
  readonly to: Omit<JudgedUser, 'uid'> | null
  readonly group: Omit<JudgedGroup, 'guid' | 'scope'> | null
  readonly scope: string | null
}

/** A share is told apart in such steps. */
const steps = 10_000

/**
 * The next messages of a dry run, in the order in which they were sent. Which ones a sample has depends on their ids alone, so
 * that every dry run of the same share looks at the same.
 */
export function nextPortion(appId: number, run: RunRow, limit: number): Fragment<PastMessage> {
  const isSampled = sql`(m.id * 2654435761) % ${steps} < ${Math.round(run.share * steps)}`
  const user = (u: string) =>
    sql.raw(`json_build_object('name', ${u}.name, 'role', ${u}.role, 'tags', ${u}.tags, 'createdAt', ${u}.created_at)`)
  return sql<PastMessage>`
    select m.id, m.sent_at as "sentAt", m.sender, ${sql.raw(kindSql('m.kind'))} as kind, m.receiver, m.category, m.type,
      case when ${isSampled} and m.deleted_at is null and not m.purged and m.sender <> ${systemUid}
        and m.category in ('message', 'custom', 'interactive') then m.data end as data,
      case when s.uid is not null then ${user('s')} end as "from",
      case when r.uid is not null then ${user('r')} end as "to",
      case when g.guid is not null then
        json_build_object('name', g.name, 'type', g.type, 'tags', g.tags, 'createdAt', g.created_at)
      end as "group",
      gm.scope
    from (
      select *
      from messages
      where app_id = ${appKey(appId)}
      and (sent_at, id) > (${run.positionAt}, ${run.positionId})
      and sent_at <= ${run.to}
      order by sent_at, id
      limit ${limit}
    ) m
    left join users s on s.app_id = m.app_id and s.uid = m.sender
    left join users r on r.app_id = m.app_id and m.kind = 1 and r.uid = m.receiver
    left join groups g on g.app_id = m.app_id and m.kind = 2 and g.guid = m.receiver
    left join group_members gm on gm.app_id = m.app_id and m.kind = 2 and gm.guid = m.receiver and gm.uid = m.sender
    order by m.sent_at, m.id`
}

/** A message of history as rules look at it, with its sender and receiver as they are today. */
export function judgedPast(message: PastMessage, data: Record<string, unknown>): JudgedMessage {
  const { sender, kind, receiver, category, type, from, to, group, scope } = message
  return judgedOf(
    { sender, kind, receiver, category, type, data },
    { sender: from ?? undefined, receiver: to ?? undefined, group: group ?? undefined, scope: scope ?? undefined },
  )
}
