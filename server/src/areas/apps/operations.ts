import { badRequest, getAppSettings, isTimezone, updateAppSettings } from '@parley/contract'
import { serve } from '../../call.ts'
import { unknownApp } from '../../chat/apps.ts'
import type { App } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'

export const operations = [
  serve(getAppSettings, async ({ app, params }, { settings }) => {
    requireOwnApp(app, params.appId)
    return { data: await settings.of(app.appId) }
  }),

  serve(updateAppSettings, async ({ app, params, body }, { settings, events, audit, outbound }) => {
    requireOwnApp(app, params.appId)
    checkTimezone((body as { timezone?: unknown }).timezone)
    await checkKeysUrl(outbound, (body as { jwtKeysUrl?: unknown }).jwtKeysUrl)
    const held = await settings.change(app, body, audit)
    // Some settings have more of what happens be kept.
    events.forget(app.appId)
    return { data: held }
  }),
]

/** Another app is as unknown as one that does not exist. @throws 404 `ERR_APP_NOT_FOUND` */
function requireOwnApp(app: App, appId: string): void {
  if (appId.toLowerCase() !== app.name) throw unknownApp(appId)
}

/** @throws 400 for a zone that this runtime does not know */
function checkTimezone(name: unknown): void {
  if (typeof name !== 'string' || isTimezone(name)) return
  throw badRequest([{ path: 'body/timezone', message: 'must be an IANA time zone, such as Europe/Oslo' }])
}

/** @throws 400 for an address that apps may not have called */
async function checkKeysUrl(outbound: Context['outbound'], url: unknown): Promise<void> {
  if (typeof url !== 'string' || url === '') return
  const refusal = URL.canParse(url) ? await outbound.refusalOf(new URL(url)) : 'must be an address'
  if (refusal !== undefined) throw badRequest([{ path: 'body/jwtKeysUrl', message: refusal }])
}
