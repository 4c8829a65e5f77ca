import * as contract from '@parley/contract'
import { isTimezone } from '@parley/contract'
import { serve } from '../../call.ts'
import type { App, Caller } from '../../chat/identity.ts'
import {
  readPreferences,
  type StoredPreferences,
  showPreferences,
  showWithOverrides,
  timezoneOf,
} from '../../chat/notifications/preferences.ts'
import { requireActiveUser } from '../../chat/users/require.ts'
import type { Context } from '../../context.ts'
import { checkPreferences, checkSettings } from './check.ts'
import { notYourOwn, uidRequired, unknownTimezone } from './errors.ts'
import { listMutes, mute, unmute } from './mutes.ts'
import { changePreferences, changeTimezone, clearPreferences } from './preferences.ts'
import { listDevices, registerDevice, unregisterDevice, unregisterDevices } from './tokens.ts'

const done = { data: { success: true } } as const

/** What an app decides about its notifications, and what its users choose. */
export const operations = [
  serve(contract.getNotificationSettings, async ({ app }, { notificationSettings }) => {
    return { data: (await notificationSettings.of(app.appId)).settings }
  }),

  serve(contract.updateNotificationSettings, async ({ app, body }, { notificationSettings, audit }) => {
    checkSettings(body)
    await notificationSettings.change(app, body, audit)
    return done
  }),

  serve(contract.resetNotificationSettings, async ({ app }, { notificationSettings, audit }) => {
    await notificationSettings.reset(app, audit)
    return done
  }),

  serve(contract.getPreferences, async ({ app, query }, context) => {
    const uid = await named(context, app, query.uid)
    return { data: await withOverrides(context, app, await readPreferences(context.database, app.appId, uid)) }
  }),

  serve(contract.updatePreferences, async ({ app, query, body }, context) => {
    checkPreferences(body)
    const uid = await named(context, app, query.uid)
    return { data: await withOverrides(context, app, await changePreferences(context, app.appId, uid, body)) }
  }),

  serve(contract.resetPreferences, async ({ app, query }, context) => {
    const uid = await named(context, app, query.uid)
    return { data: await merged(context, app, await clearPreferences(context, app.appId, uid)) }
  }),

  serve(contract.getOwnPreferences, async ({ app, actor }, context) => {
    return { data: await merged(context, app, await readPreferences(context.database, app.appId, actor.uid)) }
  }),

  serve(contract.updateOwnPreferences, async ({ app, actor, body }, context) => {
    checkPreferences(body)
    return { data: await merged(context, app, await changePreferences(context, app.appId, actor.uid, body)) }
  }),

  serve(contract.resetOwnPreferences, async ({ app, actor }, context) => {
    return { data: await merged(context, app, await clearPreferences(context, app.appId, actor.uid)) }
  }),

  serve(contract.listMuted, async ({ app, query }, context) => {
    const uid = await named(context, app, query.uid)
    return { data: { mutedConversations: await listMutes(context.database, app.appId, uid) } }
  }),

  serve(contract.muteConversations, async ({ app, query, body }, context) => {
    await mute(context, app.appId, await named(context, app, query.uid), body.conversations)
    return done
  }),

  serve(contract.unmuteConversations, async ({ app, query, body }, context) => {
    await unmute(context, app.appId, await named(context, app, query.uid), body.conversations)
    return done
  }),

  serve(contract.listOwnMuted, async ({ app, actor }, { database }) => {
    return { data: { mutedConversations: await listMutes(database, app.appId, actor.uid) } }
  }),

  serve(contract.muteOwnConversations, async ({ app, actor, body }, context) => {
    await mute(context, app.appId, actor.uid, body.conversations)
    return done
  }),

  serve(contract.unmuteOwnConversations, async ({ app, actor, body }, context) => {
    await unmute(context, app.appId, actor.uid, body.conversations)
    return done
  }),

  serve(contract.getTimezone, async ({ app, caller, query }, context) => {
    const uid = await whose(context, app, caller, query.uid)
    const stored = await readPreferences(context.database, app.appId, uid)
    return { data: { timezone: timezoneOf(stored, await context.settings.of(app.appId)), success: true as const } }
  }),

  serve(contract.updateTimezone, async ({ app, caller, query, body }, context) => {
    if (!isTimezone(body.timezone)) throw unknownTimezone()
    await changeTimezone(context, app.appId, await whose(context, app, caller, query.uid), body.timezone)
    return { data: { timezone: body.timezone, success: true as const } }
  }),

  serve(contract.registerPushToken, async ({ app, caller, body }, context) => {
    await registerDevice(context, app, caller, body)
    return done
  }),

  serve(contract.listPushTokens, async ({ app, caller, query }, context) => {
    const pushTokens = await listDevices(context, { app, caller, named: query.authToken }, query.all === true)
    return { data: { pushTokens } }
  }),

  serve(contract.unregisterPushTokens, async ({ app, caller, query, body }, context) => {
    const pushTokens = await unregisterDevices(context, { app, caller, named: body.authToken }, query.all === true)
    return { data: { pushTokens } }
  }),

  serve(contract.deletePushToken, async ({ app, caller, params, body }, context) => {
    return {
      data: { pushTokens: await unregisterDevice(context, { app, caller, named: body.authToken }, params.pushToken) },
    }
  }),
]

/** @throws 404 `ERR_UID_NOT_FOUND` */
async function named({ database }: Context, app: App, uid: string): Promise<string> {
  return (await requireActiveUser(database, app.appId, uid)).uid
}

/** The user of an auth token, or the one that a key names. */
async function whose(context: Context, app: App, caller: Caller, uid: string | undefined): Promise<string> {
  if (caller.kind === 'user') {
    if (uid !== undefined && uid.toLowerCase() !== caller.uid) throw notYourOwn()
    return caller.uid
  }
  if (uid === undefined) throw uidRequired()
  return named(context, app, uid)
}

async function merged({ notificationSettings }: Context, app: App, stored: StoredPreferences) {
  return showPreferences(await notificationSettings.of(app.appId), stored)
}

async function withOverrides({ notificationSettings }: Context, app: App, stored: StoredPreferences) {
  return showWithOverrides(await notificationSettings.of(app.appId), stored)
}
