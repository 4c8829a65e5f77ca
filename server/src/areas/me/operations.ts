import { getMe, getSettings, logOut, recordUserSession, updateMe } from '@parley/contract'
import { serve } from '../../call.ts'
import type { App, Caller } from '../../chat/identity.ts'
import { requireFeature, requireRolePermission } from '../../chat/roles/rules.ts'
import { requireUser } from '../../chat/users/require.ts'
import { showUser, type UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import { checkUse, endJwt, recordUse, removeOwnToken } from '../auth-tokens/index.ts'
import { changeOwnProfile } from '../users/index.ts'
import { nothingToLogOut } from './errors.ts'
import { clientSettings } from './settings.ts'

export const operations = [
  serve(updateMe, async ({ app, caller, host, actor, policy, body }, context) => {
    const { platform, deviceId: _, appInfo, ...profile } = body
    checkUse(body)
    const uid = actor.uid
    // Front ends log in by the same call, which says nothing of the profile then.
    if (Object.keys(profile).length > 0) requireRolePermission(policy, 'editProfile')
    if (platform !== undefined || appInfo !== undefined) requireFeature(policy, 'updateAuthToken')
    const user = await changeOwnProfile(context.database, app.appId, uid, profile)
    // Tokens of the app's own issuer are not kept, so there is nothing to note it by.
    const isKept = caller.kind === 'user' && caller.via === 'token' && caller.login.jwt === undefined
    if (isKept && (platform !== undefined || appInfo !== undefined)) {
      await recordUse(context, app.appId, uid, caller.authToken, {
        ...(platform !== undefined && { platform }),
        ...(appInfo !== undefined && { appInfo }),
      })
    }
    const settings = await settingsOf(context, app, host)
    return { data: { ...showMe(context, app, caller, user), settings } }
  }),

  serve(getMe, async ({ app, caller, actor }, context) => {
    const user = await requireUser(context.database, app.appId, actor.uid)
    return { data: showMe(context, app, caller, user) }
  }),

  serve(logOut, async ({ app, caller, actor }, context) => {
    if (caller.kind !== 'user' || caller.via !== 'token') {
      throw nothingToLogOut()
    }
    const { uid, login, authToken, device } = caller
    if (login.jwt === undefined) await removeOwnToken(context, app.appId, uid, authToken)
    else await endJwt(context, app.appId, { uid, digest: login.digest, jwt: login.jwt }, device)
    return { data: { success: true, message: `${actor.uid} is logged out.` } }
  }),

  serve(getSettings, async ({ app, host }, context) => {
    return { data: await settingsOf(context, app, host) }
  }),

  serve(recordUserSession, async () => ({ data: { success: true } })),
]

async function settingsOf({ config, settings, flagReasons }: Context, { appId }: App, host: string) {
  const [ofApp, reasons] = await Promise.all([settings.of(appId), flagReasons.of(appId)])
  return clientSettings(host, config, ofApp, reasons)
}

/** The user, with what belongs to this login: the auth token is also the token for the socket. */
function showMe({ secrets }: Context, app: App, caller: Caller, user: UserRow) {
  const shown = showUser(user, 'self')
  if (caller.kind !== 'user' || caller.via !== 'token') return shown
  return {
    ...shown,
    authToken: caller.authToken,
    jwt: caller.authToken,
    wsChannel: {
      identity: `[${app.name}]${user.uid}`,
      secret: secrets.digest(`socket ${caller.authToken}`).toString('hex').slice(0, 40),
      service: app.name,
    },
  }
}
