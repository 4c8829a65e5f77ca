import { badRequest } from '@parley/contract'
import { resolveTarget, TargetRefused } from '../../delivery/webhooks/addresses.ts'

/**
 * Checks an address that somebody wants deliveries to go to. A name that does not resolve now may do so later: each
 * connection is checked again.
 * @throws 400 naming `webhookURL`
 */
export async function checkAddress(text: string, { allowPrivate }: { allowPrivate: boolean }): Promise<void> {
  const refuse = (message: string) => badRequest([{ path: 'body/webhookURL', message }])
  if (!URL.canParse(text) || /\s/.test(text)) throw refuse('must be an absolute URL')
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) {
    throw refuse(allowPrivate ? 'must start with https:// or http://' : 'must start with https://')
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('must not hold a user name or password; useBasicAuth sends them')
  }
  if (allowPrivate) return
  try {
    await resolveTarget(url.hostname)
  } catch (error) {
    if (error instanceof TargetRefused) throw refuse(error.message)
  }
}
