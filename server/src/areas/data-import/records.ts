import {
  ApiError,
  type ErrorCode,
  type ImportGroup,
  type ImportKind,
  type ImportMember,
  type ImportMessage,
  type ImportUser,
  importChecks,
  summariseImportFlaws,
} from '@parley/contract'
import { makeWellFormed } from '../../chat/json.ts'
import { mapInTurns } from '../../pauses.ts'
import { spelledOtherwise, tooManyRecords } from './errors.ts'
import { type Outcome, refuse } from './outcomes.ts'
import { isJsonObject, type Taken, takeAll } from './taken.ts'

/** What a record of each kind is once it is known to be sound. */
export interface RecordOf {
  readonly users: ImportUser
  readonly groups: ImportGroup
  readonly members: ImportMember
  readonly messages: ImportMessage
}

const ownIds = { users: 'uid', groups: 'guid', members: 'memberId', messages: 'muid' } as const

const formatErrors = {
  users: 'ERR_IMPORT_INVALID_USER_FORMAT',
  groups: 'ERR_IMPORT_INVALID_GROUP_FORMAT',
  members: 'ERR_IMPORT_INVALID_MEMBER_FORMAT',
  messages: 'ERR_IMPORT_INVALID_MESSAGE_FORMAT',
} as const satisfies Record<ImportKind, ErrorCode>

/**
 * Imports the records of a request. Each is checked by itself; those that are sound go to `store`, which gives the
 * outcome of each, in their order.
 * @param sent the member of the body that holds the records
 * @param most records that a request may have
 * @returns the outcome of every record, under the key that answers for it
 * @throws 400 when there are no records to read, or more than a request may have; then nothing is stored
 */
export async function importRecords<Kind extends ImportKind, Entity>(
  kind: Kind,
  sent: unknown,
  most: number,
  store: (records: ReadonlyArray<RecordOf[Kind]>, now: number) => Promise<Array<Outcome<Entity>>>,
): Promise<Record<string, Outcome<Entity>>> {
  const now = Math.floor(Date.now() / 1000)
  const entries = await readEntries(kind, sent, most)
  const outcomes = new Array<Outcome<Entity> | undefined>(entries.length)
  const sound: Array<RecordOf[Kind]> = []
  const spellings = new Map<string, string>()
  await mapInTurns(entries, ({ record, mapKey }, place) => {
    const flaws = importChecks[kind](record, mapKey === undefined ? { now } : { now, key: mapKey })
    if (flaws.length > 0) {
      const { code, devMessage, details } = summariseImportFlaws(flaws)
      outcomes[place] = refuse(new ApiError(code, devMessage, details))
      return
    }
    const id = (record as Record<string, string>)[ownIds[kind]] as string
    const earlier = kind === 'messages' ? id : spellingOf(spellings, id)
    if (earlier === id) sound.push(record as RecordOf[Kind])
    else outcomes[place] = refuse(spelledOtherwise(kind, ownIds[kind], id, earlier))
  })
  const stored = sound.length === 0 ? [] : await store(sound, now)
  const answered: Record<string, Outcome<Entity>> = Object.create(null)
  let next = 0
  for (const [place, { key, ignored }] of entries.entries()) {
    const outcome = outcomes[place] ?? (stored[next++] as Outcome<Entity>)
    answered[key] =
      outcome.success && ignored.length > 0
        ? { ...outcome, ignored: [...ignored, ...(outcome.ignored ?? [])] }
        : outcome
  }
  return answered
}

/** How an id is spelled where it comes first: ids are compared without regard to case. */
function spellingOf(spellings: Map<string, string>, id: string): string {
  const key = id.toLowerCase()
  const first = spellings.get(key) ?? id
  spellings.set(key, first)
  return first
}

/** One record of a request. */
interface Entry extends Taken {
  /** What its outcome is answered under. */
  readonly key: string
  /** Its key in a map, which must equal its own id. */
  readonly mapKey?: string
}

async function readEntries(kind: ImportKind, sent: unknown, most: number): Promise<Entry[]> {
  if (typeof sent !== 'object' || sent === null) throw unreadable(kind, sent)
  const given: readonly unknown[] = Array.isArray(sent) ? sent : Object.values(sent)
  if (given.length > most) throw tooManyRecords(kind, given.length, most)
  await mapInTurns(given, (record) => makeWellFormed(record))
  const records = takeAll(kind, given)
  if (Array.isArray(sent)) return readArray(records, ownIds[kind])
  return Object.keys(sent).map((sentKey, place) => {
    const key = sentKey.toWellFormed()
    return { key, ...(records[place] as Taken), mapKey: key }
  })
}

/**
 * Records of an array are answered under their own id. One without a usable id, or with an id that an earlier record of
 * the array has, is answered under its place, so that no outcome hides another.
 */
function readArray(records: readonly Taken[], ownId: string): Entry[] {
  const taken = new Set<string>()
  return records.map(({ record, ignored }, place) => {
    const id = isJsonObject(record) ? record[ownId] : undefined
    let key = typeof id === 'string' && id !== '' && !taken.has(id) ? id : `[${place}]`
    while (taken.has(key)) key = `[${key}]`
    taken.add(key)
    return { key, record, ignored }
  })
}

/** The codes that the contract has for a request without readable records. */
function unreadable(kind: ImportKind, sent: unknown): ApiError {
  const message = sent === undefined ? 'is required' : 'must be a map or an array of records'
  return new ApiError(formatErrors[kind], `body/${kind} ${message}`, [{ path: `body/${kind}`, message }])
}
