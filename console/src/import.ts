import { type AdminResult, type AppClient, ParleyError } from '@parley/client'
import { admin, explain } from './api.ts'
import { patiently } from './patience.ts'

export const kinds = ['users', 'groups', 'members', 'messages'] as const
export type Kind = (typeof kinds)[number]

/** How far one file is. */
export interface Count {
  readonly read: number
  readonly stored: number
  readonly known: number
  readonly refused: number
}

/** A record that was not taken in, with its place and why. */
export interface Refused {
  readonly kind: Kind
  readonly line: number
  readonly record: unknown
  readonly code: string
  readonly reason: string
}

export interface ImportState {
  readonly phase: 'running' | 'done' | 'stopped' | 'failed'
  /** Nothing is stored: it only says what would be. */
  readonly isDry: boolean
  /** The last line of each file, by its name, that was dealt with. */
  readonly lines: Readonly<Record<string, number>>
  readonly counts: Readonly<Partial<Record<Kind, Count>>>
  readonly refused: readonly Refused[]
  /** Refused records beyond those that are shown. */
  readonly moreRefused: number
  /** Of all files, from 0 to 1. */
  readonly share: number
  readonly error?: unknown
}

const recordsPerRequest = 500
/** Characters of a request, well below what the service takes. */
const charactersPerRequest = 4_000_000
const mostRefused = 1_000
const nothing: Count = { read: 0, stored: 0, known: 0, refused: 0 }

/** What a record that is there already is answered with. */
const known: ReadonlySet<string> = new Set([
  'ERR_UID_ALREADY_EXISTS',
  'ERR_GUID_ALREADY_EXISTS',
  'ERR_ALREADY_JOINED',
  'ERR_IMPORT_MUID_ALREADY_EXISTS',
])

/** The kind of records that a file has, by its name: `users.ndjson`, `messages.ndjson.gz`. */
export function kindOf(name: string): Kind | undefined {
  const found = /^(users|groups|members|messages)\.ndjson(\.gz)?$/i.exec(name)?.[1]
  return found?.toLowerCase() as Kind | undefined
}

interface Line {
  readonly number: number
  readonly text: string
}

/** Deals with some lines of a file. */
type Deal = (kind: Kind, lines: readonly Line[], signal: AbortSignal) => Promise<Outcome>

/**
 * Imports files of records, one request after the other, so that the messages of a conversation keep their order. What is there
 * already is counted as known: a run that was stopped can simply be repeated.
 * @param onChange is called after each request
 * @param before how far an import of the same files came: it goes on there
 */
export function importFiles(
  client: AppClient,
  files: readonly File[],
  signal: AbortSignal,
  onChange: (state: ImportState) => void,
  before?: ImportState,
): Promise<void> {
  return goThrough(files, (kind, lines) => send(client, kind, lines, signal), signal, onChange, before)
}

/** Looks what an import of the files would make of them; nothing is stored. */
export function checkFiles(
  appId: string,
  files: readonly File[],
  signal: AbortSignal,
  onChange: (state: ImportState) => void,
): Promise<void> {
  const check = createCheck(appId)
  return goThrough(files, check, signal, (state) => onChange({ ...state, isDry: true }))
}

async function goThrough(
  files: readonly File[],
  deal: Deal,
  signal: AbortSignal,
  onChange: (state: ImportState) => void,
  before?: ImportState,
): Promise<void> {
  const counts: Partial<Record<Kind, Count>> = { ...before?.counts }
  const refused: Refused[] = [...(before?.refused ?? [])]
  const done: Record<string, number> = { ...before?.lines }
  let moreRefused = before?.moreRefused ?? 0
  const bytes = files.reduce((sum, file) => sum + file.size, 0)
  let bytesBefore = 0
  let share = 0
  const say = (phase: ImportState['phase'], error?: unknown) =>
    onChange({
      phase,
      isDry: false,
      lines: { ...done },
      counts: { ...counts },
      refused: [...refused],
      moreRefused,
      share,
      ...(error !== undefined && { error }),
    })
  const refuse = (one: Refused) => {
    if (refused.length < mostRefused) refused.push(one)
    else moreRefused++
  }

  try {
    say('running')
    for (const kind of kinds) {
      for (const file of files.filter(({ name }) => kindOf(name) === kind)) {
        let count = counts[kind] ?? nothing
        const from = done[file.name] ?? 0
        for await (const { lines: all, at } of portionsOf(file)) {
          if (signal.aborted) return say('stopped')
          const lines = all.filter(({ number }) => number > from)
          if (lines.length === 0) continue
          const outcome = await deal(kind, lines, signal)
          count = {
            read: count.read + lines.length,
            stored: count.stored + outcome.stored,
            known: count.known + outcome.known,
            refused: count.refused + outcome.refused.length,
          }
          counts[kind] = count
          outcome.refused.forEach(refuse)
          done[file.name] = lines.at(-1)?.number ?? from
          share = bytes === 0 ? 1 : (bytesBefore + at) / bytes
          say('running')
        }
        bytesBefore += file.size
      }
    }
    share = 1
    say('done')
  } catch (error) {
    say(signal.aborted ? 'stopped' : 'failed', signal.aborted ? undefined : error)
  }
}

/** Lines of a file, as many at once as one request takes. @returns with how many bytes of the file were read */
async function* portionsOf(file: File): AsyncGenerator<{ readonly lines: readonly Line[]; readonly at: number }> {
  let at = 0
  const counted = file.stream().pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        at += chunk.length
        controller.enqueue(chunk)
      },
    }),
  )
  const plain = file.name.endsWith('.gz')
    ? counted.pipeThrough(new DecompressionStream('gzip') as unknown as TransformStream<Uint8Array, Uint8Array>)
    : counted
  const reader = plain
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .getReader()
  let rest = ''
  let number = 0
  let lines: Line[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    const texts = (rest + (value ?? '')).split('\n')
    rest = done ? '' : (texts.pop() ?? '')
    for (const text of texts) {
      number++
      if (text.trim() === '') continue
      if (lines.length === recordsPerRequest || (size + text.length > charactersPerRequest && lines.length > 0)) {
        yield { lines, at }
        lines = []
        size = 0
      }
      lines.push({ number, text })
      size += text.length
    }
    if (done) break
  }
  if (lines.length > 0) yield { lines, at }
}

type Checked = AdminResult<'POST /apps/{appId}/import-checks'>[number]

const notFound: Readonly<Record<string, string>> = {
  users: 'ERR_UID_NOT_FOUND',
  groups: 'ERR_GUID_NOT_FOUND',
  roles: 'ERR_ROLE_NOT_FOUND',
}

/** Checks lines, and remembers what those before them would have made. */
function createCheck(appId: string): Deal {
  const made = new Set<string>()
  const flawOf = ({ state, code, reason, missing }: Checked, { record }: ReadRecord) => {
    if (state === 'refused') return { code: code ?? 'ERR_BAD_REQUEST', reason: reason ?? '' }
    const absent = missing.filter(({ name }) => !made.has(name))
    const [first] = absent
    if (first !== undefined) {
      const names = absent.map(({ name, path }) => `${path}: ${name}`).join(', ')
      const reason = `neither the app nor a record before has ${names}`
      return { code: notFound[first.name.split('/')[0] ?? ''] ?? 'ERR_BAD_REQUEST', reason }
    }
    const { parentMuid } = record
    if (typeof parentMuid !== 'string' || made.has(`messages/${parentMuid}`)) return undefined
    return { code: 'ERR_MESSAGE_ID_NOT_FOUND', reason: `no record before has the muid ${parentMuid}` }
  }
  return async (kind, lines, signal) => {
    const { records, refused } = read(kind, lines)
    const checked = await patiently(signal, () =>
      admin(
        'POST /apps/{appId}/import-checks',
        { appId, kind, records: records.map(({ record }) => record) },
        { signal },
      ),
    )
    let [stored, knownBefore] = [0, 0]
    for (const [index, one] of records.entries()) {
      const said = checked[index]
      if (said === undefined) throw new Error('The service said nothing about some records.')
      const isKnown = said.state === 'known' || (said.name !== undefined && made.has(said.name) && kind === 'messages')
      const flaw = isKnown ? undefined : flawOf(said, one)
      if (flaw !== undefined) refused.push({ kind, line: one.line.number, record: one.record, ...flaw })
      else if (isKnown) knownBefore++
      else stored++
      if (flaw === undefined) for (const name of [...said.makes, ...(said.name ? [said.name] : [])]) made.add(name)
    }
    return { stored, known: knownBefore, refused }
  }
}

interface Outcome {
  readonly stored: number
  readonly known: number
  readonly refused: readonly Refused[]
}

/** The name by which the answer tells of a record. */
const keyOf: Readonly<Record<Kind, (record: Record<string, unknown>) => string>> = {
  users: ({ uid }) => String(uid).toLowerCase(),
  groups: (record) => String(record.guid ?? (record.group as { guid?: unknown } | undefined)?.guid).toLowerCase(),
  members: ({ guid, uid }) => `${String(guid).toLowerCase()}_member_${String(uid).toLowerCase()}`,
  // As lists answer it, a message without a muid is known by its id.
  messages: ({ muid, id }) => String(muid ?? id),
}

/** The records of some lines, and the lines that hold none. */
function read(kind: Kind, lines: readonly Line[]): { readonly records: ReadRecord[]; readonly refused: Refused[] } {
  const refused: Refused[] = []
  const records: ReadRecord[] = []
  for (const line of lines) {
    try {
      records.push({ line, record: JSON.parse(line.text) })
    } catch {
      refused.push({ kind, line: line.number, record: line.text, code: 'ERR_BAD_REQUEST', reason: 'is not JSON' })
    }
  }
  return { records, refused }
}

async function send(client: AppClient, kind: Kind, lines: readonly Line[], signal: AbortSignal): Promise<Outcome> {
  const { records, refused } = read(kind, lines)
  const outcome = await sendRecords(client, kind, records, signal)
  return { ...outcome, refused: [...refused, ...outcome.refused] }
}

interface ReadRecord {
  readonly line: Line
  readonly record: Record<string, unknown>
}

/** Where the service refuses a request as a whole, for one of its records, that one is found by halves. */
async function sendRecords(
  client: AppClient,
  kind: Kind,
  records: readonly ReadRecord[],
  signal: AbortSignal,
): Promise<Outcome> {
  const first = records[0]
  if (first === undefined) return { stored: 0, known: 0, refused: [] }
  try {
    const bodies = records.map(({ record }) => record)
    return countOutcomes(kind, records, await ask(client, kind, bodies, signal))
  } catch (error) {
    if (!(error instanceof ParleyError) || error.status !== 400) throw error
    if (records.length === 1) {
      const { code = 'ERR_BAD_REQUEST' } = error
      const refused = { kind, line: first.line.number, record: first.record, code, reason: explain(error) }
      return { stored: 0, known: 0, refused: [refused] }
    }
    const middle = records.length >> 1
    const before = await sendRecords(client, kind, records.slice(0, middle), signal)
    const after = await sendRecords(client, kind, records.slice(middle), signal)
    return {
      stored: before.stored + after.stored,
      known: before.known + after.known,
      refused: [...before.refused, ...after.refused],
    }
  }
}

function countOutcomes(
  kind: Kind,
  records: readonly ReadRecord[],
  answer: Readonly<Record<string, RecordOutcome>>,
): Outcome {
  // Ids of users and groups are compared in lower case, those of messages as they are.
  const fold = (id: string) => (kind === 'messages' ? id : id.toLowerCase())
  const outcomes = new Map(Object.entries(answer).map(([key, outcome]) => [fold(key), outcome]))
  const refused: Refused[] = []
  let stored = 0
  let knownBefore = 0
  const seen = new Set<string>()
  for (const [index, { line, record }] of records.entries()) {
    const key = fold(keyOf[kind](record))
    // A record with the id of one before it is answered by its place.
    const outcome = outcomes.get(seen.has(key) ? `[${index}]` : key)
    seen.add(key)
    const { code = 'ERR_BAD_REQUEST', devMessage = 'The service said nothing about it.' } = outcome?.error ?? {}
    if (outcome?.success === true) stored++
    else if (known.has(code)) knownBefore++
    else refused.push({ kind, line: line.number, record, code, reason: devMessage })
  }
  return { stored, known: knownBefore, refused }
}

interface RecordOutcome {
  readonly success: boolean
  readonly error?: { readonly code: string; readonly devMessage: string }
}

/** Each record is stored once, however often it is sent. */
function ask(client: AppClient, kind: Kind, records: readonly object[], signal: AbortSignal) {
  const call = client.imports[kind] as (input: object, options: object) => Promise<Record<string, RecordOutcome>>
  return patiently(signal, () => call({ [kind]: records }, { signal, timeout: 120_000 }))
}
