import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

const leave = statement(`
  update moderation_queue
  set status = 'deleted'
  where app_id = $1
  and message = $2
  and status = 'open'`)

/** A message is deleted: it waits for no reviewer any more. */
export async function leaveQueue(tx: Transaction, appId: number, id: number): Promise<void> {
  await tx.query(leave, [appId, id])
}
