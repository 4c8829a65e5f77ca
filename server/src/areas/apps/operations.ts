import { getAppSettings, updateAppSettings } from '@parley/contract'
import { serve } from '../../call.ts'
import { unknownApp } from '../../chat/apps.ts'
import type { App } from '../../chat/identity.ts'

export const operations = [
  serve(getAppSettings, async ({ app, params }, { settings }) => {
    requireOwnApp(app, params.appId)
    return { data: await settings.of(app.appId) }
  }),

  serve(updateAppSettings, async ({ app, params, body }, { settings }) => {
    requireOwnApp(app, params.appId)
    return { data: await settings.change(app.appId, body) }
  }),
]

/** Another app is as unknown as one that does not exist. @throws 404 `ERR_APP_NOT_FOUND` */
function requireOwnApp(app: App, appId: string): void {
  if (appId.toLowerCase() !== app.name) throw unknownApp(appId)
}
