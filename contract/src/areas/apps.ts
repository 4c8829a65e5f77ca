import { type TSchema, Type } from 'typebox'
import { AppSettingsOut, appSettingNames, appSettings } from '../app-settings.ts'
import { defineOperation } from '../operation.ts'
import { enveloped, NoQuery } from '../schemas.ts'

const AppParams = Type.Object({ appId: Type.String({ description: 'The app that the key belongs to' }) })

const shared = { area: 'Apps', access: {}, onBehalfOf: 'ignored', rateLimit: 'standard', params: AppParams } as const

/** Every setting is optional; `null` resets it to its default. */
const Change = Type.Object(
  Object.fromEntries(
    appSettingNames.map((name): [string, TSchema] => [
      name,
      Type.Optional(Type.Union([appSettings[name].schema, Type.Null()])),
    ]),
  ),
)

export const getAppSettings = defineOperation({
  ...shared,
  id: 'get-app-settings',
  method: 'GET',
  path: '/apps/{appId}/settings',
  summary: 'Get the settings of the app',
  description: 'Every setting with its value, those that were never set with their default.',
  query: NoQuery,
  answer: enveloped(AppSettingsOut),
  errors: ['ERR_APP_NOT_FOUND'],
})

export const updateAppSettings = defineOperation({
  ...shared,
  id: 'update-app-settings',
  method: 'PATCH',
  path: '/apps/{appId}/settings',
  summary: 'Update the settings of the app',
  description: 'Settings that are left out stay unchanged; `null` resets a setting to its default.',
  query: NoQuery,
  body: Change,
  answer: enveloped(AppSettingsOut),
  errors: ['ERR_APP_NOT_FOUND'],
})
