import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import type { Transaction } from '../../store/database.ts'
import { type Fragment, statement } from '../../store/statement.ts'
import type { ErasedUser } from '../erasure.ts'
import { heldTraits, traits } from '../messages/traits.ts'

/** Whether moderation ever looked at a message: of others it keeps nothing. */
export function wasJudged(message: { readonly traits: number }): boolean {
  return (message.traits & (traits.moderated | heldTraits)) !== 0
}

/**
 * Takes out of the events what engines answered about messages, where these lose their content or get another: an engine
 * may quote what it was asked about. By the index `events_of_engine_failures`.
 * @param messages an array of ids
 */
export function forgetEngineAnswers(appId: number, messages: Fragment): Fragment {
  return sql`
    update events
    set data = jsonb_set(data::jsonb, '{failures}', (
      select coalesce(jsonb_agg(f.failure - 'responseBody' - 'validationErrors' order by f.place), '[]')
      from jsonb_array_elements(data::jsonb -> 'failures') with ordinality as f(failure, place)
    ))::json
    where app_id = ${appKey(appId)}
    and trigger = 'moderation_engine_failed'
    and message = any(${messages})`
}

/** Assignments: of what was found its place stays, and neither the words nor what an engine said of them. */
export const withoutTextSql = `match = (match::jsonb - 'text')::json,
    reason = null`

const forgetText = statement(`
  with kept as (
    update message_moderation
    set ${withoutTextSql}
    where app_id = $1
    and message = $2
  )
  update moderation_decisions
  set ${withoutTextSql}
  where app_id = $1
  and message = $2
  and (match is not null or reason is not null)`)

/**
 * What a message said is edited or deleted: the log keeps the places of what rules found, and neither the words nor what engines
 * said of them.
 */
export async function forgetJudgedText(tx: Transaction, appId: number, id: number): Promise<void> {
  await tx.query(forgetText, [appId, id])
}

/** A reviewer may be a user: then they are nobody once they are removed for good. For the `ofUser` of a table. */
export function forgetReviewer(table: string, column: string) {
  return ({ appId, uid }: ErasedUser): Fragment => sql`
    update ${sql.table(table)}
    set ${sql.ref(column)} = null
    where app_id = ${appKey(appId)}
    and lower(${sql.ref(column)}) = ${uid}`
}
