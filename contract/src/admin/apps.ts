import { Type } from 'typebox'
import { listAuditLog } from '../areas/audit-log.ts'
import { NoParams, oneOf, PageMeta, pageQuery } from '../schemas.ts'
import { defineAdminOperation } from './operation.ts'

const Epoch = (description: string) => Type.Integer({ description: `${description}, epoch seconds` })

const created = { appId: Type.String(), region: Type.String(), createdAt: Epoch('When it was made') }
const App = Type.Object({
  ...created,
  isDefault: Type.Boolean({
    description: 'Whether it is the app that `PARLEY_APP_ID` names; that one cannot be deleted',
  }),
  pausedAt: Type.Optional(Epoch('Since when it is paused')),
  deletesAt: Type.Optional(Epoch('From when on it is removed, with everything in it')),
  removingAt: Type.Optional(Epoch('Since when it is being removed')),
})
const OfApp = Type.Object({ appId: Type.String() })
const ofApp = { params: OfApp, query: Type.Object({}), answer: Type.Object({ data: App }) }
const NoQuery = Type.Object({})

export const listApps = defineAdminOperation({
  id: 'list-apps',
  area: 'Apps',
  method: 'GET',
  path: '/apps',
  summary: 'List the apps that you can access, by ID',
  access: 'signedIn',
  params: NoParams,
  query: Type.Object({
    searchKey: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'A part of the ID' })),
    ...pageQuery(),
  }),
  answer: Type.Object({ data: Type.Array(App), meta: PageMeta }),
  errors: [],
})

export const createApp = defineAdminOperation({
  id: 'create-app',
  area: 'Apps',
  method: 'POST',
  path: '/apps',
  summary: 'Create an app, with a fullAccess key of its own',
  access: 'apps',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({
    appId: Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$', description: 'Kept in lower case' }),
    region: Type.Optional(oneOf('us', 'eu', 'in')),
  }),
  answer: Type.Object({ data: Type.Object({ ...created, apiKey: Type.String() }) }),
  errors: ['ERR_APP_ALREADY_EXISTS'],
})

export const getApp = defineAdminOperation({
  id: 'get-app',
  area: 'Apps',
  method: 'GET',
  path: '/apps/{appId}',
  summary: 'Get an app',
  access: 'look',
  ...ofApp,
  errors: ['ERR_APP_NOT_FOUND'],
})

export const pauseApp = defineAdminOperation({
  id: 'pause-app',
  area: 'Apps',
  method: 'POST',
  path: '/apps/{appId}/pause',
  summary: 'Pause an app',
  description:
    'It answers every request with 503 `ERR_MISSION_FAILED`, its sockets close with 4503, and webhooks, notifications and moderation wait. Operators can still look at it and change its settings.',
  access: 'configure',
  ...ofApp,
  errors: ['ERR_APP_NOT_FOUND', 'ERR_APP_ALREADY_PAUSED', 'ERR_APP_ALREADY_DELETED'],
})

export const resumeApp = defineAdminOperation({
  id: 'resume-app',
  area: 'Apps',
  method: 'POST',
  path: '/apps/{appId}/resume',
  summary: 'Resume a paused app',
  access: 'configure',
  ...ofApp,
  errors: ['ERR_APP_NOT_FOUND', 'ERR_APP_NOT_PAUSED', 'ERR_APP_ALREADY_DELETED'],
})

export const deleteApp = defineAdminOperation({
  id: 'delete-app',
  area: 'Apps',
  method: 'DELETE',
  path: '/apps/{appId}',
  summary: 'Delete an app, with everything in it, after seven days',
  description:
    'Until `deletesAt` it is paused, and the deletion can be cancelled. Then it is removed in small steps: users, groups, messages, files, settings, keys, its audit log. That it was removed stays in the audit log of the deployment.',
  access: 'apps',
  sessionOnly: true,
  ...ofApp,
  body: Type.Object({ name: Type.String({ description: 'The ID of the app, once more' }) }),
  errors: ['ERR_APP_NOT_FOUND', 'ERR_APP_ALREADY_DELETED', 'ERR_DEFAULT_APP_DELETE_DENIED'],
})

export const undeleteApp = defineAdminOperation({
  id: 'undelete-app',
  area: 'Apps',
  method: 'POST',
  path: '/apps/{appId}/undelete',
  summary: 'Cancel the deletion of an app',
  description: 'The app stays paused until it is resumed. Once the removal has begun, it cannot be cancelled.',
  access: 'apps',
  ...ofApp,
  errors: ['ERR_APP_NOT_FOUND', 'ERR_APP_NOT_DELETED', 'ERR_APP_ALREADY_DELETED'],
})

const Reading = Type.Object({
  of: Type.String({ description: 'ID of a conversation, or `*` for the whole app' }),
  reason: Type.String(),
  openedAt: Type.Integer({ description: 'Epoch seconds' }),
  until: Type.Integer({ description: 'Epoch seconds' }),
})

export const openReading = defineAdminOperation({
  id: 'open-reading',
  area: 'Apps',
  method: 'POST',
  path: '/apps/{appId}/readings',
  summary: 'Begin to read what people wrote, for an hour',
  description:
    'Until then texts are left out of all answers. The reason is recorded in the audit log of the app. Opened again, it lasts an hour from then on.',
  access: 'read',
  params: OfApp,
  query: NoQuery,
  body: Type.Object({
    of: Type.String({ minLength: 1, maxLength: 300, description: 'ID of a conversation, or `*` for the whole app' }),
    reason: Type.String({ minLength: 3, maxLength: 500 }),
  }),
  answer: Type.Object({ data: Reading }),
  errors: ['ERR_APP_NOT_FOUND'],
})

export const listReadings = defineAdminOperation({
  id: 'list-readings',
  area: 'Apps',
  method: 'GET',
  path: '/apps/{appId}/readings',
  summary: 'List what you may read at the moment',
  access: 'look',
  params: OfApp,
  query: NoQuery,
  answer: Type.Object({ data: Type.Array(Reading) }),
  errors: ['ERR_APP_NOT_FOUND'],
})

export const awaitChanges = defineAdminOperation({
  id: 'await-changes',
  area: 'Apps',
  method: 'GET',
  path: '/apps/{appId}/changes',
  summary: 'Wait until something happens in the app',
  description:
    'Answers as soon as something happens, without saying what, or when the time is over. A page that shows a list asks for it again then, instead of every few seconds. An operator with many such requests at once is answered early.',
  access: 'look',
  params: OfApp,
  query: Type.Object({
    wait: Type.Optional(Type.Integer({ minimum: 0, maximum: 25, default: 0, description: 'For so many seconds' })),
    conversationId: Type.Optional(
      Type.String({ minLength: 1, maxLength: 300, description: 'Only what happens in this conversation' }),
    ),
  }),
  answer: Type.Object({
    data: Type.Object({ happened: Type.Boolean({ description: '`false`: nothing did; wait again' }) }),
  }),
  errors: ['ERR_APP_NOT_FOUND'],
})

export const listOperatorAuditLog = defineAdminOperation({
  id: 'list-operator-audit-log',
  area: 'Audit log',
  method: 'GET',
  path: '/audit-log',
  summary: 'List what operators did to the deployment, newest entries first',
  description:
    'Sign-ins, accounts, invitations, tokens, apps. What was done in an app is in the audit log of that app. For the next page, send `meta.next.before` as `before`.',
  access: 'operators',
  params: NoParams,
  query: listAuditLog.query,
  answer: listAuditLog.answer,
  errors: [],
})
