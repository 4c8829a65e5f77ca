import { idFields, type JsonRecord } from '../../import/records.ts'
import { errorOf } from '../../import/request.ts'
import type { IdMap } from '../id-map.ts'
import { idsFile } from '../ids.ts'
import type { Journal } from '../journal.ts'
import { readRecord } from '../lists.ts'
import type { SourceFile } from '../named-files.ts'
import type { Notices } from '../notices.ts'
import type { Method, Remote } from '../remote.ts'
import { type SentRecords, sendRecords } from '../send-records.ts'
import type { MoveState } from '../state.ts'

/** Both sides of a move that follows, and what is done on them. */
export interface Sides {
  readonly source: Remote
  readonly target: Remote
  readonly ids: IdMap
  readonly notices: Notices
  readonly without: readonly string[]
  readonly concurrency: number
  /**
   * What the source lacks is removed: the target was empty before the move, and nobody has written there yet. Otherwise
   * nobody knows whether it is gone or was never there.
   */
  readonly removes: boolean
  /** New addresses of files by their old ones. */
  readonly addresses: ReadonlyMap<string, string>
  copyFiles(files: readonly SourceFile[]): Promise<void>
  /** Remembers which message is which, for later runs too. */
  addIds(pairs: readonly { readonly from: string; readonly to: string }[]): Promise<void>
  /** Why the target has refused messages, by their ids. Those that it took later are not among them. */
  readonly refusedMessages: Map<string, string>
  /** What following did, by name. */
  readonly counts: Record<string, number>
  count(name: string, by?: number): void
  /** Epoch seconds. */
  now(): number
  /**
   * Does something in the target in the name of somebody, or of the app where they may not.
   * @param as a uid; the app acts where there is none
   * @returns the answer; undefined where it was refused, which is noted
   */
  act(method: Method, at: string, body: object, as?: unknown): Promise<JsonRecord | undefined>
  /**
   * Does something in the source, as `act` does in the target.
   * @param people made in the source first where it does not know them
   */
  actInSource(
    method: Method,
    at: string,
    body: object,
    as?: unknown,
    people?: readonly string[],
  ): Promise<JsonRecord | undefined>
  /** Makes users of the target in the source, where it does not know them. */
  makeInSource(uids: readonly string[]): Promise<void>
  importInto(kind: ImportedKind, records: readonly JsonRecord[]): Promise<Record<string, ImportOutcome | undefined>>
}

export type ImportedKind = 'users' | 'groups' | 'members' | 'messages'

export interface ImportOutcome {
  readonly success: boolean
  readonly data?: JsonRecord
  readonly error?: { readonly code: string }
}

/** What may be wrong with one record, and does not end the run. */
export const refusals = [400, 403, 404, 409]

const systemUid = 'app_system'

export interface SidesOptions {
  readonly source: Remote
  readonly target: Remote
  readonly ids: IdMap
  readonly journal: Journal<MoveState>
  readonly notices: Notices
  readonly without: readonly string[]
  readonly concurrency: number
  readonly removes: boolean
  /** New addresses of files by their old ones; `copy` adds to them. */
  readonly addresses: ReadonlyMap<string, string>
  copy(files: readonly SourceFile[]): Promise<void>
  /** Milliseconds. */
  now(): number
}

export function openSides(options: SidesOptions): Sides {
  const { source, target, ids, journal, notices, without, concurrency, removes } = options
  const counts: Record<string, number> = {}
  const refusedMessages = new Map<string, string>()
  const act: Sides['act'] = async (method, at, body, as) => {
    const who = typeof as === 'string' && as !== systemUid ? as : undefined
    const answer = await target.send(method, at, body, { expected: refusals, ...(who !== undefined && { as: who }) })
    if (answer.status === 200) return answer.body
    // What is not there any more is removed: with what it belonged to, or by a request whose answer was lost.
    if (method === 'DELETE' && answer.status === 404 && who === undefined) return answer.body
    // What is somebody's own cannot be done by the app.
    if (who !== undefined && !/\/(reactions|conversation|save|subscription)\b/.test(at)) return act(method, at, body)
    notices.add('relation-refused', `${method} ${at}: ${errorOf(answer.body).code}`)
    return undefined
  }
  const makeInSource = async (uids: readonly string[]) => {
    for (const uid of uids) await makeUser(source, target, uid)
  }
  const actInSource: Sides['actInSource'] = async (method, at, body, as, people = []) => {
    const who = typeof as === 'string' && as !== systemUid ? as : undefined
    const answer = await source.send(method, at, body, { expected: refusals, ...(who !== undefined && { as: who }) })
    if (answer.status === 200) {
      counts['written back'] = (counts['written back'] ?? 0) + 1
      return answer.body
    }
    const { code } = errorOf(answer.body)
    if (code === 'ERR_UID_NOT_FOUND' && people.length > 0) {
      await makeInSource(people)
      return actInSource(method, at, body, as)
    }
    notices.add('not-written-back', `${method} ${at}: ${code}`)
    return undefined
  }
  return {
    ...{
      source,
      target,
      ids,
      notices,
      without,
      concurrency,
      removes,
      counts,
      act,
      actInSource,
      makeInSource,
      refusedMessages,
    },
    addresses: options.addresses,
    copyFiles: async (files) => {
      if (files.length > 0) await options.copy(files)
    },
    addIds: async (pairs) => {
      for (const { from, to } of pairs) {
        ids.add(from, to)
        refusedMessages.delete(from)
      }
      await journal.append(idsFile, pairs)
    },
    count: (name, by = 1) => {
      counts[name] = (counts[name] ?? 0) + by
    },
    now: () => Math.floor(options.now() / 1000),
    importInto: async (kind, records) => {
      const parts = await sendRecords(target, kind, records)
      return Object.assign({}, ...parts.map((part) => outcomesOf(kind, part)))
    },
  }
}

/** What became of records, by their own ids. */
function outcomesOf(
  kind: ImportedKind,
  { records, answer }: SentRecords<JsonRecord>,
): Record<string, ImportOutcome | undefined> {
  if (answer.status === 200) return answer.body.data as Record<string, ImportOutcome | undefined>
  const refused = { success: false, error: errorOf(answer.body) }
  return Object.fromEntries(records.map((record) => [String(record[idFields[kind]]), refused]))
}

/** Makes a user of the target in the source. */
async function makeUser(source: Remote, target: Remote, uid: string): Promise<void> {
  const user = await readRecord(target, `${userAt(uid)}?withTags=true`)
  if (user === undefined || (await readRecord(source, userAt(uid))) !== undefined) return
  const { name, avatar, link, role, metadata, tags } = user
  await source.send('POST', '/users', { uid, name, avatar, link, role, metadata, tags }, { expected: refusals })
}

export const userAt = (uid: string) => `/users/${encodeURIComponent(uid)}`
export const groupAt = (guid: string) => `/groups/${encodeURIComponent(guid)}`
