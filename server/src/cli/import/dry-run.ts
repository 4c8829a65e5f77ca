import { type ErrorCode, type ImportKind, importChecks, readEpochSeconds, summariseImportFlaws } from '@parley/contract'
import { linksOf, type Reference } from '../../areas/data-import/index.ts'
import { createDigestSet } from './digest.ts'
import type { InputFile, Line } from './input.ts'
import { openRecordReader } from './named.ts'
import type { Progress } from './progress.ts'
import {
  type Aside,
  conversationOf,
  type JsonRecord,
  type ReadLine,
  type RecordError,
  type Refusal,
} from './records.ts'
import type { Report } from './report.ts'
import { createSpellings, existsCodes, spelledOtherwise } from './spellings.ts'

/** What a dry run found out about the records of one kind. */
export interface DryTally {
  read: number
  good: number
  /** Not as the contract asks. */
  refused: number
  /** The id stands in the file before: the service would answer that it is already there. */
  repeated: number
  /** Naming something that neither the files nor, as far as it was asked, the service has. */
  unknownReference: number
  /** Messages of an export that would be left aside, by the reason. */
  aside: Record<Aside, number>
  /** What records have that an import does not know: how many records have each of these members. */
  ignored: Map<string, number>
}

export interface DryRunOptions {
  readonly report: Report
  /** Asks the service whether it has something; undefined where there is no service to ask. */
  readonly lookUp: ((reference: Reference) => Promise<boolean>) | undefined
  /** Lookups at the same time. */
  readonly concurrency: number
  readonly signal: AbortSignal
  /** The files are of an export, which has all that an app has. */
  readonly isExport: boolean
  /** The clock, in epoch seconds. */
  readonly now: number
}

type Finding = 'refused' | 'repeated' | 'unknownReference'

/** What is known of one record before the service is asked. */
interface Result {
  readonly line: Line
  readonly key: string | null
  readonly record: unknown
  readonly found?: { readonly finding: Finding; readonly error: RecordError }
  /** What the files so far do not hold. */
  readonly needed: readonly Reference[]
  readonly ignored?: readonly string[]
  readonly aside?: Aside
}

export function emptyDryTally(): DryTally {
  return {
    read: 0,
    good: 0,
    refused: 0,
    repeated: 0,
    unknownReference: 0,
    aside: { held: 0, gone: 0 },
    ignored: new Map(),
  }
}

/**
 * Makes the function that checks one file and counts in `tally`. Files are to be checked in the order of importing, so
 * that each may count on what those before it bring.
 */
export function makeDryRun(
  options: DryRunOptions,
): (file: InputFile, tally: DryTally, progress: Progress) => Promise<void> {
  const check = makeCheck(options.now)
  const findMissing = options.lookUp === undefined ? assumeMissing : makeLookup(options.lookUp, options.concurrency)
  const where = options.lookUp === undefined ? 'in these files' : 'in these files or in the service'

  return async (file, tally, progress) => {
    const { kind } = file
    const store = async (results: readonly Result[]) => {
      const missing = await findMissing(results.flatMap(({ needed }) => needed))
      const refusals: Refusal[] = []
      for (const { line, key, record, needed, found, aside, ignored = [] } of results) {
        if (aside !== undefined) {
          tally.aside[aside] += 1
          continue
        }
        for (const name of ignored) tally.ignored.set(name, (tally.ignored.get(name) ?? 0) + 1)
        const absent = needed.filter((reference) => missing.has(nameOf(reference)))
        const trouble =
          found ?? (absent.length === 0 ? undefined : { finding: 'unknownReference', error: notFound(absent, where) })
        tally[trouble?.finding ?? 'good'] += 1
        if (trouble !== undefined) refusals.push({ kind, line: line.number, key, error: trouble.error, record })
      }
      await options.report.write(refusals)
    }
    const count = () => {
      const { read, good, refused, repeated, unknownReference, aside } = tally
      return { read, finished: good + refused + repeated + unknownReference + aside.held + aside.gone }
    }
    progress.start(file, count)
    try {
      const readRecord = await openRecordReader(file, options)
      for await (const lines of file.lines()) {
        if (options.signal.aborted) return
        tally.read += lines.length
        await store(lines.map((line) => check(kind, line, readRecord(line))))
      }
    } finally {
      progress.stop()
    }
  }
}

/** What the names of messages say of their ids. */
const seenAs = { first: 'no', repeat: 'same', shared: 'no' } as const

/** Makes the check of one line after the other: all that can be told from the files. It remembers what it has seen. */
function makeCheck(now: number): (kind: ImportKind, line: Line, parsed: ReadLine) => Result {
  const checkNamed = makeCheckOfNamed()
  const seenBefore = createSpellings()
  const made = createDigestSet()
  const groupCreation = new Map<string, number>()

  return (kind, line, parsed) => {
    if ('refusal' in parsed) {
      const { key, record, error } = parsed.refusal
      return { line, key, record, needed: [], found: { finding: 'refused', error } }
    }
    if ('aside' in parsed) return { line, key: null, record: null, needed: [], aside: parsed.aside }
    const { record, key, name, ignored } = parsed
    const result = { line, key, record, ignored, needed: [] }
    const find = (finding: Finding, error: RecordError): Result => ({ ...result, found: { finding, error } })

    const flaws = importChecks[kind](record, { now })
    if (flaws.length > 0) return find('refused', summariseImportFlaws(flaws))
    if (kind === 'members' && joinsTooEarly(record, groupCreation)) {
      return find('refused', {
        code: 'ERR_IMPORT_INVALID_JOINEDAT',
        message: 'joinedAt is before createdAt of the group',
      })
    }
    const seen = name !== undefined ? seenAs[name] : seenBefore(kind, key)
    if (seen === 'otherSpelling') return find('refused', spelledOtherwise(kind))
    if (seen === 'same') {
      return find('repeated', { code: existsCodes[kind], message: 'an earlier line of the file has the same id' })
    }
    if (kind === 'groups') rememberCreation(record, groupCreation)
    const trouble = kind === 'messages' ? checkNamed(record, key) : undefined
    if (trouble !== undefined) return find(...trouble)
    const links = linksOf(kind, record)
    for (const entity of links.made) made.add(nameOf(entity))
    return { ...result, needed: links.needed.filter((reference) => !made.has(nameOf(reference))) }
  }
}

/** Makes the check of one message after the other: whether those that they name are there, and in the same conversation. */
function makeCheckOfNamed(): (record: JsonRecord, key: string | null) => [Finding, RecordError] | undefined {
  const seen = createDigestSet()
  const replies = createDigestSet()
  return (record, muid) => {
    const { parentMuid, subjectMuid } = record
    const nameIn = (named: unknown) => `${conversationOf(record)} ${named}`
    seen.add(nameIn(muid))
    const findNamed = (named: unknown, code: ErrorCode): [Finding, RecordError] | undefined => {
      if (typeof named !== 'string' || seen.has(nameIn(named))) return undefined
      const message = `unknown reference: no earlier message of this conversation in these files has the muid ${named}`
      return ['unknownReference', { code, message }]
    }
    if (typeof parentMuid === 'string') {
      if (replies.has(nameIn(parentMuid))) {
        return [
          'refused',
          { code: 'ERR_MESSAGE_THREAD_NESTING', message: `parentMuid ${parentMuid} is a reply itself.` },
        ]
      }
      replies.add(nameIn(muid))
    }
    return findNamed(parentMuid, 'ERR_WRONG_MESSAGE_THREAD') ?? findNamed(subjectMuid, 'ERR_MESSAGE_ID_NOT_FOUND')
  }
}

const notFoundCodes = {
  users: 'ERR_UID_NOT_FOUND',
  groups: 'ERR_GUID_NOT_FOUND',
  roles: 'ERR_ROLE_NOT_FOUND',
} as const satisfies Record<Reference['collection'], ErrorCode>

function notFound(absent: readonly Reference[], where: string): RecordError {
  const details = absent.map(({ path, id }) => ({ path, message: `unknown reference: ${id} is not ${where}` }))
  return { code: notFoundCodes[absent[0]!.collection], details }
}

function nameOf({ collection, id }: Pick<Reference, 'collection' | 'id'>): string {
  return `${collection}/${id}`
}

/** Without a service to ask, what the files do not hold counts as missing; but roles are never in the files. */
async function assumeMissing(references: readonly Reference[]): Promise<Set<string>> {
  return new Set(references.filter(({ collection }) => collection !== 'roles').map(nameOf))
}

/** Makes the function that tells which of some references the service does not have; each is asked for once. */
function makeLookup(lookUp: (reference: Reference) => Promise<boolean>, concurrency: number) {
  const there = createDigestSet()
  const missing = createDigestSet()
  return async (references: readonly Reference[]): Promise<Set<string>> => {
    const unasked = references.filter((reference) => !there.has(nameOf(reference)) && !missing.has(nameOf(reference)))
    const queue = new Map(unasked.map((reference) => [nameOf(reference), reference])).entries()
    const ask = async () => {
      for (const [name, reference] of queue) ((await lookUp(reference)) ? there : missing).add(name)
    }
    await Promise.all(Array.from({ length: concurrency }, ask))
    return new Set(references.map(nameOf).filter((name) => missing.has(name)))
  }
}

function rememberCreation(group: JsonRecord, groupCreation: Map<string, number>): void {
  const createdAt = readEpochSeconds(group.createdAt)
  if (createdAt !== undefined) groupCreation.set(String(group.guid).toLowerCase(), createdAt)
}

function joinsTooEarly(member: JsonRecord, groupCreation: ReadonlyMap<string, number>): boolean {
  const joinedAt = readEpochSeconds(member.joinedAt)
  const createdAt = groupCreation.get(String(member.guid).toLowerCase())
  return joinedAt !== undefined && createdAt !== undefined && joinedAt < createdAt
}
