import type { SmtpProvider, Trial } from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import { unknownProvider } from './errors.ts'
import { changeSingle, findSingle, type Slot, saveSingle, trySingle } from './single-provider.ts'

/** The mail server of the deployment: apps only say whether they use it. */
export const smtp: Slot = { channel: 'email', kind: 'smtp', what: 'mail server in use' }

export async function getSmtp({ config, database }: Context, app: App): Promise<SmtpProvider> {
  const row = await findSingle(database, app, smtp)
  return { isAvailable: config.notifications.smtp !== undefined, isEnabled: row?.enabled ?? false }
}

/** @throws 404 `ERR_PROVIDER_NOT_FOUND` where the deployment has no mail server */
export async function changeSmtp(context: Context, app: App, enabled: boolean): Promise<SmtpProvider> {
  if (enabled) requireMailServer(context)
  await saveSingle(context, app, smtp, () => ({ enabled, settings: {}, secrets: {} }))
  return getSmtp(context, app)
}

/** @throws 404 `ERR_PROVIDER_NOT_FOUND` where the app never had it */
export async function removeSmtp(context: Context, app: App): Promise<void> {
  await changeSingle(context, app, smtp, () => ({ enabled: false, settings: {}, secrets: {} }))
}

/** @throws 404 `ERR_PROVIDER_NOT_FOUND` where there is none, or the app never had it */
export function trySmtp(context: Context, app: App, email: string): Promise<Trial> {
  requireMailServer(context)
  return trySingle(context, app, smtp, email)
}

function requireMailServer({ config }: Pick<Context, 'config'>): void {
  if (config.notifications.smtp === undefined) {
    throw unknownProvider('mail server: the operator has not set SMTP_URL and MAIL_FROM')
  }
}
