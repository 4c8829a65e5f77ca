import { type Static, Type } from 'typebox'
import type { ErrorCode } from './errors.ts'
import { atMostBytes, flaw, type ImportFlaw, makeRecordCheck, missing, notInFuture } from './import-flaws.ts'
import { ImportTime } from './import-profiles.ts'
import { limits } from './limits.ts'
import { IdIn, JsonObject, NameIn, oneOf, ReceiverType, TagsIn } from './schemas.ts'

/** A message of the app: by its id there, or by the muid that it was imported with. */
const named = {
  messageId: Type.Optional(
    Type.Unsafe<number | string>({
      anyOf: [
        { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
        { type: 'string', pattern: '^[1-9][0-9]{0,15}$' },
      ],
      description: 'the id of a message in this app',
    }),
  ),
  muid: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'the muid that it was imported with' })),
}
const ImportPlace = Type.Object(named)
/** A place in a conversation: that of a message, named by `messageId` or `muid`. */
export type ImportPlace = Static<typeof ImportPlace>

const ImportMark = Type.Object({ ...named, at: Type.Optional(ImportTime) })
/** A mark: everything up to a message, since a time; without one since that message. */
export type ImportMark = Static<typeof ImportMark>

/** A friendship, both ways. */
export const ImportFriend = Type.Object({
  kind: Type.Literal('friend'),
  uid: IdIn,
  friend: IdIn,
  createdAt: Type.Optional(ImportTime),
})
export const ImportBlock = Type.Object({
  kind: Type.Literal('block'),
  uid: IdIn,
  blocked: IdIn,
  blockedAt: Type.Optional(ImportTime),
})
/** Who follows the thread of a message. */
export const ImportSubscription = Type.Object({
  kind: Type.Literal('subscription'),
  uid: IdIn,
  ...named,
  subscribedAt: Type.Optional(ImportTime),
})
export const ImportSave = Type.Object({
  kind: Type.Literal('save'),
  uid: IdIn,
  ...named,
  savedAt: Type.Optional(ImportTime),
})
/** A message pinned in its conversation; without `pinnedBy` by the app. */
export const ImportPin = Type.Object({
  kind: Type.Literal('pin'),
  ...named,
  pinnedBy: Type.Optional(IdIn),
  pinnedAt: Type.Optional(ImportTime),
})
/**
 * A user's state of a conversation. Marks rise, and never fall. `unreadFrom`: this message and all after it are unread;
 * `reset`: everything up to it is hidden, and with `isHidden` the conversation until the next message; `joined`: the first
 * message that is not from before they joined.
 */
export const ImportConversation = Type.Object({
  kind: Type.Literal('conversation'),
  uid: IdIn,
  receiverType: ReceiverType,
  receiver: IdIn,
  delivered: Type.Optional(ImportMark),
  read: Type.Optional(ImportMark),
  unreadFrom: Type.Optional(ImportPlace),
  reset: Type.Optional(Type.Object({ ...named, isHidden: Type.Optional(Type.Boolean()) })),
  joined: Type.Optional(ImportPlace),
  tags: Type.Optional(TagsIn),
  pinnedAt: Type.Optional(ImportTime),
})
/** A token that keeps a user logged in. */
export const ImportAuthToken = Type.Object({
  kind: Type.Literal('authToken'),
  uid: IdIn,
  authToken: Type.String({
    pattern: '^[\\x21-\\x7e]{16,500}$',
    description: '16 to 500 characters of printable ASCII without blanks',
  }),
  platform: Type.Optional(Type.String({ maxLength: 100 })),
  userAgent: Type.Optional(Type.String({ maxLength: 1000 })),
  appInfo: Type.Optional(JsonObject),
  createdAt: Type.Optional(ImportTime),
})
export const ImportApiKey = Type.Object({
  kind: Type.Literal('apiKey'),
  apiKey: Type.String({
    pattern: `^[0-9A-Fa-f]{${limits.apiKeyLength}}$`,
    description: `${limits.apiKeyLength} hexadecimal characters`,
  }),
  name: NameIn,
  scope: oneOf('fullAccess', 'authOnly'),
  createdAt: Type.Optional(ImportTime),
})

const schemas = {
  friend: ImportFriend,
  block: ImportBlock,
  subscription: ImportSubscription,
  save: ImportSave,
  pin: ImportPin,
  conversation: ImportConversation,
  authToken: ImportAuthToken,
  apiKey: ImportApiKey,
} as const

/** What `POST /data_import/records` takes, in the order in which a request stores it. */
export const importOtherKinds = [
  ...['friend', 'block', 'conversation', 'subscription'],
  ...['pin', 'save', 'authToken', 'apiKey'],
] as unknown as readonly ImportOtherKind[]
export type ImportOtherKind = keyof typeof schemas
export type ImportOther = { [Kind in ImportOtherKind]: Static<(typeof schemas)[Kind]> }[ImportOtherKind]

const format: ErrorCode = 'ERR_IMPORT_INVALID_RECORD_FORMAT'

function* rulesOf(record: ImportOther, { now }: { readonly now: number }): Iterable<ImportFlaw> {
  const times = Object.entries(record).filter(([name]) => /At$/.test(name))
  yield* notInFuture(Object.fromEntries(times), now)
  if (record.kind === 'conversation') {
    for (const name of ['delivered', 'read', 'unreadFrom', 'reset', 'joined'] as const) {
      if (record[name] === undefined) continue
      if (!isNamed(record[name])) yield missing(`${name}/messageId`, format)
      yield* notInFuture({ [`${name}/at`]: (record[name] as ImportMark).at }, now)
    }
  }
  if ((record.kind === 'subscription' || record.kind === 'save' || record.kind === 'pin') && !isNamed(record))
    yield missing('messageId', format)
  if (record.kind === 'friend' && record.friend.toLowerCase() === record.uid.toLowerCase())
    yield flaw('friend', 'must name another user')
  if (record.kind === 'block' && record.blocked.toLowerCase() === record.uid.toLowerCase())
    yield flaw('blocked', 'must name another user')
  if (record.kind === 'authToken') {
    yield* atMostBytes('appInfo', record.appInfo, limits.metadataBytes)
    if (/^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(record.authToken))
      yield flaw('authToken', 'must not look like a token of an issuer (a JWT)')
  }
}

function isNamed({ messageId, muid }: ImportPlace): boolean {
  return messageId !== undefined || muid !== undefined
}

const checks = Object.fromEntries(
  Object.entries(schemas).map(([kind, schema]) => [kind, makeRecordCheck(schema, format, rulesOf as never)]),
) as Record<ImportOtherKind, (record: unknown, context: { readonly now: number }) => ImportFlaw[]>

/** Returns the problems of one record of `POST /data_import/records`; if there are none, it is an `ImportOther`. */
export function checkImportOther(record: unknown, context: { readonly now: number }): ImportFlaw[] {
  if (typeof record !== 'object' || record === null || Array.isArray(record))
    return [{ code: format, path: '', message: 'must be an object' }]
  const { kind } = record as { kind?: unknown }
  if (kind === undefined) return [missing('kind', format)]
  if (typeof kind !== 'string' || !Object.hasOwn(checks, kind))
    return [flaw('kind', `must be one of ${importOtherKinds.join(', ')}`)]
  return checks[kind as ImportOtherKind](record, context)
}

/** Names of members of a sound record that an import does not know. */
export function ignoredInOther(record: ImportOther): string[] {
  return Object.keys(record).filter((name) => !Object.hasOwn(schemas[record.kind].properties, name))
}
