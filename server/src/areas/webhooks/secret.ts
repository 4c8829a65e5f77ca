import type { Context } from '../../context.ts'
import { statement } from '../../store/statement.ts'
import { changeWebhooks } from './change.ts'
import { unknownWebhook } from './errors.ts'
import { makeSecret } from './make-secret.ts'
import { openOldSecrets, type StoredOldSecrets, sealOldSecrets } from './old-secrets.ts'

const select = statement(`
  select secret_sealed as "secretSealed", old_secret_sealed as "oldSecretSealed", old_secret_until as "oldSecretUntil"
  from webhooks
  where app_id = $1
  and id = $2`)

const replace = statement(`
  update webhooks
  set secret_sealed = $3,
    old_secret_sealed = $4,
    old_secret_until = $5,
    updated_at = greatest($6, updated_at)
  where app_id = $1
  and id = $2`)

const day = 86_400

/**
 * Creates a new secret. For a while deliveries are also signed with the old one, and with even older ones for as long as was promised of
 * them: whoever asks again because the answer was lost still has an endpoint that knows none but the first.
 * @param oldValidFor seconds; 0 ends all old ones, since one of them has leaked
 * @throws 404 `ERR_WEBHOOK_NOT_FOUND`
 */
export async function renewSecret(
  context: Context,
  appId: number,
  id: string,
  oldValidFor: number = day,
): Promise<{ secret: string; oldSecretValidUntil: number }> {
  const { secrets } = context
  const secret = makeSecret()
  const now = Math.floor(Date.now() / 1000)
  const oldSecretValidUntil = now + oldValidFor
  const done = { action: 'webhook_updated', target: id, details: { changed: ['secret'] } } as const
  await changeWebhooks(context, appId, done, async (tx) => {
    const [webhook] = await tx.query<StoredOldSecrets & { secretSealed: Buffer }>(select, [appId, id])
    if (webhook === undefined) throw unknownWebhook(id)
    // Where none is to be kept none is opened: it may be that nobody can, since the master key was lost.
    const olds =
      oldValidFor === 0
        ? []
        : [
            { secret: secrets.unseal(webhook.secretSealed), validUntil: oldSecretValidUntil },
            ...openOldSecrets(secrets, webhook),
          ]
    const { oldSecretSealed, oldSecretUntil } = sealOldSecrets(secrets, olds)
    await tx.query(replace, [appId, id, secrets.seal(secret), oldSecretSealed, oldSecretUntil, now])
  })
  return { secret, oldSecretValidUntil }
}
