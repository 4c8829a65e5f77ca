import { appLimitReached, hasReached } from '@parley/contract'
import { lockApp } from '../../chat/apps.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** The role that makes a user a bot. */
export const botRole = 'bot'

const countBots = statement(`
  select count(*) as count
  from users
  where app_id = $1
  and role = '${botRole}'
  and uid <> $2`)

/**
 * Makes room for another bot; those of one app one after the other, so that two cannot both be the last. To be called
 * before anybody is locked.
 * @param maxBots the setting of the app; 0: no limit
 * @throws 400 when the app has as many as it may have
 */
export async function refuseTooManyBots(tx: Transaction, appId: number, uid: string, maxBots: number): Promise<void> {
  if (maxBots === 0) return
  await lockApp(tx, appId)
  const [{ count } = { count: 0 }] = await tx.query<{ count: number }>(countBots, [appId, uid])
  if (hasReached(maxBots, count)) throw appLimitReached(maxBots, 'bots')
}
