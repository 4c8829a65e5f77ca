import {
  defaultNotificationSettings,
  memberCategories,
  messageCategories,
  type UserPreferencesIn,
} from '@parley/contract'
import { readPreferences, type StoredPreferences, userName } from '../../chat/notifications/preferences.ts'
import { pick } from '../../chat/notifications/settings.ts'
import { lockUser } from '../../chat/users/locks.ts'
import { refuseDeactivated } from '../../chat/users/require.ts'
import type { Context } from '../../context.ts'
import { statement } from '../../store/statement.ts'

const write = statement(`
  insert into notification_preferences (app_id, uid, preferences)
  values ($1, $2, $3)
  on conflict (app_id, uid) do update
  set preferences = excluded.preferences`)

export const writeTimezone = statement(`
  insert into notification_preferences (app_id, uid, timezone)
  values ($1, $2, $3)
  on conflict (app_id, uid) do update
  set timezone = excluded.timezone`)

/** Everything that a user can choose. */
const choices = {
  groupPreferences: Object.fromEntries(
    Object.keys({ ...messageCategories, ...memberCategories }).map((name) => [userName('group', name), 0]),
  ),
  oneOnOnePreferences: Object.fromEntries(
    Object.keys(messageCategories).map((name) => [userName('oneOnOne', name), 0]),
  ),
  mutePreferences: { dnd: 0, schedule: defaultNotificationSettings.preferences.mute.schedulePreferenceSetting },
  usePrivacyTemplate: false,
}

/** Stores what a user chose, also where the app does not let them now: it may later. */
export function changePreferences(
  { database }: Pick<Context, 'database'>,
  appId: number,
  uid: string,
  change: UserPreferencesIn,
): Promise<StoredPreferences> {
  return database.transaction(async (tx) => {
    // Two changes at once must not lose one, and nobody is given preferences who is just being removed.
    refuseDeactivated(await lockUser(tx, appId, uid))
    const { preferences, timezone } = await readPreferences(tx, appId, uid)
    const changed = pick(choices, preferences, change)
    await tx.query(write, [appId, uid, JSON.stringify(changed)])
    return { preferences: changed, timezone }
  })
}

/** Back to what the app says; the time zone stays, which is no preference. */
export async function clearPreferences(
  { database }: Pick<Context, 'database'>,
  appId: number,
  uid: string,
): Promise<StoredPreferences> {
  return database.transaction(async (tx) => {
    refuseDeactivated(await lockUser(tx, appId, uid))
    const { timezone } = await readPreferences(tx, appId, uid)
    await tx.query(write, [appId, uid, '{}'])
    return { preferences: {}, timezone }
  })
}

export async function changeTimezone(
  { database }: Pick<Context, 'database'>,
  appId: number,
  uid: string,
  timezone: string,
): Promise<void> {
  await database.transaction(async (tx) => {
    refuseDeactivated(await lockUser(tx, appId, uid))
    await tx.query(writeTimezone, [appId, uid, timezone])
  })
}
