import { type Static, Type } from 'typebox'
import {
  addIfInFuture,
  atMostBytes,
  flaw,
  type ImportFlaw,
  makeRecordCheck,
  missing,
  notInFuture,
  readOptionalTime,
} from './import-flaws.ts'
import {
  embeddedGroup,
  embeddedUser,
  ImportAddress,
  type ImportContext,
  ImportGroupDetails,
  ImportTime,
  ImportUser,
  unlikeKey,
} from './import-profiles.ts'
import { limits } from './limits.ts'
import { type FilesFault, faultsOfAttachments, faultsOfFiles, mediaTypes } from './message-files.ts'
import { IdIn, JsonObject, oneOf, ReceiverType, TagsIn } from './schemas.ts'

/** The contract sets no limit for ids of the previous system; this one keeps them indexable. */
const muidLength = 255
const Muid = Type.String({
  minLength: 1,
  maxLength: muidLength,
  description: 'ID of the message in the previous system',
})

const Attachment = Type.Object({
  url: ImportAddress,
  name: Type.String(),
  mimeType: Type.String(),
  extension: Type.String(),
  size: Type.Optional(
    Type.Unsafe<number | string>({
      anyOf: [{ type: 'string' }, { type: 'number', minimum: 0 }],
      description: 'a number of bytes, as a number or a string',
    }),
  ),
})

/** Whoever has a hand in a message: a uid, or app_system for the app itself. */
const Hand = IdIn

const ImportReaction = Type.Unsafe<string | { uid: string; reactedAt?: number | string }>({
  anyOf: [IdIn, Type.Object({ uid: IdIn, reactedAt: Type.Optional(ImportTime) })],
  description: 'a uid, or an object with uid and reactedAt',
})

/** A map with arbitrary keys whose values all have the same shape. */
function mapOf<T>(values: object, limits: { maxProperties?: number } = {}) {
  return Type.Unsafe<Record<string, T>>({ type: 'object', additionalProperties: values, ...limits })
}

/**
 * A message of `POST /data_import/messages`. Other properties of `data` are kept.
 * Beyond the public contract: `parentMuid` (the message that this one replies to in a thread), `reactions` (uids by
 * reaction, also with the time of each), `editedAt`, `deletedAt` and by whom, category `action` with `subjectMuid` (the message
 * that was edited or deleted), `quotedMuid`, pins and saves, `countsAsUnread`. A message with `deletedAt` needs no content.
 * `id` is taken as it is into an app that had no messages when the first record with an `id` came; see `importedId`.
 */
export const ImportMessage = Type.Object({
  muid: Muid,
  sender: IdIn,
  receiverType: ReceiverType,
  receiver: IdIn,
  category: Type.Optional(oneOf('message', 'custom', 'interactive', 'call', 'action')),
  type: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  data: Type.Optional(
    Type.Object({
      text: Type.Optional(Type.String()),
      customData: Type.Optional(JsonObject),
      attachments: Type.Optional(Type.Array(Attachment)),
      metadata: Type.Optional(JsonObject),
    }),
  ),
  tags: Type.Optional(TagsIn),
  sentAt: ImportTime,
  deliveredAt: Type.Optional(ImportTime),
  readAt: Type.Optional(ImportTime),
  editedAt: Type.Optional(ImportTime),
  deletedAt: Type.Optional(ImportTime),
  parentMuid: Type.Optional(Muid),
  subjectMuid: Type.Optional(Muid),
  reactions: Type.Optional(
    mapOf<Static<typeof ImportReaction>[]>(Type.Array(ImportReaction), { maxProperties: limits.reactionsPerMessage }),
  ),
  id: Type.Optional(
    Type.Unknown({ description: 'ID in the previous system; anything but a number that can be taken is left out' }),
  ),
  quotedMuid: Type.Optional(Muid),
  editedBy: Type.Optional(Hand),
  deletedBy: Type.Optional(Hand),
  countsAsUnread: Type.Optional(
    Type.Boolean({
      description: 'whether it counts as unread for those whose marks lie before it; by default in groups not',
    }),
  ),
  pinnedAt: Type.Optional(ImportTime),
  pinnedBy: Type.Optional(Hand),
  savedBy: Type.Optional(mapOf<number | string>(ImportTime)),
  senderUserDetails: Type.Optional(ImportUser),
  receiverUserDetails: Type.Optional(ImportUser),
  receiverGroupDetails: Type.Optional(ImportGroupDetails),
  receiverGroupOwnerDetails: Type.Optional(ImportUser),
  mentionedUserDetails: Type.Optional(mapOf<ImportUser>(ImportUser)),
})

/**
 * A message that has the `id` that it had somewhere, as records of lists have: a chat system took it, so of its `data` is asked
 * what is asked of what is sent, and no more. History must not lose what this service, or another, has taken itself.
 */
const KnownMessage = Type.Object({ ...ImportMessage.properties, data: Type.Optional(JsonObject) })
export type ImportMessage = Static<typeof KnownMessage>

/** Whether a record came with an id of the previous system, as an app can take it or not. */
export function isPreviousId(id: unknown): id is string | number {
  return (typeof id === 'string' && id !== '') || typeof id === 'number'
}

/**
 * The id of a message in the previous system as an app can take it: an integer from 1 to `limits.importedMessageId`, which keeps
 * the ids that are drawn afterwards far below what JSON can hold. Undefined for anything else: then one is drawn.
 */
export function importedId(id: unknown): number | undefined {
  const read = typeof id === 'string' && /^[1-9][0-9]{0,14}$/.test(id) ? Number(id) : id
  if (typeof read !== 'number' || !Number.isSafeInteger(read) || read < 1) return undefined
  return read > limits.importedMessageId ? undefined : read
}

const format = 'ERR_IMPORT_INVALID_MESSAGE_FORMAT'

// Millions come through here, and nearly all are sound and plain: nothing is made for those.
function flawsOf(message: ImportMessage, context: ImportContext): ImportFlaw[] {
  const flaws: ImportFlaw[] = []
  if (context.key !== undefined && context.key !== message.muid) flaws.push(unlikeKey('muid', format))
  for (const name of times) {
    const time = message[name]
    if (time !== undefined) addIfInFuture(flaws, name, time, context.now)
  }
  addContentFlaws(flaws, message)
  if (message.parentMuid === message.muid) flaws.push(flaw('parentMuid', 'must name another message'))
  if (message.quotedMuid === message.muid) flaws.push(flaw('quotedMuid', 'must name another message'))
  if (message.savedBy !== undefined)
    for (const [uid, savedAt] of Object.entries(message.savedBy))
      addIfInFuture(flaws, `savedBy/${uid}`, savedAt, context.now)
  if (message.reactions !== undefined) flaws.push(...reactionRules(message.reactions, context.now))
  if (bringsDetails(message)) flaws.push(...detailRules(message, context.now))
  return flaws
}

const checkWritten = makeRecordCheck(ImportMessage, format, flawsOf)
const checkKnown = makeRecordCheck(KnownMessage, format, flawsOf)

/** Returns the problems of one message in an import, looking at the record only. Empty if it can be stored. */
export function checkImportMessage(record: unknown, context: ImportContext): ImportFlaw[] {
  const { id } = (record ?? {}) as { id?: unknown }
  return id === undefined ? checkWritten(record, context) : checkKnown(record, context)
}

const times = ['sentAt', 'deliveredAt', 'readAt', 'editedAt', 'deletedAt', 'pinnedAt'] as const

function* reactionRules(reactions: NonNullable<ImportMessage['reactions']>, now: number): Iterable<ImportFlaw> {
  for (const [reaction, persons] of Object.entries(reactions)) {
    for (const person of persons) {
      if (typeof person === 'string') continue
      yield* notInFuture({ [`reactions/${reaction}`]: person.reactedAt }, now)
    }
    const length = [...reaction].length
    if (length < 1 || length > limits.reactionLength)
      yield flaw('reactions', `must have reactions of 1 to ${limits.reactionLength} characters`)
  }
}

/** Most messages are of people who are there. */
function bringsDetails(message: ImportMessage): boolean {
  const { senderUserDetails, receiverUserDetails, receiverGroupDetails, receiverGroupOwnerDetails } = message
  const details = senderUserDetails ?? receiverUserDetails ?? receiverGroupDetails ?? receiverGroupOwnerDetails
  return details !== undefined || message.mentionedUserDetails !== undefined
}

function* detailRules(message: ImportMessage, now: number): Iterable<ImportFlaw> {
  yield* embeddedUser('senderUserDetails', message.senderUserDetails, message.sender, now, format)
  if (message.receiverType === 'user') {
    yield* embeddedUser('receiverUserDetails', message.receiverUserDetails, message.receiver, now, format)
  } else {
    const { receiverGroupDetails: group, receiverGroupOwnerDetails: owner } = message
    yield* embeddedGroup('receiverGroupDetails', group, message.receiver, now, format)
    yield* embeddedUser('receiverGroupOwnerDetails', owner, group?.owner, now, format)
  }
  for (const [uid, user] of Object.entries(message.mentionedUserDetails ?? {})) {
    yield* embeddedUser(`mentionedUserDetails/${uid}`, user, uid, now, format)
  }
}

const typesOf = {
  message: ['text', ...mediaTypes],
  interactive: ['form', 'card', 'scheduler', 'customInteractive'],
  call: ['audio', 'video'],
  action: ['groupMember', 'message'],
}

/** Checks that `category`, `type` and `data` fit together. The default category is `message`, its default type `text`. */
function addContentFlaws(flaws: ImportFlaw[], message: ImportMessage): void {
  const { category = 'message', data } = message
  if (category === 'action') flaws.push(...actionRules(message))
  const type = message.type ?? (category === 'message' ? 'text' : category === 'interactive' ? 'card' : undefined)
  if (type === undefined) flaws.push(missing('type', format))
  else if (category !== 'custom' && !typesOf[category].includes(type)) {
    flaws.push(flaw('type', `must be one of ${typesOf[category].join(', ')} in category ${category}`))
  }
  if (readOptionalTime(message.deletedAt) === null) {
    if (data === undefined) flaws.push(missing('data', format))
    else addDataFlaws(flaws, category, type, data, message.id !== undefined)
  }
  if (data === undefined) return
  // What is held to its bytes is also short enough.
  if (Array.isArray(data.attachments)) flaws.push(...attachmentRules(data))
  else addSizeFlaws(flaws, data)
}

type Data = Readonly<Record<string, unknown>>

/** @param isKnown it was taken by a chat system: what is known of a file may be its address alone */
function addDataFlaws(
  flaws: ImportFlaw[],
  category: string,
  type: string | undefined,
  data: Data,
  isKnown: boolean,
): void {
  const { text, customData, metadata, attachments } = data
  const isMedia = category === 'message' && type !== undefined && mediaTypes.includes(type)
  if (category === 'message') {
    if (text !== undefined && typeof text !== 'string')
      flaws.push({ code: format, path: 'data/text', message: 'must be string' })
    else if (type === 'text' && text === undefined) flaws.push(missing('data/text', format))
    if (isMedia) {
      const isAddressAlone = !Array.isArray(attachments) || attachments.length === 0
      if (isAddressAlone && !isKnown) flaws.push(missing('data/attachments', format))
      else flaws.push(...filesRules(faultsOfFiles(data)))
    }
  }
  if (!isKnown && attachments !== undefined && !isMedia) flaws.push(...filesRules(faultsOfAttachments(data)))
  if (category === 'custom') {
    if (customData === undefined) flaws.push(missing('data/customData', format))
    else if (!isStructure(customData)) flaws.push(noStructure('data/customData'))
  }
  if (metadata !== undefined && !isStructure(metadata)) flaws.push(noStructure('data/metadata'))
}

function isStructure(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function noStructure(path: string): ImportFlaw {
  return { code: format, path, message: 'must be an object or an array' }
}

function* filesRules(faults: Iterable<FilesFault>): Iterable<ImportFlaw> {
  for (const { kind, path, value } of faults) {
    const at = `data/${path}`
    if (value === undefined) yield missing(at, format)
    else if (kind === 'no-list') yield { code: format, path: at, message: 'must be array' }
    else {
      const code = typeof value === 'string' && path.endsWith('url') ? 'ERR_BAD_REQUEST' : format
      yield { code, path: at, message: path.endsWith('url') ? 'must be a valid http or https URL' : 'must be object' }
    }
  }
}

const actionsOf: Readonly<Record<string, readonly string[]>> = {
  groupMember: ['joined', 'left', 'added', 'kicked', 'banned', 'unbanned', 'scopeChanged'],
  message: ['edited', 'deleted'],
}

/** An action message tells who did what to whom in a group, or that a message was edited or deleted. */
function* actionRules({ type = '', data, subjectMuid, muid, receiverType }: ImportMessage): Iterable<ImportFlaw> {
  const { action, entities } = (data ?? {}) as { action?: unknown; entities?: Record<string, unknown> }
  const actions = actionsOf[type]
  if (actions === undefined) return
  if (typeof action !== 'string') yield missing('data/action', format)
  else if (!actions.includes(action)) yield flaw('data/action', `must be one of ${actions.join(', ')}`)
  if (type === 'message') {
    if (subjectMuid === undefined) yield missing('subjectMuid', format)
    else if (subjectMuid === muid) yield flaw('subjectMuid', 'must name another message')
    return
  }
  if (receiverType !== 'group') yield flaw('receiverType', 'must be group')
  for (const side of ['by', 'on']) {
    const { entity } = (entities?.[side] ?? {}) as { entity?: { uid?: unknown } | null }
    if (typeof entity?.uid !== 'string') yield missing(`data/entities/${side}/entity/uid`, format)
  }
}

function addSizeFlaws(flaws: ImportFlaw[], data: Data): void {
  flaws.push(...atMostBytes('data', data, limits.messageDataBytes))
  if (data.metadata !== undefined) flaws.push(...atMostBytes('data/metadata', data.metadata, limits.metadataBytes))
}

/** Attachments do not count towards the limit of `data`, only towards the limit of the message. */
function* attachmentRules(data: Data): Iterable<ImportFlaw> {
  const { attachments: _, ...rest } = data
  const flaws: ImportFlaw[] = []
  addSizeFlaws(flaws, rest)
  yield* flaws
  if (JSON.stringify(data).length > limits.messageLength) {
    yield flaw('data', `must be at most ${limits.messageLength} characters of JSON`)
  }
}
