import type { BodyOf, saveTwilioProvider, TwilioProvider, updateTwilioProvider } from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import type { TwilioTarget } from '../../chat/notifications/credentials.ts'
import type { ProviderRow } from '../../chat/notifications/providers.ts'
import type { Context } from '../../context.ts'
import type { Secrets } from '../../store/secrets.ts'
import { given, secretOf, secretsOf, shorten } from './secrets.ts'
import { changeSingle, findSingle, type Slot, saveSingle } from './single-provider.ts'

export const twilio: Slot = { channel: 'sms', kind: 'twilio', what: 'Twilio credentials' }

type Kept = Pick<TwilioTarget, 'twilioAuthToken'>

export async function getTwilio({ database, secrets }: Context, app: App): Promise<TwilioProvider> {
  const row = await findSingle(database, app, twilio)
  return row === undefined ? {} : show(secrets, row)
}

function show(secrets: Secrets, row: ProviderRow): TwilioProvider {
  const { twilioAuthToken } = secretsOf<Kept>(secrets, row)
  return { ...row.settings, twilioAuthToken: shorten(twilioAuthToken), isEnabled: row.enabled }
}

export async function saveTwilio(
  context: Context,
  app: App,
  { isEnabled, twilioAuthToken: sent, ...settings }: BodyOf<typeof saveTwilioProvider>,
): Promise<TwilioProvider> {
  const saved = await saveSingle(context, app, twilio, (row) => {
    const present = row && secretsOf<Kept>(context.secrets, row).twilioAuthToken
    const secrets: Kept = { twilioAuthToken: secretOf(sent, present ?? '') }
    return { enabled: isEnabled ?? row?.enabled ?? true, settings, secrets }
  })
  return show(context.secrets, saved)
}

/** @throws 404 `ERR_PROVIDER_NOT_FOUND` */
export async function changeTwilio(
  context: Context,
  app: App,
  { isEnabled, twilioAuthToken: sent, ...members }: BodyOf<typeof updateTwilioProvider>,
): Promise<TwilioProvider> {
  const saved = await changeSingle(context, app, twilio, (row) => {
    const { twilioAuthToken } = secretsOf<Kept>(context.secrets, row)
    const secrets: Kept = { twilioAuthToken: secretOf(sent, twilioAuthToken) }
    return { enabled: isEnabled ?? row.enabled, settings: { ...row.settings, ...given(members) }, secrets }
  })
  return show(context.secrets, saved)
}
