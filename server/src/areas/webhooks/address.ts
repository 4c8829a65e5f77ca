import { badRequest } from '@parley/contract'
import type { Context } from '../../context.ts'

/**
 * Checks an address that somebody wants deliveries to go to. A name that does not resolve now may do so later: each
 * connection is checked again.
 * @throws 400 naming `webhookURL`
 */
export async function checkAddress({ config, outbound }: Context, text: string): Promise<void> {
  const { allowPrivate } = config.webhooks
  const refuse = (message: string) => badRequest([{ path: 'body/webhookURL', message }])
  if (!URL.canParse(text) || /\s/.test(text)) throw refuse('must be an absolute URL')
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) {
    throw refuse(allowPrivate ? 'must start with https:// or http://' : 'must start with https://')
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('must not hold a user name or password; useBasicAuth sends them')
  }
  const refusal = await outbound.refusalOf(url.hostname)
  if (refusal !== undefined) throw refuse(refusal)
}
