import { systemUid } from '../../../chat/apps.ts'
import { erase } from '../../../chat/erasure.ts'
import type { App } from '../../../chat/identity.ts'
import { mediaKeysOf, releaseUses } from '../../../chat/messages/file-uses.ts'
import { readMessages } from '../../../chat/messages/rows.ts'
import { withoutTextSql } from '../../../chat/moderation/forget.ts'
import { notHeldIn } from '../../../chat/sight/participation.ts'
import type { Context } from '../../../context.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { clearMessage } from '../delete.ts'
import { dropWaiting } from './waiting.ts'

/** Messages of a user in groups that moderation holds, or with an edit that waits; by the index `message_moderation_held`. */
const selectHeld = statement(`
  select m.id, not (${notHeldIn('m')}) as "isHeld",
    exists (
      select
      from messages r
      where r.app_id = m.app_id
      and r.parent_id = m.id
      and r.category <> 'action'
      and not r.purged
      and ${notHeldIn('r')}
    ) as "hasReplies"
  from message_moderation h
  join messages m on m.app_id = h.app_id and m.id = h.message
  where h.app_id = $1
  and h.sender = $2
  and h.status <> 'approved'
  and m.kind = 2
  and not m.purged
  order by m.id`)

/** The log keeps no words of edits that were never stored. */
const forgetEdits = statement(`
  update moderation_decisions d
  set ${withoutTextSql}
  from messages m
  where m.app_id = $1
  and m.sender = $2
  and m.kind = 2
  and d.app_id = m.app_id
  and d.message = m.id
  and d.decision in ('refused', 'pending', 'late')
  and (d.match is not null or d.reason is not null)`)

/**
 * Of a user who is removed for good, removes what was there for them alone: the messages in groups that moderation holds, and
 * edits that wait. A message that has replies becomes a deleted one. Under the locks of the groups.
 * @returns how many messages are gone
 */
export async function eraseHeldOf(
  { tables }: Pick<Context, 'tables'>,
  tx: Transaction,
  app: App,
  uid: string,
  now: number,
): Promise<number> {
  const { appId } = app
  const found = await tx.query<{ id: number; isHeld: boolean; hasReplies: boolean }>(selectHeld, [appId, uid])
  const purged = found.flatMap(({ id, isHeld, hasReplies }) => (isHeld && !hasReplies ? id : []))
  await erase(tx, tables, 'ofMessages', { appId, ids: purged })
  const rest = await readMessages(
    tx,
    appId,
    found.map(({ id }) => id).filter((id) => !purged.includes(id)),
  )
  for (const { id, isHeld } of found) {
    const message = rest.get(id)
    if (message === undefined) continue
    if (isHeld) await clearMessage(tx, appId, message, systemUid, now)
    else {
      await dropWaiting(tx, appId, id, now)
      await releaseUses(tx, appId, [id], mediaKeysOf(app, message.data))
    }
  }
  await tx.query(forgetEdits, [appId, uid])
  return purged.length
}
