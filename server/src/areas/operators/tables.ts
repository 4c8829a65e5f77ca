import { sql } from 'kysely'
import { inConversation } from '../../chat/audit/tables.ts'
import { erasable, untouched } from '../../chat/erasure.ts'
import { appKey } from '../../store/app-key.ts'
import type { Fragment } from '../../store/statement.ts'

/** What the doctor found at a user; ids in its subjects are divided by slashes. */
const forgetExamples = ({ appId, uid }: { readonly appId: number; readonly uid: string }): Fragment => sql`
  delete from doctor_examples
  where app_id = ${appKey(appId)}
  and (${uid} = any(string_to_array(subject, '/')) or stored = ${uid} or expected = ${uid})`

/** What operators may read or have read of one-to-one conversations of a user. Rows that are over stay until the operator opens another reading. */
const ofConversations = (table: string, column: string) => {
  const forget = ({ appId, uid }: { readonly appId: number; readonly uid: string }): Fragment => sql`
    delete from ${sql.table(table)}
    where app_id = ${appKey(appId)}
    and ${sql.ref(column)} ~* ${inConversation(uid)}`
  return erasable(table, {}, { ofUser: [forget], ofReuse: [forget] })
}

export const tables = [
  untouched('operators', 'operators are of the deployment'),
  untouched('operator_links', 'links are of the deployment'),
  untouched('operator_sessions', 'sessions are of operators'),
  untouched('operator_identities', 'identities are of operators'),
  untouched('operator_sign_ins', 'sign-ins are of operators'),
  untouched('operator_tokens', 'tokens are of operators'),
  ofConversations('operator_readings', 'subject'),
  ofConversations('operator_reads', 'conversation'),
  untouched('doctor_runs', 'they are of the deployment'),
  untouched('doctor_findings', 'they count, and name nobody'),
  erasable('doctor_examples', {}, { ofUser: [forgetExamples], ofReuse: [forgetExamples] }),
]
