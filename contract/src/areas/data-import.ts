import { type Static, type TSchema, Type } from 'typebox'
import { ErrorBodySchema } from '../errors.ts'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import { enveloped, Group, Message, NoParams, NoQuery, ScopeIn, User } from '../schemas.ts'

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

const aboutAnswers = `Each record is checked and stored alone: one that is refused does not stop the others, and the answer is a 200 with an outcome for every record. Records of a map are answered under their key as sent, records of an array under their own id as sent, or under "[<place>]" (from 0) where a record has no id or one that an earlier record of the array has. At most ${limits.importRecords} records a request, where the deployment has set no other figure. What is there already is refused and left as it is, so an import can be run again. Times are epoch seconds, as integers or decimal strings; 0 where a time is optional means none.`

/**
 * The records of a request: a map by id, or an array. Loose on purpose, and not required: each record is checked alone,
 * and what is no map and no array is refused with a code of the contract's own.
 */
function recordsOf(what: string, example: object) {
  return Type.Optional(
    Type.Unsafe<unknown>({ description: `${what}; or an array of these records`, examples: [example] }),
  )
}

const Failure = ErrorBodySchema.properties.error

/** What became of one record. */
export interface ImportOutcome<Entity> {
  readonly success: boolean
  /** The record as it is stored now. */
  readonly data?: Entity
  /** Why it was not stored. */
  readonly error?: Static<typeof Failure>
}

function outcomesOf<Entity extends TSchema>(entity: Entity) {
  return Type.Unsafe<Record<string, ImportOutcome<Static<Entity>>>>({
    type: 'object',
    additionalProperties: Type.Object({
      success: Type.Boolean(),
      data: Type.Optional(entity),
      error: Type.Optional(Failure),
    }),
  })
}

/** A membership, or a ban, as an import answers it. */
export const ImportedMember = Type.Object({
  guid: Type.String(),
  uid: Type.String(),
  scope: ScopeIn,
  joinedAt: Type.Integer({ description: 'Epoch seconds' }),
  isBanned: Type.Optional(Type.Boolean({ description: 'true: imported as banned, and no member' })),
})
export type ImportedMember = Static<typeof ImportedMember>

export const importUsers = defineOperation({
  ...shared,
  id: 'import-users',
  path: '/data_import/users',
  summary: 'Import users',
  description: `Makes users with the times of their former system. ${aboutAnswers}`,
  body: Type.Object({
    users: recordsOf('Map from uid to user', {
      alice: { uid: 'alice', name: 'Alice', avatar: 'https://example.com/alice.png', createdAt: 1_700_000_000 },
    }),
  }),
  answer: enveloped(outcomesOf(User)),
  errors: ['ERR_IMPORT_INVALID_USER_FORMAT', 'ERR_ROLE_NOT_FOUND', 'ERR_UID_ALREADY_EXISTS'],
})

export const importGroups = defineOperation({
  ...shared,
  id: 'import-groups',
  path: '/data_import/groups',
  summary: 'Import groups',
  description: `Makes groups with the times of their former system. The owner becomes a member by implication; groupOwnerDetails makes him where he is missing. ${aboutAnswers}`,
  body: Type.Object({
    groups: recordsOf('Map from guid to group', {
      team: { guid: 'team', name: 'Team', type: 'public', owner: 'alice', createdAt: 1_700_000_000 },
    }),
  }),
  answer: enveloped(outcomesOf(Group)),
  errors: [
    'ERR_IMPORT_INVALID_GROUP_FORMAT',
    'ERR_ROLE_NOT_FOUND',
    'ERR_UID_NOT_FOUND',
    'ERR_GUID_ALREADY_EXISTS',
    'ERR_PLAN_QUOTA_RESTRICTION',
  ],
})

export const importMembers = defineOperation({
  ...shared,
  id: 'import-members',
  path: '/data_import/members',
  summary: 'Import members of groups, and bans',
  description: `Adds users to groups, without action messages. joinedAt lies between the creation of the group and now. groupDetails and userDetails make what is missing and change nothing that is there. ${aboutAnswers}`,
  body: Type.Object({
    members: recordsOf('Map from "<guid>_member_<uid>" to membership', {
      team_member_bob: {
        memberId: 'team_member_bob',
        guid: 'team',
        uid: 'bob',
        scope: 'participant',
        joinedAt: 1_700_000_100,
      },
    }),
  }),
  answer: enveloped(outcomesOf(ImportedMember)),
  errors: [
    'ERR_IMPORT_INVALID_MEMBER_FORMAT',
    'ERR_IMPORT_INVALID_JOINEDAT',
    'ERR_ROLE_NOT_FOUND',
    'ERR_UID_NOT_FOUND',
    'ERR_GUID_NOT_FOUND',
    'ERR_ALREADY_JOINED',
    'ERR_PLAN_QUOTA_RESTRICTION',
  ],
})

export const importMessages = defineOperation({
  ...shared,
  id: 'import-messages',
  path: '/data_import/messages',
  summary: 'Import messages',
  description: `Stores past messages with their times. Within one second they keep the order in which they came (send an array where muids are numbers: JSON maps do not keep the order of those). Nothing is told to anybody: no webhook, notification or event. In one-to-one conversations readAt moves the receiver's mark; group messages leave nothing unread. The details of users and groups make what is missing and change nothing that is there. Beyond the public contract: parentMuid, reactions, editedAt, deletedAt. ${aboutAnswers}`,
  body: Type.Object({
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
  }),
  answer: enveloped(outcomesOf(Message)),
  errors: [
    'ERR_IMPORT_INVALID_MESSAGE_FORMAT',
    'ERR_ROLE_NOT_FOUND',
    'ERR_UID_NOT_FOUND',
    'ERR_GUID_NOT_FOUND',
    'ERR_IMPORT_MUID_ALREADY_EXISTS',
    'ERR_WRONG_MESSAGE_THREAD',
    'ERR_MESSAGE_THREAD_NESTING',
    'ERR_PLAN_QUOTA_RESTRICTION',
  ],
})
