import type { AnswerOf, getModerationQueue } from '@parley/contract'
import { sql } from 'kysely'
import { appKey } from '../../../store/app-key.ts'
import type { Queryable } from '../../../store/database.ts'
import { allOf } from '../../../store/statement.ts'
import { isClaimed, readConditionsOf } from './filters.ts'

interface Counts {
  readonly open: number
  readonly claimed: number
  readonly oldestAt: number | null
}

/** How many messages wait for reviewers and for engines, and since when. */
export async function countQueue(on: Queryable, appId: number): Promise<AnswerOf<typeof getModerationQueue>['data']> {
  const now = Math.floor(Date.now() / 1000)
  const [flagged, blocked, [pending]] = await Promise.all([
    countList(on, appId, 'flagged'),
    countList(on, appId, 'blocked'),
    on.run(sql<Omit<Counts, 'claimed'>>`
      select count(*) as open, min(h.updated_at) as "oldestAt"
      from message_moderation h
      where h.app_id = ${appKey(appId)}
      and h.status = 'pending'
      and h.due_at is not null`),
  ])
  const show = ({ open, oldestAt }: Omit<Counts, 'claimed'>) => ({
    open,
    ...(oldestAt !== null && { oldestAt, oldestAge: Math.max(0, now - oldestAt) }),
  })
  return {
    flagged: { claimed: flagged.claimed, ...show(flagged) },
    blocked: { claimed: blocked.claimed, ...show(blocked) },
    pending: show(pending ?? { open: 0, oldestAt: null }),
  }
}

async function countList(on: Queryable, appId: number, list: 'flagged' | 'blocked'): Promise<Counts> {
  const { from, conditions, at } = await readConditionsOf(on, appId, {}, list)
  const [row] = await on.run(sql<Counts>`
    select count(*) as open, count(*) filter (where ${isClaimed()}) as claimed, min(${at}) as "oldestAt"
    from ${from}
    where ${allOf(conditions)}`)
  return row ?? { open: 0, claimed: 0, oldestAt: null }
}
