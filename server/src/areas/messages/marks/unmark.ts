import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'

const unmark = statement(`
  with unpinned as (
    delete from pinned_messages
    where app_id = $1
    and message_id = $2
  )
  delete from saved_messages
  where app_id = $1
  and message_id = $2`)

/** Takes a message from the lists of pinned and saved ones: it says nothing any more, or nobody else sees it. */
export async function unmarkMessage(tx: Transaction, appId: number, id: number): Promise<void> {
  await tx.query(unmark, [appId, id])
}
