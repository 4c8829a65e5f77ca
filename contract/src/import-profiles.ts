import { type Static, Type } from 'typebox'
import type { ErrorCode } from './errors.ts'
import {
  atMostBytes,
  type ImportFlaw,
  makeRecordCheck,
  missing,
  notInFuture,
  under,
  webAddresses,
} from './import-flaws.ts'
import { limits } from './limits.ts'
import { IdIn, JsonObject, NameIn, oneOf, RoleOfUserIn, ScopeIn, TagsIn } from './schemas.ts'

export const ImportTime = Type.Unsafe<number | string>({
  anyOf: [
    { type: 'integer', minimum: 0, maximum: 9_999_999_999 },
    { type: 'string', pattern: '^[0-9]{1,10}$' },
  ],
  description: 'epoch seconds, an integer or a decimal string of at most ten digits',
})
export const ImportAddress = Type.String({
  minLength: 1,
  maxLength: limits.urlLength,
  description: 'a valid http or https URL',
})

const userFields = {
  uid: IdIn,
  name: NameIn,
  avatar: Type.Optional(ImportAddress),
  link: Type.Optional(ImportAddress),
  role: Type.Optional(RoleOfUserIn),
  statusMessage: Type.Optional(Type.String({ maxLength: limits.statusMessageLength })),
  createdAt: Type.Optional(ImportTime),
  lastActiveAt: Type.Optional(ImportTime),
  deactivatedAt: Type.Optional(ImportTime),
  metadata: Type.Optional(JsonObject),
  tags: Type.Optional(TagsIn),
  recreate: Type.Optional(
    Type.Boolean({
      description:
        'In a user record: makes somebody new where the user with this uid was erased; embedded it does nothing',
    }),
  ),
}

/** A user of `POST /data_import/users`, and the embedded user details of the other records. Times in epoch seconds. */
export const ImportUser = Type.Object(userFields)
export type ImportUser = Static<typeof ImportUser>

/** What is kept of a group's password, such that any service can check one: scrypt of 16 bytes of salt, a key of 32. */
const passwordHashPattern = '^scrypt\\$16384\\$8\\$1\\$[A-Za-z0-9+/]{22}==\\$[A-Za-z0-9+/]{43}=$'

const groupFields = {
  guid: IdIn,
  name: NameIn,
  type: oneOf('public', 'password', 'private'),
  description: Type.Optional(Type.String({ maxLength: limits.descriptionLength })),
  icon: Type.Optional(ImportAddress),
  password: Type.Optional(Type.String({ minLength: 1, maxLength: limits.groupPasswordLength })),
  passwordHash: Type.Optional(
    Type.String({
      pattern: passwordHashPattern,
      description: 'in place of password: "scrypt$16384$8$1$", the salt and the key in base64, with "$" between them',
    }),
  ),
  owner: Type.Optional(IdIn),
  createdAt: Type.Optional(ImportTime),
  metadata: Type.Optional(JsonObject),
  tags: Type.Optional(TagsIn),
}

/** The group details embedded in members and messages. */
export const ImportGroupDetails = Type.Object(groupFields)
export type ImportGroupDetails = Static<typeof ImportGroupDetails>

/** A group of `POST /data_import/groups`; `groupOwnerDetails` creates the owner if there is no such user. */
export const ImportGroup = Type.Object({ ...groupFields, groupOwnerDetails: Type.Optional(ImportUser) })
export type ImportGroup = Static<typeof ImportGroup>

/** A membership of `POST /data_import/members`; the details create the group and the user if they do not exist. */
export const ImportMember = Type.Object({
  memberId: Type.String({
    maxLength: limits.guidLength + '_member_'.length + limits.uidLength,
    description: 'guid + "_member_" + uid',
  }),
  guid: IdIn,
  uid: IdIn,
  scope: Type.Optional(ScopeIn),
  isBanned: Type.Optional(Type.Boolean()),
  bannedAt: Type.Optional(ImportTime),
  bannedBy: Type.Optional(IdIn),
  joinedAt: Type.Optional(ImportTime),
  groupDetails: Type.Optional(ImportGroupDetails),
  userDetails: Type.Optional(ImportUser),
})
export type ImportMember = Static<typeof ImportMember>

/** What a check needs besides the record. */
export interface ImportContext {
  /** The current time, in epoch seconds. */
  readonly now: number
  /** The key of the record in the map of the request; absent if the records came as an array. */
  readonly key?: string
}

/**
 * Returns the problems of one user in an import. Looks at the record only, not at the database. If the result is
 * empty, the record is an `ImportUser`. `checkImportGroup`, `-Member` and `-Message` do the same for their kinds.
 */
export const checkImportUser = makeRecordCheck(
  ImportUser,
  'ERR_IMPORT_INVALID_USER_FORMAT',
  function* (user, context: ImportContext) {
    yield* ownIdEqualsKey('uid', user.uid, context, 'ERR_IMPORT_INVALID_USER_FORMAT')
    yield* userRules(user, context.now)
  },
)

export const checkImportGroup = makeRecordCheck(
  ImportGroup,
  'ERR_IMPORT_INVALID_GROUP_FORMAT',
  function* (group, context: ImportContext) {
    const format = 'ERR_IMPORT_INVALID_GROUP_FORMAT'
    yield* ownIdEqualsKey('guid', group.guid, context, format)
    yield* groupRules(group, context.now, format)
    yield* embeddedUser('groupOwnerDetails', group.groupOwnerDetails, group.owner, context.now, format)
  },
)

export const checkImportMember = makeRecordCheck(
  ImportMember,
  'ERR_IMPORT_INVALID_MEMBER_FORMAT',
  function* (member, context: ImportContext) {
    const format = 'ERR_IMPORT_INVALID_MEMBER_FORMAT'
    yield* ownIdEqualsKey('memberId', member.memberId, context, format)
    if (!sameId(member.memberId, `${member.guid}_member_${member.uid}`)) {
      yield { code: format, path: 'memberId', message: 'must be guid + "_member_" + uid' }
    }
    yield* notInFuture({ joinedAt: member.joinedAt }, context.now, 'ERR_IMPORT_INVALID_JOINEDAT')
    yield* notInFuture({ bannedAt: member.bannedAt }, context.now)
    yield* embeddedGroup('groupDetails', member.groupDetails, member.guid, context.now, format)
    yield* embeddedUser('userDetails', member.userDetails, member.uid, context.now, format)
  },
)

function sameId(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

export function unlikeKey(path: string, format: ErrorCode): ImportFlaw {
  return { code: format, path, message: 'must equal the key of the record' }
}

function* ownIdEqualsKey(path: string, id: string, { key }: ImportContext, format: ErrorCode): Iterable<ImportFlaw> {
  if (key !== undefined && !sameId(key, id)) yield unlikeKey(path, format)
}

function* userRules(user: ImportUser, now: number): Iterable<ImportFlaw> {
  const { createdAt, lastActiveAt, deactivatedAt, avatar, link, metadata } = user
  yield* notInFuture({ createdAt, lastActiveAt, deactivatedAt }, now)
  yield* webAddresses({ avatar, link })
  yield* atMostBytes('metadata', metadata, limits.metadataBytes)
}

function* groupRules(group: ImportGroupDetails, now: number, format: ErrorCode): Iterable<ImportFlaw> {
  const { type, password, passwordHash, createdAt, icon, metadata } = group
  if (type === 'password' && password === undefined && passwordHash === undefined) yield missing('password', format)
  yield* notInFuture({ createdAt }, now)
  yield* webAddresses({ icon })
  yield* atMostBytes('metadata', metadata, limits.metadataBytes)
}

/** Checks embedded user details. `uid` is the user that the outer record names there, if it names one. */
export function* embeddedUser(
  name: string,
  user: ImportUser | undefined,
  uid: string | undefined,
  now: number,
  format: ErrorCode,
): Iterable<ImportFlaw> {
  if (user === undefined) return
  if (uid !== undefined && !sameId(user.uid, uid)) {
    yield { code: format, path: `${name}/uid`, message: 'must be the same user as in the record' }
  }
  yield* under(name, userRules(user, now))
}

/** Checks embedded group details. `guid` is the group that the outer record names. */
export function* embeddedGroup(
  name: string,
  group: ImportGroupDetails | undefined,
  guid: string,
  now: number,
  format: ErrorCode,
): Iterable<ImportFlaw> {
  if (group === undefined) return
  if (!sameId(group.guid, guid)) {
    yield { code: format, path: `${name}/guid`, message: 'must be the same group as in the record' }
  }
  yield* under(name, groupRules(group, now, format))
}
