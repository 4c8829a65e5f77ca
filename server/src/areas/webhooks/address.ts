import { badRequest } from '@parley/contract'
import type { Context } from '../../context.ts'

/**
 * Checks an address that somebody wants deliveries to go to. A name that does not resolve now may do so later: each
 * connection is checked again.
 * @throws 400 naming `webhookURL`
 */
export async function checkAddress({ outbound }: Pick<Context, 'outbound'>, text: string): Promise<void> {
  const refuse = (message: string) => badRequest([{ path: 'body/webhookURL', message }])
  if (!URL.canParse(text) || /\s/.test(text)) throw refuse('must be an absolute URL')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    throw refuse('must not hold a user name or password; useBasicAuth sends them')
  }
  const refusal = await outbound.refusalOf(url)
  if (refusal !== undefined) throw refuse(refusal)
}
