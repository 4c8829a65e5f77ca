import { type Static, Type } from 'typebox'
import { limits } from '../../limits.ts'
import {
  dndSetting,
  groupSettings,
  oneOnOneSettings,
  Schedule,
  UserPreferences,
  UserPreferencesIn,
} from '../../notifications/preferences.ts'
import { PushTemplates } from '../../notifications/templates.ts'
import { defineOperation } from '../../operation.ts'
import { enveloped, NoParams, NoQuery, oneOf } from '../../schemas.ts'
import { Done } from './settings.ts'

const shared = {
  area: 'Notifications',
  rateLimit: 'standard',
  params: NoParams,
  errors: ['ERR_UID_NOT_FOUND'],
} as const

const ofUser = Type.Object({ uid: Type.String({ minLength: 1, maxLength: 100, description: 'The user' }) })
const byKey = { ...shared, access: {}, onBehalfOf: 'ignored', query: ofUser } as const
const own = { ...shared, access: { user: true }, onBehalfOf: 'required', query: NoQuery } as const

/** A user's preferences as they hold, in the naming of the app's settings. */
export const PreferencesWithOverrides = Type.Object(
  {
    preferences: Type.Object(
      {
        group: Type.Object(groupSettings, { additionalProperties: false }),
        oneOnOne: Type.Object(oneOnOneSettings, { additionalProperties: false }),
        mute: Type.Object(
          {
            dndPreferenceSetting: dndSetting,
            dndPreferenceOverride: Type.Boolean(),
            schedulePreferenceSetting: Schedule,
            schedulePreferenceOverride: Type.Boolean(),
            mutedGroupsOverride: Type.Boolean(),
            mutedOneOnOnesOverride: Type.Boolean(),
          },
          { additionalProperties: false },
        ),
      },
      { additionalProperties: false },
    ),
    usePrivacyTemplate: Type.Boolean({ description: 'Whether the privacy templates hold for this user' }),
    sound: Type.Object({ chat: Type.String(), call: Type.String() }, { additionalProperties: false }),
    templates: PushTemplates,
  },
  { additionalProperties: false },
)
export type PreferencesWithOverrides = Static<typeof PreferencesWithOverrides>

const merged =
  'What the app does not let users choose is ignored without an error; the answer has what holds. What is left out stays unchanged.'

export const getPreferences = defineOperation({
  ...byKey,
  id: 'notifications-push-list-preferences',
  method: 'GET',
  path: '/notifications/v1/preferences',
  summary: 'Get the notification preferences of a user',
  description: 'What holds for them: their own choices where the app allows some, else its settings.',
  answer: enveloped(PreferencesWithOverrides),
})

export const updatePreferences = defineOperation({
  ...byKey,
  id: 'notifications-push-update-preferences',
  method: 'PATCH',
  path: '/notifications/v1/preferences',
  summary: 'Update the notification preferences of a user',
  description: merged,
  body: UserPreferencesIn,
  answer: enveloped(PreferencesWithOverrides),
})

export const resetPreferences = defineOperation({
  ...byKey,
  id: 'notifications-push-reset-preferences',
  method: 'DELETE',
  path: '/notifications/v1/preferences',
  summary: 'Reset the notification preferences of a user',
  description: 'The settings of the app hold again. Muted conversations and the time zone stay.',
  answer: enveloped(UserPreferences),
})

export const getOwnPreferences = defineOperation({
  ...own,
  id: 'get-own-notification-preferences',
  method: 'GET',
  path: '/notifications/push/v1/preferences',
  summary: 'Get your own notification preferences',
  description: 'What holds: your own choices where the app allows some, else its settings.',
  answer: enveloped(UserPreferences),
})

export const updateOwnPreferences = defineOperation({
  ...own,
  id: 'update-own-notification-preferences',
  method: 'PATCH',
  path: '/notifications/push/v1/preferences',
  summary: 'Update your own notification preferences',
  description: merged,
  body: UserPreferencesIn,
  answer: enveloped(UserPreferences),
})

export const resetOwnPreferences = defineOperation({
  ...own,
  id: 'reset-own-notification-preferences',
  method: 'DELETE',
  path: '/notifications/push/v1/preferences',
  summary: 'Reset your own notification preferences',
  description: 'The settings of the app hold again. Muted conversations and the time zone stay.',
  answer: enveloped(UserPreferences),
})

const named = {
  id: Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9_-]+$', description: 'uid or guid' }),
  type: oneOf('oneOnOne', 'group'),
}
const until = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Epoch milliseconds in the future; without it, until it is unmuted',
})
const several = { minItems: 1, maxItems: limits.notifications.mutesPerRequest }
const MuteBody = Type.Object({
  conversations: Type.Array(Type.Object({ ...named, until: Type.Optional(until) }), several),
})
const UnmuteBody = Type.Object({ conversations: Type.Array(Type.Object(named), several) })

/** A conversation that a user is not notified of. */
export const MutedConversation = Type.Object(
  { id: Type.String(), type: named.type, until: Type.Optional(until) },
  { additionalProperties: false },
)
export type MutedConversation = Static<typeof MutedConversation>
const Muted = enveloped(Type.Object({ mutedConversations: Type.Array(MutedConversation) }))

const mutePath = { path: '/notifications/v1/preferences/mute' } as const
const ownMutePath = { path: '/notifications/push/v1/preferences/mute' } as const

export const listMuted = defineOperation({
  ...byKey,
  ...mutePath,
  id: 'notifications-push-list-muted',
  method: 'GET',
  summary: 'List the conversations that a user has muted',
  description: 'With until when each is muted. Mutes that have run out are left out.',
  answer: Muted,
})

export const muteConversations = defineOperation({
  ...byKey,
  ...mutePath,
  id: 'notifications-push-mute-conversations',
  method: 'PUT',
  summary: 'Mute conversations for a user',
  description:
    'Until a time, or for good. Messages still come and count as unread; nobody is notified of them. Muting a muted one replaces its time.',
  body: MuteBody,
  answer: Done,
})

export const unmuteConversations = defineOperation({
  ...byKey,
  ...mutePath,
  id: 'notifications-push-unmute-conversations',
  method: 'DELETE',
  summary: 'Unmute conversations for a user',
  description: 'A conversation that is not muted is not an error.',
  body: UnmuteBody,
  answer: Done,
})

export const listOwnMuted = defineOperation({
  ...own,
  ...ownMutePath,
  id: 'list-own-muted-conversations',
  method: 'GET',
  summary: 'List the conversations that you have muted',
  description: 'With until when each is muted. Mutes that have run out are left out.',
  answer: Muted,
})

export const muteOwnConversations = defineOperation({
  ...own,
  ...ownMutePath,
  id: 'mute-own-conversations',
  method: 'PUT',
  summary: 'Mute conversations of yours',
  description:
    'Until a time, or for good. Messages still come and count as unread; you are not notified of them. Muting a muted one replaces its time.',
  body: MuteBody,
  answer: Done,
})

export const unmuteOwnConversations = defineOperation({
  ...own,
  ...ownMutePath,
  id: 'unmute-own-conversations',
  method: 'DELETE',
  summary: 'Unmute conversations of yours',
  description: 'A conversation that is not muted is not an error.',
  body: UnmuteBody,
  answer: Done,
})

const timezone = {
  ...shared,
  access: { user: true },
  onBehalfOf: 'ignored',
  path: '/notifications/v1/preferences/timezone',
  query: Type.Partial(ofUser),
  answer: enveloped(
    Type.Object({ timezone: Type.String(), success: Type.Literal(true) }, { additionalProperties: false }),
  ),
} as const

export const getTimezone = defineOperation({
  ...timezone,
  id: 'notifications-get-timezone',
  method: 'GET',
  summary: 'Get the time zone of a user',
  description: 'With an API key, `uid` is required. With an auth token, it is the time zone of its user.',
})

export const updateTimezone = defineOperation({
  ...timezone,
  id: 'notifications-update-timezone',
  method: 'PATCH',
  summary: 'Set the time zone of a user',
  description: 'With an API key, `uid` is required. With an auth token, it is the time zone of its user.',
  body: Type.Object({
    timezone: Type.String({ minLength: 1, maxLength: 64, description: 'An IANA name, such as Europe/Oslo' }),
  }),
})
