import {
  type AppSettings,
  memberCategories,
  messageCategories,
  type PreferencesWithOverrides,
  type Schedule,
  type UserPreferences,
  type UserPreferencesIn,
  weekdays,
} from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { AppNotifications } from './settings.ts'

/** Who decided something: the user, the app, or nobody, so that the default holds. */
export type SetBy = 'user' | 'app' | 'default'

export interface Chosen<Value> {
  readonly value: Value
  readonly by: SetBy
}

/** What a user has stored. */
export interface StoredPreferences {
  readonly preferences: UserPreferencesIn
  readonly timezone: string | null
}

export const nothingStored: StoredPreferences = { preferences: {}, timezone: null }

const select = statement(`
  select preferences, timezone
  from notification_preferences
  where app_id = $1
  and uid = $2`)

export async function readPreferences(on: Queryable, appId: number, uid: string): Promise<StoredPreferences> {
  const [row] = await on.query<StoredPreferences>(select, [appId, uid])
  return row ?? nothingStored
}

export type ConversationKind = 'group' | 'oneOnOne'
type Levels = Readonly<Record<string, number | boolean>>

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

/** `messages` in a group -> `groupMessages`. */
export const userName = (kind: ConversationKind, category: string) => `${kind}${capital(category)}`

/** What holds for a category: what the user chose, where the app lets them, else what the app says. */
export function levelOf(
  { settings, set }: AppNotifications,
  own: UserPreferencesIn,
  kind: ConversationKind,
  category: string,
): Chosen<number> {
  const ofApp = settings.preferences[kind] as Levels
  const chosen = (own[`${kind}Preferences`] as Levels | undefined)?.[userName(kind, category)]
  if (ofApp[`${category}Override`] === true && typeof chosen === 'number') return { value: chosen, by: 'user' }
  const isSet = (set.preferences?.[kind] as Levels | undefined)?.[`${category}Setting`] !== undefined
  return { value: ofApp[`${category}Setting`] as number, by: isSet ? 'app' : 'default' }
}

export function dndOf({ settings, set }: AppNotifications, own: UserPreferencesIn): Chosen<number> {
  const { dndPreferenceOverride, dndPreferenceSetting } = settings.preferences.mute
  const chosen = own.mutePreferences?.dnd
  if (dndPreferenceOverride && chosen !== undefined) return { value: chosen, by: 'user' }
  const isSet = set.preferences?.mute?.dndPreferenceSetting !== undefined
  return { value: dndPreferenceSetting, by: isSet ? 'app' : 'default' }
}

export function scheduleOf({ settings, set }: AppNotifications, own: UserPreferencesIn): Chosen<Schedule> {
  const { schedulePreferenceOverride, schedulePreferenceSetting } = settings.preferences.mute
  const chosen = own.mutePreferences?.schedule
  if (schedulePreferenceOverride && chosen !== undefined && Object.keys(chosen).length > 0) {
    const days = weekdays.map((day) => [day, { ...schedulePreferenceSetting[day], ...chosen[day] }])
    return { value: Object.fromEntries(days) as Schedule, by: 'user' }
  }
  const isSet = set.preferences?.mute?.schedulePreferenceSetting !== undefined
  return { value: schedulePreferenceSetting, by: isSet ? 'app' : 'default' }
}

/** Whether the templates hold that do not show what was written. */
export function privacyOf({ settings, set }: AppNotifications, own: UserPreferencesIn): Chosen<boolean> {
  const { usePrivacyTemplate } = settings.templates
  if (usePrivacyTemplate === 3 && own.usePrivacyTemplate !== undefined) {
    return { value: own.usePrivacyTemplate, by: 'user' }
  }
  const isSet = set.templates?.usePrivacyTemplate !== undefined
  return { value: usePrivacyTemplate === 2, by: isSet ? 'app' : 'default' }
}

/** Where a user is: what they said, else what the app is set to. */
export function timezoneOf(stored: StoredPreferences, { timezone }: Pick<AppSettings, 'timezone'>): string {
  return stored.timezone ?? timezone
}

const groupCategories = Object.keys({ ...messageCategories, ...memberCategories })
const oneOnOneCategories = Object.keys(messageCategories)

/** A user's preferences as they hold, in the naming of front ends. */
export function showPreferences(app: AppNotifications, { preferences }: StoredPreferences): UserPreferences {
  const levels = (kind: ConversationKind, categories: readonly string[]) =>
    Object.fromEntries(
      categories.map((category) => [userName(kind, category), levelOf(app, preferences, kind, category).value]),
    )
  return {
    groupPreferences: levels('group', groupCategories),
    oneOnOnePreferences: levels('oneOnOne', oneOnOneCategories),
    mutePreferences: { dnd: dndOf(app, preferences).value, schedule: scheduleOf(app, preferences).value },
    usePrivacyTemplate: privacyOf(app, preferences).value,
  } as UserPreferences
}

/** The same, in the naming of the app's settings, with what may be chosen. */
export function showWithOverrides(app: AppNotifications, { preferences }: StoredPreferences): PreferencesWithOverrides {
  const { settings } = app
  const levels = (kind: ConversationKind, categories: readonly string[]) =>
    Object.fromEntries(
      categories.flatMap((category) => [
        [`${category}Setting`, levelOf(app, preferences, kind, category).value],
        [`${category}Override`, (settings.preferences[kind] as Levels)[`${category}Override`]],
      ]),
    )
  return {
    preferences: {
      group: levels('group', groupCategories),
      oneOnOne: levels('oneOnOne', oneOnOneCategories),
      mute: {
        ...settings.preferences.mute,
        dndPreferenceSetting: dndOf(app, preferences).value,
        schedulePreferenceSetting: scheduleOf(app, preferences).value,
      },
    },
    usePrivacyTemplate: privacyOf(app, preferences).value,
    sound: settings.sound,
    templates: Object.fromEntries(Object.entries(settings.templates).filter(([name]) => !ofTheAppAlone.test(name))),
  } as PreferencesWithOverrides
}

/** Templates of e-mail, SMS and mentions are no business of a user. */
const ofTheAppAlone = /^(emailSubject|smsContent|userMention|groupMention)/
