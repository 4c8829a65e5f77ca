import { sql } from 'kysely'
import { erasable, untouched } from '../../chat/erasure.ts'
import { appKey } from '../../store/app-key.ts'
import type { Fragment } from '../../store/statement.ts'

/** What the doctor found at a user; ids in its subjects are divided by slashes. */
const forgetExamples = ({ appId, uid }: { readonly appId: number; readonly uid: string }): Fragment => sql`
  delete from doctor_examples
  where app_id = ${appKey(appId)}
  and (${uid} = any(string_to_array(subject, '/')) or stored = ${uid} or expected = ${uid})`

export const tables = [
  untouched('operators', 'operators are of the deployment'),
  untouched('operator_links', 'links are of the deployment'),
  untouched('operator_sessions', 'sessions are of operators'),
  untouched('operator_identities', 'identities are of operators'),
  untouched('operator_sign_ins', 'sign-ins are of operators'),
  untouched('operator_tokens', 'tokens are of operators'),
  untouched(
    'operator_readings',
    'says what operators may read for an hour; what the audit log has of it is erased there',
  ),
  untouched(
    'operator_reads',
    'says what operators have read within an hour; what the audit log has of it is erased there',
  ),
  untouched('doctor_runs', 'they are of the deployment'),
  untouched('doctor_findings', 'they count, and name nobody'),
  erasable('doctor_examples', {}, { ofUser: [forgetExamples], ofReuse: [forgetExamples] }),
]
