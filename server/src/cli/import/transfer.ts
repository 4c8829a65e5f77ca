import { type ImportKind, importChecks } from '@parley/contract'
import { exitCodes, ImportFailure } from './failure.ts'
import { type InputFile, maxBodyBytes } from './input.ts'
import { openRecordReader } from './named.ts'
import type { NewIds } from './new-ids.ts'
import { openPartitions } from './partitions.ts'
import type { Progress } from './progress.ts'
import {
  type Aside,
  idFields,
  type JsonRecord,
  type Outgoing,
  type RecordError,
  type Refusal,
  toOutgoing,
} from './records.ts'
import type { Report } from './report.ts'
import type { BatchAnswer, Service } from './service.ts'
import { createSpellings, existsCodes, spelledOtherwise } from './spellings.ts'

/** What became of the records of one kind. */
export interface Tally {
  read: number
  stored: number
  alreadyThere: number
  refused: number
  /** Of those already there: how many came in a request that was sent again because its first answer was lost. */
  alreadyThereAfterRetry: number
  /** Messages whose muid is that of another message before them in the file; they were sent under one of their own. */
  renamed: number
  /** Messages of an export that were left aside, by the reason. */
  aside: Record<Aside, number>
  /** What records have that an import does not know: how many records have each of these members. */
  ignored: Map<string, number>
  /** Of those refused: how many name a user or group that did not exist at that time. */
  unknownReference: number
}

export interface Transfer {
  readonly service: Service
  readonly report: Report
  /** Undefined where nobody wants to know. */
  readonly newIds: NewIds | undefined
  readonly batch: number
  readonly concurrency: number
  readonly signal: AbortSignal
  /** The files are of an export, which has all that an app has. */
  readonly isExport: boolean
  readonly note: (text: string) => void
  /** The clock, in epoch seconds. */
  readonly now: number
  /** Messages stored or already there, by conversation. */
  readonly accepted: Map<string, number>
}

const unknownReferences = ['ERR_UID_NOT_FOUND', 'ERR_GUID_NOT_FOUND']

/** What may wait in memory between the reader and the requests. The more waits, the more of a conversation go together. */
const bufferBytes = 32 * 1024 * 1024

/** So many records in a row that the service answers with a 400 each, alone in a request, are no matter of records. */
const mostRefusedRequests = 20

export function emptyTally(): Tally {
  const none = {
    alreadyThereAfterRetry: 0,
    renamed: 0,
    aside: { held: 0, gone: 0 },
    ignored: new Map<string, number>(),
    unknownReference: 0,
  }
  return { read: 0, stored: 0, alreadyThere: 0, refused: 0, ...none }
}

/** Sends the records of one file to the service and counts what becomes of them in `tally`, also when it throws. */
export async function transferFile(
  file: InputFile,
  tally: Tally,
  progress: Progress,
  transfer: Transfer,
): Promise<void> {
  const send = makeSender(file.kind, tally, transfer)
  const seen = createSpellings()
  // What the service refuses for something else does not have its id.
  const isOtherSpelling = (kind: ImportKind, record: JsonRecord, key: string) =>
    kind !== 'messages' &&
    importChecks[kind](record, { now: transfer.now }).length === 0 &&
    seen(kind, key) === 'otherSpelling'
  const partitions = openPartitions({
    count: transfer.concurrency,
    batchRecords: transfer.batch,
    batchBytes: maxBodyBytes - 100,
    bufferBytes,
    send,
    signal: transfer.signal,
  })
  progress.start(file, () => ({
    read: tally.read,
    finished: tally.stored + tally.alreadyThere + tally.refused + tally.aside.held + tally.aside.gone,
  }))
  let readError: unknown
  try {
    const readRecord = await openRecordReader(file, transfer)
    reading: for await (const lines of file.lines()) {
      const refusals: Refusal[] = []
      for (const line of lines) {
        if (partitions.failed || transfer.signal.aborted) break reading
        tally.read += 1
        const result = readRecord(line)
        if ('refusal' in result) {
          refusals.push(result.refusal)
          continue
        }
        if ('aside' in result) {
          tally.aside[result.aside] += 1
          continue
        }
        const { key, record, ignored } = result
        for (const name of ignored) tally.ignored.set(name, (tally.ignored.get(name) ?? 0) + 1)
        if (isOtherSpelling(file.kind, record, key)) {
          refusals.push({ kind: file.kind, line: line.number, key, error: spelledOtherwise(file.kind), record })
          continue
        }
        if (result.name === 'shared') tally.renamed += 1
        const room = partitions.add(toOutgoing(file.kind, line, result))
        if (room !== undefined) await room
      }
      tally.refused += refusals.length
      await transfer.report.write(refusals)
    }
  } catch (error) {
    readError = error
  }
  try {
    // What was read before a damaged place in the file is still sent.
    await partitions.finish()
  } finally {
    progress.stop()
  }
  if (readError !== undefined) throw readError
}

/** Makes the function that sends a batch and books the answers. */
function makeSender(kind: ImportKind, tally: Tally, transfer: Transfer): (batch: readonly Outgoing[]) => Promise<void> {
  let refusedRequests = 0

  const send = async (batch: readonly Outgoing[], isWhole: boolean): Promise<void> => {
    const answer = await transfer.service.importRecords(kind, batch)
    if (answer.outcome === 'taken') {
      refusedRequests = 0
      await bookAnswers(kind, batch, answer, tally, transfer)
      return
    }
    const reason = `${answer.status} ${describe(answer.error)}`
    if (batch.length > 1) {
      // One record that makes the whole request unreadable must not stop its neighbours: halves find it.
      if (isWhole) transfer.note(`a request with ${batch.length} ${kind} was refused (${reason}); sending it in halves`)
      const middle = Math.ceil(batch.length / 2)
      await send(batch.slice(0, middle), false)
      if (!transfer.signal.aborted) await send(batch.slice(middle), false)
      return
    }
    refusedRequests += 1
    tally.refused += 1
    await transfer.report.write(batch.map((record) => toRefusal(kind, record, answer.error)))
    if (refusedRequests < mostRefusedRequests) return
    throw new ImportFailure(exitCodes.refused, `the service takes no ${kind} at all: ${reason}`)
  }
  return (batch) => send(batch, true)
}

async function bookAnswers(
  kind: ImportKind,
  batch: readonly Outgoing[],
  { records, resent }: Extract<BatchAnswer, { outcome: 'taken' }>,
  tally: Tally,
  { accepted, report, newIds }: Transfer,
): Promise<void> {
  const refusals: Refusal[] = []
  const pairs: { from: string; to: string }[] = []
  for (const record of batch) {
    const answer = records.get(record.key)
    const isThere = answer?.error?.code === existsCodes[kind] && !isOfAnother(kind, answer.error)
    if (answer?.success || isThere) {
      if (isThere) tally.alreadyThere += 1
      else tally.stored += 1
      if (isThere && resent) tally.alreadyThereAfterRetry += 1
      const { conversation, id } = record
      if (id !== undefined && answer.id !== undefined && answer.id !== id) pairs.push({ from: id, to: answer.id })
      if (conversation !== undefined) accepted.set(conversation, (accepted.get(conversation) ?? 0) + 1)
      continue
    }
    const error = answer?.error ?? { code: 'ERR_UNKNOWN', message: 'the service did not answer for this record' }
    if (unknownReferences.includes(error.code)) tally.unknownReference += 1
    refusals.push(toRefusal(kind, record, error))
  }
  tally.refused += refusals.length
  await Promise.all([report.write(refusals), newIds?.write(pairs)])
}

/** The service has this id, but of another record: counting it as already there would lose this one silently. */
function isOfAnother(kind: ImportKind, error: RecordError): boolean {
  return error.details?.some(({ path }) => path === idFields[kind]) === true
}

function toRefusal(kind: ImportKind, record: Outgoing, error: RecordError): Refusal {
  return { kind, line: record.line, key: record.key, error, record: JSON.parse(record.text) as unknown }
}

function describe({ code, devMessage, message }: RecordError): string {
  return [code, devMessage ?? message].filter((part) => part !== undefined).join(': ')
}
