import { lockApp } from '../../chat/apps.ts'
import type { App } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'

export type Changing = Pick<Context, 'database' | 'audit' | 'rulebook' | 'engineSettings' | 'secrets' | 'outbound'>

/**
 * Changes rules or lists of an app, one change at a time. It is in force in this process when this is over, and in the others
 * soon after.
 */
export async function changing<Result>(
  { database, rulebook }: Pick<Changing, 'database' | 'rulebook'>,
  { appId }: App,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const result = await database.transaction(async (tx) => {
    await lockApp(tx, appId)
    const done = await work(tx)
    await rulebook.announce(tx, appId)
    return done
  })
  await rulebook.renew(appId)
  return result
}
