import type { Context } from '../../context.ts'
import { statement } from '../../store/statement.ts'
import { changeWebhooks } from './change.ts'
import { unknownWebhook } from './errors.ts'
import { makeSecret } from './make-secret.ts'

const replace = statement(`
  update webhooks
  set old_secret_sealed = secret_sealed,
    old_secret_until = $4,
    secret_sealed = $3,
    updated_at = greatest($5, updated_at)
  where app_id = $1
  and id = $2
  returning key`)

const day = 86_400

/**
 * Creates a new secret. For a while deliveries are also signed with the old one; even older ones are dropped.
 * @param oldValidFor seconds
 * @throws 404 `ERR_WEBHOOK_NOT_FOUND`
 */
export async function renewSecret(
  context: Context,
  appId: number,
  id: string,
  oldValidFor: number = day,
): Promise<{ secret: string; oldSecretValidUntil: number }> {
  const secret = makeSecret()
  const now = Math.floor(Date.now() / 1000)
  const oldSecretValidUntil = now + oldValidFor
  const done = { action: 'webhook_updated', target: id, details: { changed: ['secret'] } } as const
  await changeWebhooks(context, appId, done, async (tx) => {
    const sealed = context.secrets.seal(secret)
    const changed = await tx.query(replace, [appId, id, sealed, oldSecretValidUntil, now])
    if (changed.length === 0) throw unknownWebhook(id)
  })
  return { secret, oldSecretValidUntil }
}
