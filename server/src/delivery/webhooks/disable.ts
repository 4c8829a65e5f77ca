import type { Target } from '../../areas/webhooks/index.ts'
import { listenersTopic } from '../../events/listening.ts'
import type { Database } from '../../store/database.ts'
import type { Invalidation } from '../../store/invalidation.ts'
import { statement } from '../../store/statement.ts'

/** Only as it was when it failed: whoever changed its address meanwhile wants it tried. */
const disable = statement(`
  update webhooks
  set enabled = false,
    disabled_reason = $4,
    disabled_at = $5
  where app_id = $1
  and key = $2
  and url = $3
  and enabled
  returning id`)

/** Takes a webhook out of use, with the reason that its owner sees. */
export async function disableWebhook(
  { database, invalidation }: { readonly database: Database; readonly invalidation: Invalidation },
  target: Target,
  reason: string,
): Promise<boolean> {
  const { appId } = target.app
  return database.transaction(async (tx) => {
    const now = Math.floor(Date.now() / 1000)
    const disabled = await tx.query(disable, [appId, target.key, target.url, reason, now])
    if (disabled.length > 0) await invalidation.announce(tx, listenersTopic, String(appId))
    return disabled.length > 0
  })
}
