import type { Table } from './call.ts'

/** What there are several of, each with an id. */
/* @__NO_SIDE_EFFECTS__ */
export function collection<const Path extends string, const Id extends string>(path: Path, id: Id) {
  return {
    list: `GET ${path}`,
    get: `GET ${path}/{${id}}`,
    create: `POST ${path}`,
    update: `PUT ${path}/{${id}}`,
    delete: `DELETE ${path}/{${id}}`,
  } as const
}

/** What others are put into, and taken out of again. */
/* @__NO_SIDE_EFFECTS__ */
export function selection<const Path extends string>(path: Path) {
  return { list: `GET ${path}`, add: `POST ${path}`, remove: `DELETE ${path}` } as const
}

/** What is as it was at first until somebody changes it. */
/* @__NO_SIDE_EFFECTS__ */
export function choices<const Path extends string>(path: Path) {
  return { get: `GET ${path}`, update: `PATCH ${path}`, reset: `DELETE ${path}` } as const
}

/** What a user does with one of their conversations. */
/* @__NO_SIDE_EFFECTS__ */
function conversation<const Path extends string>(path: Path) {
  return {
    get: `GET ${path}`,
    update: `PUT ${path}`,
    reset: `DELETE ${path}`,
    markDelivered: `POST ${path}/delivered`,
    markRead: `POST ${path}/read`,
    markUnread: `DELETE ${path}/read`,
    pin: `POST ${path}/pin`,
    unpin: `DELETE ${path}/pin`,
  } as const
}

/** What front ends and back ends can both call, by area: each name stands for an operation. */
export const userAreas = {
  me: {
    get: 'GET /me',
    update: 'PUT /me',
    logOut: 'DELETE /me',
    events: 'GET /me/events',
    settings: 'GET /settings',
    askForExport: 'POST /me/export',
  },
  users: {
    list: 'GET /users',
    get: 'GET /users/{uid}',
    countOnline: 'POST /api/v3.0/online-members',
  },
  friends: { list: 'GET /friends' },
  blocks: selection('/blockedusers'),
  groups: {
    ...collection('/groups', 'guid'),
    leave: 'DELETE /groups/{guid}/members',
    transferOwnership: 'PATCH /groups/{guid}/owner',
    members: {
      list: 'GET /groups/{guid}/members',
      add: 'PUT /groups/{guid}/members',
      changeScope: 'PUT /groups/{guid}/members/{uid}',
      kick: 'DELETE /groups/{guid}/members/{uid}',
    },
    bans: {
      list: 'GET /groups/{guid}/bannedusers',
      add: 'POST /groups/{guid}/bannedusers/{uid}',
      remove: 'DELETE /groups/{guid}/bannedusers/{uid}',
    },
  },
  messages: {
    send: 'POST /messages',
    list: 'GET /messages',
    listWithUser: 'GET /users/{uid}/messages',
    listInGroup: 'GET /groups/{guid}/messages',
    get: 'GET /messages/{messageId}',
    edit: 'PUT /messages/{messageId}',
    delete: 'DELETE /messages/{messageId}',
    pin: 'POST /messages/{messageId}/pin',
    unpin: 'DELETE /messages/{messageId}/pin',
    save: 'POST /messages/{messageId}/save',
    unsave: 'DELETE /messages/{messageId}/save',
    flag: 'POST /messages/{messageId}/flagged',
    markInteracted: 'PATCH /messages/{messageId}/interacted',
    reactions: {
      list: 'GET /messages/{messageId}/reactions',
      listOf: 'GET /messages/{messageId}/reactions/{reaction}',
      add: 'POST /messages/{messageId}/reactions/{reaction}',
      remove: 'DELETE /messages/{messageId}/reactions/{reaction}',
    },
  },
  threads: {
    list: 'GET /threads',
    listWithUser: 'GET /users/{uid}/threads',
    listInGroup: 'GET /groups/{guid}/threads',
    replies: 'GET /messages/{messageId}/thread',
    reply: 'POST /messages/{messageId}/thread',
    subscribe: 'POST /messages/{messageId}/thread/subscription',
    unsubscribe: 'DELETE /messages/{messageId}/thread/subscription',
  },
  conversations: {
    list: 'GET /conversations',
    listPinned: 'GET /conversations/pinned',
    withUser: conversation('/users/{uid}/conversation'),
    ofGroup: conversation('/groups/{guid}/conversation'),
  },
  notifications: {
    vapidKey: 'GET /notifications/push/v1/vapid-key',
    tokens: {
      list: 'GET /notifications/push/v1/tokens',
      register: 'POST /notifications/push/v1/tokens',
      unregister: 'DELETE /notifications/push/v1/tokens?all',
      delete: 'DELETE /notifications/push/v1/tokens/{pushToken}',
    },
    preferences: choices('/notifications/push/v1/preferences'),
    mutes: {
      list: 'GET /notifications/push/v1/preferences/mute',
      add: 'PUT /notifications/push/v1/preferences/mute',
      remove: 'DELETE /notifications/push/v1/preferences/mute',
    },
    timezone: {
      get: 'GET /notifications/v1/preferences/timezone',
      update: 'PATCH /notifications/v1/preferences/timezone?uid',
    },
  },
} as const satisfies Table
