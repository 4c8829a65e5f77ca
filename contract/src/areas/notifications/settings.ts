import { Type } from 'typebox'
import { NotificationSettings, NotificationSettingsIn } from '../../notifications/settings.ts'
import { defineOperation } from '../../operation.ts'
import { enveloped, NoParams, NoQuery } from '../../schemas.ts'

/** What most operations of this area answer: nothing but that it was done. */
export const Done = enveloped(Type.Object({ success: Type.Literal(true) }, { additionalProperties: false }))

const shared = {
  area: 'Notifications',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  path: '/notifications/v1/settings',
  params: NoParams,
  query: NoQuery,
  errors: [],
} as const

export const getNotificationSettings = defineOperation({
  ...shared,
  id: 'notifications-push-list-settings',
  method: 'GET',
  summary: 'Get the notification settings of the app',
  description: 'What users are notified of by default, what they can choose themselves, templates and sounds.',
  answer: enveloped(NotificationSettings),
})

export const updateNotificationSettings = defineOperation({
  ...shared,
  id: 'notifications-push-update-settings',
  method: 'PATCH',
  summary: 'Update the notification settings of the app',
  description: 'Settings that are left out stay unchanged. A schedule keeps the days that are left out.',
  body: NotificationSettingsIn,
  answer: Done,
})

export const resetNotificationSettings = defineOperation({
  ...shared,
  id: 'notifications-push-reset-settings',
  method: 'DELETE',
  summary: 'Reset the notification settings of the app to their defaults',
  description:
    'Preferences, templates and sounds alike. What users have chosen stays, where the defaults let them choose.',
  answer: Done,
})
