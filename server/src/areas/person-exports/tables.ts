import { sql } from 'kysely'
import { type ErasableTable, erasable } from '../../chat/erasure.ts'
import { appKey } from '../../store/app-key.ts'
import type { Fragment } from '../../store/statement.ts'
import { batchLock } from './lock.ts'

const records = erasable('person_export_records', { uids: ['uid'], conversation: 'conversation', message: 'message' })

/**
 * Waits for the batch of an export that is being written, and keeps the next from beginning: what that reads and what is
 * removed here is never one and the same.
 */
const wait = ({ appId }: { readonly appId: number }): Fragment =>
  sql`select pg_advisory_xact_lock_shared(${sql.raw(batchLock('apps.key'))})
    from (select ${appKey(appId)} as key) apps`

/** What is removed for good leaves the copies that others have asked for; of a user, whatever names them. */
export const tables: readonly ErasableTable[] = [
  {
    ...records,
    ofUser: [
      wait,
      ...records.ofUser,
      ({ appId, uid }) => sql`
        delete from person_export_records
        where app_id = ${appKey(appId)}
        and names @> array[${uid}]::text[]`,
    ],
    ofGroup: [wait, ...records.ofGroup],
    ofMessages: [wait, ...records.ofMessages],
  },
  erasable('person_exports', { uids: ['uid'] }),
]
