import { choices, collection, selection, userAreas } from './areas.ts'
import type { Table } from './call.ts'

/** Providers of a kind that an app may have several of. */
/* @__NO_SIDE_EFFECTS__ */
function providers<const Path extends string>(path: Path) {
  return {
    list: `GET ${path}`,
    add: `POST ${path}`,
    update: `PUT ${path}`,
    setDefault: `PUT ${path}/default/{providerId}`,
    delete: `DELETE ${path}/{providerId}`,
    test: `POST ${path}/test/{providerId}`,
  } as const
}

/** A provider that an app has one of. */
/* @__NO_SIDE_EFFECTS__ */
function provider<const Path extends string>(path: Path) {
  return { get: `GET ${path}`, update: `PUT ${path}`, delete: `DELETE ${path}`, test: `POST ${path}/test` } as const
}

/** One that the app runs itself. */
/* @__NO_SIDE_EFFECTS__ */
function customProvider<const Path extends string>(path: Path) {
  return { create: `POST ${path}`, ...provider(path), renewSecret: `POST ${path}/secret` } as const
}

/** What those of a role or a scope may do. */
/* @__NO_SIDE_EFFECTS__ */
function permissions<const Path extends string>(path: Path) {
  return { list: `GET ${path}`, set: `PUT ${path}`, unset: `DELETE ${path}/{permission}` } as const
}

/** Messages that a moderator decides about. */
/* @__NO_SIDE_EFFECTS__ */
function reviewable<const Path extends string>(path: Path) {
  return { list: `GET ${path}`, review: `PATCH ${path}/{id}`, reviewSeveral: `PATCH ${path}` } as const
}

/** What back ends can call, by area: each name stands for an operation. */
export const serverAreas = {
  ...userAreas,
  users: {
    ...userAreas.users,
    create: 'POST /users',
    update: 'PUT /users/{uid}',
    delete: 'DELETE /users/{uid}',
    deactivate: 'DELETE /users',
    reactivate: 'PUT /users',
    erasures: 'GET /users/{uid}/erasures',
    releaseExport: 'POST /users/{uid}/export',
    export: 'GET /users/{uid}/export',
    tokens: {
      ...collection('/users/{uid}/auth_tokens', 'authToken'),
      deleteAll: 'DELETE /users/{uid}/auth_tokens',
    },
    friends: selection('/users/{uid}/friends'),
    blocks: selection('/users/{uid}/blockedusers'),
  },
  retention: {
    ofGroup: 'GET /groups/{guid}/retention',
    setOfGroup: 'PUT /groups/{guid}/retention',
    unsetOfGroup: 'DELETE /groups/{guid}/retention',
    holds: 'GET /retention/holds',
    holdUser: 'PUT /retention/users/{uid}/hold',
    liftHoldOfUser: 'DELETE /retention/users/{uid}/hold',
    holdConversation: 'PUT /retention/conversations/{conversationId}/hold',
    liftHoldOfConversation: 'DELETE /retention/conversations/{conversationId}/hold',
  },
  bots: { send: 'POST /bots/{uid}/messages' },
  groups: {
    ...userAreas.groups,
    permissions: permissions('/groups/{guid}/scopes/{scope}/permissions'),
  },
  conversations: {
    ...userAreas.conversations,
    get: 'GET /conversations/{conversationId}',
    delete: 'DELETE /conversations/{conversationId}',
    replacePinned: 'PUT /conversations/pinned',
  },
  roles: {
    ...collection('/roles', 'role'),
    permissions: permissions('/roles/{role}/permissions'),
    restrictedFeatures: { ...selection('/roles/{role}/restrictedfeatures'), known: 'GET /restrictedfeatures' },
  },
  moderation: {
    queue: 'GET /moderation/queue',
    stats: 'GET /moderation/stats',
    claims: { add: 'POST /moderation/claims', release: 'DELETE /moderation/claims' },
    flagged: reviewable('/moderation/flagged-messages'),
    blocked: reviewable('/moderation/blocked-messages'),
    reviewed: { list: 'GET /moderation/reviewed-messages' },
    messages: {
      list: 'GET /moderation/messages',
      get: 'GET /moderation/messages/{messageId}',
      submit: 'POST /moderation/messages',
      update: 'PUT /moderation/messages/{messageId}',
      delete: 'DELETE /moderation/messages/{messageId}',
    },
    notes: {
      list: 'GET /moderation/messages/{messageId}/notes',
      add: 'POST /moderation/messages/{messageId}/notes',
      delete: 'DELETE /moderation/messages/{messageId}/notes/{noteId}',
    },
    reasons: collection('/moderation/reasons', 'id'),
    rules: {
      ...collection('/moderation/rules', 'ruleId'),
      revisions: 'GET /moderation/rules/{ruleId}/revisions',
      test: 'POST /moderation/rules/{ruleId}/test',
      dryRun: {
        get: 'GET /moderation/rules/{ruleId}/dry-run',
        start: 'POST /moderation/rules/{ruleId}/dry-run',
        stop: 'DELETE /moderation/rules/{ruleId}/dry-run',
        label: 'PUT /moderation/rules/{ruleId}/dry-run/examples/{messageId}',
      },
    },
    keywords: {
      ...collection('/moderation/keywords', 'keywordId'),
      revisions: 'GET /moderation/keywords/{keywordId}/revisions',
      revision: 'GET /moderation/keywords/{keywordId}/revisions/{revisionId}',
    },
    engines: {
      get: 'GET /moderation/engines',
      setCustomApi: 'PUT /moderation/engines/custom-api',
      setLlm: 'PUT /moderation/engines/llm',
      removeLlm: 'DELETE /moderation/engines/llm',
      setLabels: 'PUT /moderation/engines/labels',
      removeLabels: 'DELETE /moderation/engines/labels',
    },
  },
  notifications: {
    ...userAreas.notifications,
    explain: 'GET /notifications/v1/explain',
    preview: 'POST /notifications/v1/preview',
    settings: choices('/notifications/v1/settings'),
    log: {
      list: 'GET /notifications/v1/logs',
      redeliver: 'POST /notifications/v1/logs/{logId}/redeliver',
      redeliverSeveral: 'POST /notifications/v1/logs/redeliver',
    },
    preferencesOf: {
      get: 'GET /notifications/v1/preferences',
      update: 'PATCH /notifications/v1/preferences?uid',
      reset: 'DELETE /notifications/v1/preferences?uid',
    },
    mutesOf: {
      list: 'GET /notifications/v1/preferences/mute',
      add: 'PUT /notifications/v1/preferences/mute?uid',
      remove: 'DELETE /notifications/v1/preferences/mute?uid',
    },
    contactDetails: {
      get: 'GET /notifications/v1/contact-details',
      update: 'PATCH /notifications/v1/contact-details',
      delete: 'DELETE /notifications/v1/contact-details',
    },
    unsubscriptions: {
      list: 'GET /notifications/v1/unsubscriptions',
      delete: 'DELETE /notifications/v1/unsubscriptions?channel',
    },
    fcm: providers('/notifications/push/v1/providers/fcm'),
    apns: providers('/notifications/push/v1/providers/apns'),
    webPush: provider('/notifications/push/v1/providers/web_push'),
    customPush: customProvider('/notifications/push/v1/providers/custom'),
    sendgrid: {
      create: 'POST /notifications/email/v1/providers/sendgrid',
      ...provider('/notifications/email/v1/providers/sendgrid'),
      renewRepliesWebhook: 'POST /notifications/email/v1/providers/sendgrid/replies-webhook',
    },
    smtp: provider('/notifications/email/v1/providers/smtp'),
    customEmail: customProvider('/notifications/email/v1/providers/custom'),
    twilio: {
      create: 'POST /notifications/sms/v1/providers/twilio',
      ...provider('/notifications/sms/v1/providers/twilio'),
    },
    customSms: customProvider('/notifications/sms/v1/providers/custom'),
  },
  webhooks: {
    ...collection('/webhooks', 'webhookId'),
    test: 'POST /webhooks/{webhookId}/test',
    renewSecret: 'POST /webhooks/{webhookId}/secret',
    allTriggers: 'GET /triggers',
    triggers: selection('/webhooks/{webhookId}/triggers'),
    deliveries: {
      list: 'GET /webhooks/{webhookId}/deliveries',
      get: 'GET /webhooks/{webhookId}/deliveries/{deliveryId}',
      redeliver: 'POST /webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
      redeliverSeveral: 'POST /webhooks/{webhookId}/deliveries/redeliver',
    },
  },
  events: { list: 'GET /events' },
  imports: {
    users: 'POST /data_import/users',
    groups: 'POST /data_import/groups',
    members: 'POST /data_import/members',
    messages: 'POST /data_import/messages?idsOnly',
    records: 'POST /data_import/records',
  },
  stats: { get: 'GET /stats', daily: 'GET /stats/daily', messages: 'GET /stats/messages' },
  auditLog: { list: 'GET /audit-log' },
  apiKeys: collection('/apikeys', 'apiKey'),
  app: { settings: 'GET /apps/{appId}/settings', updateSettings: 'PATCH /apps/{appId}/settings' },
} as const satisfies Table

export { userAreas }
