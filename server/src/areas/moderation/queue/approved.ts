import type { App } from '../../../chat/identity.ts'
import { readMessages } from '../../../chat/messages/rows.ts'
import { blockedAtOf, showCondition } from '../../../chat/moderation/hits.ts'
import type { Condition } from '../../../chat/moderation/model.ts'
import { placeOf } from '../../../chat/place.ts'
import type { Context } from '../../../context.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { revisionId } from '../revision-id.ts'

interface HitRow {
  readonly ruleId: string
  readonly name: string
  readonly revision: number
  readonly condition: Condition
  readonly actions: readonly string[]
  readonly at: number
}

/** What blocked a message, the last time that it was judged. */
const selectHits = statement(`
  select d.rule_id as "ruleId", case when h.rule_id = d.rule_id then h.rule_name else d.rule_id end as name,
    d.rule_revision as revision, d.condition, d.actions, d.at
  from moderation_decisions d
  left join message_moderation h on h.app_id = d.app_id and h.message = d.message
  where d.app_id = $1
  and d.message = $2
  and d.rule_id is not null
  and d.condition is not null
  and d.mode = 'on'
  and d.decision = 'disapproved'
  and d.actions && '{blockMessage,dropMessage}'
  and d.at = (
    select max(l.at)
    from moderation_decisions l
    where l.app_id = d.app_id
    and l.message = d.message
    and l.rule_id is not null
    and l.decision = 'disapproved'
  )
  order by d.id`)

/** Raises the event of a reviewer's approval, with what had blocked the message. */
export async function raiseApproved({ events }: Context, tx: Transaction, app: App, id: number): Promise<void> {
  const { appId } = app
  const message = (await readMessages(tx, appId, [id])).get(id)
  if (message === undefined) return
  const rows = await tx.query<HitRow>(selectHits, [appId, id])
  const hits = rows.map(({ ruleId, name, revision, condition, actions, at }) => ({
    condition: showCondition(condition),
    rule: {
      ...{ id: ruleId, name, revisionId: revisionId(app, { id: ruleId, revision }), action: [...actions] },
      blockedAt: blockedAtOf(at, id),
    },
  }))
  await events.raise(tx, appId, [
    { trigger: 'moderation_manual_approved', place: placeOf(message), messageId: id, hits },
  ])
}
