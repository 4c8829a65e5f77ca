import { type Static, type TSchema, Type } from 'typebox'
import { ErrorBodySchema } from '../errors.ts'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import { enveloped, Group, Message, NoParams, NoQuery, requiring, ScopeIn, User } from '../schemas.ts'

const shared = {
  area: 'Data Import',
  method: 'POST',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'import',
  params: NoParams,
  query: NoQuery,
  bodyLimit: limits.bodyBytes.import,
} as const

const aboutAnswers = `Each record is checked and stored on its own: an invalid record does not stop the others, and the response is a 200 with an outcome for every record. Outcomes of a map have the keys of the map. Outcomes of an array have the ID of the record as key, or "[<index>]" (from 0) if a record has no ID or the ID of an earlier one. A request can have ${limits.importRecords} records, unless the deployment sets another limit. Records that already exist are refused and not changed, so an import can be repeated. Times are epoch seconds, as integers or decimal strings; 0 in an optional time means none. Records can be such as the lists of the API answer them, and what they hold beyond an import is named in ignored.`

/**
 * The records of a request: a map by id, or an array. The schema is loose on purpose: each record is checked on its
 * own, and anything but a map or an array has its own error code in the contract.
 */
function recordsOf(what: string, example: object) {
  return Type.Optional(
    Type.Unsafe<unknown>({ description: `${what}; or an array of these records`, examples: [example] }),
  )
}

const Failure = ErrorBodySchema.properties.error

/** The outcome for one record. */
export interface ImportOutcome<Entity> {
  readonly success: boolean
  /** The record as it is stored now. */
  readonly data?: Entity
  /** Why it was not stored. */
  readonly error?: Static<typeof Failure>
  /** Of a message that is there already, or where ids alone are answered. */
  readonly id?: string
  /** Members of the record that the import does not know. */
  readonly ignored?: readonly string[]
}

function outcomesOf<Entity extends TSchema>(entity: Entity) {
  return Type.Unsafe<Record<string, ImportOutcome<Static<Entity>>>>({
    type: 'object',
    additionalProperties: Type.Object({
      success: Type.Boolean(),
      data: Type.Optional(entity),
      error: Type.Optional(Failure),
      id: Type.Optional(
        Type.String({ description: 'The id of a message that is there already, or where idsOnly is true' }),
      ),
      ignored: Type.Optional(
        Type.Array(Type.String(), { description: 'Members of the record that the import does not know' }),
      ),
    }),
  })
}

/** A membership or a ban, as an import returns it. */
export const ImportedMember = Type.Object({
  guid: Type.String(),
  uid: Type.String(),
  scope: ScopeIn,
  joinedAt: Type.Integer({ description: 'Epoch seconds' }),
  isBanned: Type.Optional(Type.Boolean({ description: 'true: imported as a ban, not as a member' })),
})
export type ImportedMember = Static<typeof ImportedMember>

const UserRecords = Type.Object({
  users: recordsOf('Map from uid to user', {
    alice: { uid: 'alice', name: 'Alice', avatar: 'https://example.com/alice.png', createdAt: 1_700_000_000 },
  }),
})

export const importUsers = defineOperation({
  ...shared,
  id: 'import-users',
  path: '/data_import/users',
  summary: 'Import users',
  description: `Creates users with their original times. Somebody who was erased does not come back (ERR_IMPORT_UID_ERASED), unless the record has recreate: true: then a new person gets the uid. ${aboutAnswers}`,
  body: UserRecords,
  plain: { body: requiring(UserRecords, 'users') },
  answer: enveloped(outcomesOf(User)),
  errors: ['ERR_IMPORT_INVALID_USER_FORMAT', 'ERR_ROLE_NOT_FOUND', 'ERR_UID_ALREADY_EXISTS', 'ERR_IMPORT_UID_ERASED'],
})

const GroupRecords = Type.Object({
  groups: recordsOf('Map from guid to group', {
    team: { guid: 'team', name: 'Team', type: 'public', owner: 'alice', createdAt: 1_700_000_000 },
  }),
})

export const importGroups = defineOperation({
  ...shared,
  id: 'import-groups',
  path: '/data_import/groups',
  summary: 'Import groups',
  description: `Creates groups with their original times. The owner becomes a member; groupOwnerDetails creates the owner if there is no such user. ${aboutAnswers}`,
  body: GroupRecords,
  plain: { body: requiring(GroupRecords, 'groups') },
  answer: enveloped(outcomesOf(Group)),
  errors: [
    'ERR_IMPORT_UID_ERASED',
    'ERR_IMPORT_INVALID_GROUP_FORMAT',
    'ERR_ROLE_NOT_FOUND',
    'ERR_UID_NOT_FOUND',
    'ERR_GUID_ALREADY_EXISTS',
    'ERR_PLAN_QUOTA_RESTRICTION',
  ],
})

const MemberRecords = Type.Object({
  members: recordsOf('Map from "<guid>_member_<uid>" to membership', {
    team_member_bob: {
      memberId: 'team_member_bob',
      guid: 'team',
      uid: 'bob',
      scope: 'participant',
      joinedAt: 1_700_000_100,
    },
  }),
})

export const importMembers = defineOperation({
  ...shared,
  id: 'import-members',
  path: '/data_import/members',
  summary: 'Import members of groups, and bans',
  description: `Adds users to groups, without action messages. joinedAt must be between the creation of the group and now. groupDetails and userDetails create the group and the user if they do not exist; existing ones are not changed. ${aboutAnswers}`,
  body: MemberRecords,
  plain: { body: requiring(MemberRecords, 'members') },
  answer: enveloped(outcomesOf(ImportedMember)),
  errors: [
    'ERR_IMPORT_UID_ERASED',
    'ERR_IMPORT_INVALID_MEMBER_FORMAT',
    'ERR_IMPORT_INVALID_JOINEDAT',
    'ERR_ROLE_NOT_FOUND',
    'ERR_UID_NOT_FOUND',
    'ERR_GUID_NOT_FOUND',
    'ERR_ALREADY_JOINED',
    'ERR_PLAN_QUOTA_RESTRICTION',
  ],
})

const MessageRecords = Type.Object({
  messages: recordsOf('Map from muid to message', {
    m1: {
      muid: 'm1',
      sender: 'bob',
      receiverType: 'user',
      receiver: 'alice',
      category: 'message',
      type: 'text',
      data: { text: 'hi' },
      sentAt: 1_700_000_000,
      readAt: 1_700_000_100,
    },
  }),
})

export const importMessages = defineOperation({
  ...shared,
  id: 'import-messages',
  path: '/data_import/messages',
  summary: 'Import messages',
  query: Type.Object({
    idsOnly: Type.Optional(
      Type.Boolean({
        description: 'Answer the id of each stored message in place of the message: less to send and to read',
      }),
    ),
  }),
  description: `Stores past messages with their original times. Messages of the same second keep their order in the request (if muids are numbers, send an array: maps in JSON do not keep the order of numeric keys). Nobody is notified: no webhooks, notifications or events. In one-to-one conversations, readAt marks the messages up to this one as read; group messages are imported as read. The details of users and groups create those that do not exist; existing ones are not changed. Beyond the public contract: parentMuid, quotedMuid, reactions with their times, editedAt, editedBy, deletedAt, deletedBy, pinnedAt, pinnedBy, savedBy, countsAsUnread, and action messages, with subjectMuid for the message that was edited or deleted. An app that had no messages when the first came with an id keeps the ids; else new ones are drawn. ${aboutAnswers}`,
  body: MessageRecords,
  plain: { body: requiring(MessageRecords, 'messages') },
  answer: enveloped(outcomesOf(Message)),
  errors: [
    'ERR_IMPORT_UID_ERASED',
    'ERR_IMPORT_MUID_ERASED',
    'ERR_IMPORT_INVALID_MESSAGE_FORMAT',
    'ERR_ROLE_NOT_FOUND',
    'ERR_UID_NOT_FOUND',
    'ERR_GUID_NOT_FOUND',
    'ERR_IMPORT_MUID_ALREADY_EXISTS',
    'ERR_WRONG_MESSAGE_THREAD',
    'ERR_MESSAGE_THREAD_NESTING',
    'ERR_MESSAGE_ID_NOT_FOUND',
    'ERR_PLAN_QUOTA_RESTRICTION',
  ],
})

const OtherRecords = Type.Object({
  records: Type.Optional(
    Type.Unsafe<unknown>({
      description: 'An array of records, each with its kind; or a map of them under names of your own',
      examples: [
        [
          { kind: 'friend', uid: 'alice', friend: 'bob', createdAt: 1_700_000_000 },
          {
            kind: 'conversation',
            uid: 'alice',
            receiverType: 'user',
            receiver: 'bob',
            read: { muid: 'm1', at: 1_700_000_100 },
          },
        ],
      ],
    }),
  ),
})

export const importOthers = defineOperation({
  ...shared,
  id: 'import-records',
  path: '/data_import/records',
  summary: 'Import friends, blocks, marks, pins, saves, subscriptions, tokens and keys',
  description: `Stores what belongs to users, groups and messages that are there. Each record has a kind: friend (uid, friend, createdAt), block (uid, blocked, blockedAt), conversation (uid, receiverType, receiver, and their state of it: delivered, read, unreadFrom, reset, joined, tags, pinnedAt), subscription (uid, subscribedAt), pin (pinnedBy, pinnedAt), save (uid, savedAt), authToken (uid, authToken, platform, userAgent, appInfo, createdAt), apiKey (apiKey, name, scope, createdAt). Messages are named by messageId, their id in this app, or by the muid that they were imported with. Marks rise and never fall. Nobody is notified. The response is a 200 with an outcome for each record, under "[<index>]" (from 0), or its name in a map; an invalid record does not stop the others, and one that is there already is refused and not changed. A request can have ${limits.importRecords} records, unless the deployment sets another limit. Times are epoch seconds.`,
  body: OtherRecords,
  plain: { body: requiring(OtherRecords, 'records') },
  answer: enveloped(outcomesOf(Type.Object({ kind: Type.String() }))),
  errors: [
    'ERR_IMPORT_INVALID_RECORD_FORMAT',
    'ERR_IMPORT_ALREADY_EXISTS',
    'ERR_UID_NOT_FOUND',
    'ERR_CONVERSATION_NOT_FOUND',
    'ERR_MESSAGE_ID_NOT_FOUND',
    'ERR_AUTHTOKEN_NOT_ACCESSIBLE',
  ],
})
