import { stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ImportKind } from '@parley/contract'
import { type Comparison, compareCounts } from './compare.ts'
import { type DryTally, emptyDryTally, makeDryRun } from './dry-run.ts'
import { type ExitCode, exitCodes, ImportFailure } from './failure.ts'
import { findInputFiles, type InputFile } from './input.ts'
import { findLeftAside, isOfExport } from './left-aside.ts'
import { openNewIds } from './new-ids.ts'
import { type ImportOptions, importHelp, parseImportOptions } from './options.ts'
import { formatCount, openProgress, type Progress, type ProgressStream } from './progress.ts'
import { openReport, type Report } from './report.ts'
import { type Clock, openService, type Service } from './service.ts'
import { makeStandIns } from './stand-ins.ts'
import { formatComparison, formatDryTallies, formatLeftAside, formatTallies } from './summary.ts'
import { emptyTally, type Tally, transferFile } from './transfer.ts'

/** The surroundings of the command, so that tests can put theirs in place. */
export interface ImportIo {
  /** Results. */
  readonly stdout: NodeJS.WritableStream
  /** Progress, remarks, errors. */
  readonly stderr: ProgressStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborted to stop after the requests under way. */
  readonly signal: AbortSignal
  readonly clock: Clock
}

export const systemClock: Clock = {
  now: Date.now,
  sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
}

/** Runs `parley import` with its command line; answers the exit code. */
export async function importCommand(args: readonly string[], io: ImportIo): Promise<ExitCode> {
  try {
    const options = parseImportOptions(args, io.env)
    if (options !== 'help') return await runImport(options, io)
    io.stdout.write(importHelp)
    return exitCodes.done
  } catch (error) {
    return explain(error, io)
  }
}

/** Imports a folder, or with `dryRun` checks it; answers the exit code. */
export async function runImport(options: ImportOptions, io: ImportIo): Promise<ExitCode> {
  const progress = openProgress(io.stderr, io.clock.now)
  const service = openService(options, io.clock, io.signal, progress.note)
  try {
    const folder = path.resolve(io.cwd, options.folder)
    const found = await stat(folder).catch(() => undefined)
    if (!found?.isDirectory()) throw new ImportFailure(exitCodes.usage, `${folder} is not a folder`)
    const files = await findInputFiles(folder)
    const inputs = files.map((file) => file.path)
    const report = await openReport(options.report, folder, io.cwd, inputs, progress.note)
    try {
      const isExport = await isOfExport(folder)
      const run: Run = { options, io, service, files, report, progress, isExport }
      const code = options.dryRun ? await checkFiles(run) : await importFiles(run, folder)
      io.stdout.write(formatLeftAside(await findLeftAside(folder)))
      return code
    } finally {
      await report.close()
      if (report.lines > 0) io.stdout.write(`Refused records are in ${report.path}\n`)
    }
  } catch (error) {
    return explain(error, io)
  } finally {
    await service.close()
  }
}

interface Run {
  readonly options: ImportOptions
  readonly io: ImportIo
  readonly service: Service
  readonly files: readonly InputFile[]
  readonly report: Report
  readonly progress: Progress
  /** The folder is an export, which has all that an app has. */
  readonly isExport: boolean
}

async function importFiles(run: Run, folder: string): Promise<ExitCode> {
  const { options, io, service, files, report, progress, isExport } = run
  const newIds = options.writesNewIds === false ? undefined : await openNewIds(folder, io.cwd)
  const tallies = new Map<ImportKind, Tally>(files.map(({ kind }) => [kind, emptyTally()]))
  const accepted = new Map<string, number>()
  const { signal } = io
  const now = Math.floor(io.clock.now() / 1000)
  const transfer = { ...options, service, report, newIds, signal, isExport, accepted, note: progress.note, now }
  const ofStandIns = emptyTally()
  try {
    for (const file of files) {
      if (signal.aborted) break
      const standIns = await standInsFor(file, run)
      if (standIns !== undefined) await transferFile(standIns, ofStandIns, progress, transfer)
      if (!signal.aborted) await transferFile(file, tallies.get(file.kind)!, progress, transfer)
    }
  } finally {
    io.stdout.write(formatTallies(tallies, ofStandIns.stored + ofStandIns.alreadyThere))
    await newIds?.close()
    if (newIds !== undefined && newIds.lines > 0)
      io.stdout.write(
        `New ids were drawn for ${formatCount(newIds.lines)} messages: ${newIds.path} has the old and the new ones.\n`,
      )
  }
  if (signal.aborted) throw new ImportFailure(exitCodes.interrupted, 'stopped')
  const messages = files.find(({ kind }) => kind === 'messages')
  if (messages === undefined) return report.lines === 0 ? exitCodes.done : exitCodes.refused
  const comparison = await tryToCompare(() => compareCounts(service, accepted, messages))
  io.stdout.write(formatComparison(comparison))
  const isWhole = report.lines === 0 && 'fewer' in comparison && comparison.fewer.length === 0
  return isWhole ? exitCodes.done : exitCodes.refused
}

/** What is stored by now is stored, also where the service does not answer any more. */
async function tryToCompare(compare: () => Promise<Comparison>): Promise<Comparison | { readonly problem: string }> {
  try {
    return await compare()
  } catch (error) {
    if (!(error instanceof ImportFailure) || error.exitCode !== exitCodes.unreachable) throw error
    return { problem: error.message }
  }
}

/** Those who take the places of users that were deleted for good come before the messages of an export. */
async function standInsFor({ kind }: InputFile, { files, io, isExport }: Run): Promise<InputFile | undefined> {
  const [users, messages] = ['users', 'messages'].map((name) => files.find((file) => file.kind === name))
  if (kind !== 'messages' || messages === undefined || !isExport) return undefined
  return makeStandIns(users, messages, { signal: io.signal, now: Math.floor(io.clock.now() / 1000) })
}

async function checkFiles(run: Run): Promise<ExitCode> {
  const { options, io, service, files, report, progress, isExport } = run
  const tallies = new Map<ImportKind, DryTally>(files.map(({ kind }) => [kind, emptyDryTally()]))
  const checkFile = makeDryRun({
    report,
    lookUp: options.apiKey === undefined ? undefined : ({ collection, id }) => service.has(collection, id),
    concurrency: options.concurrency,
    signal: io.signal,
    isExport,
    now: Math.floor(io.clock.now() / 1000),
  })
  const ofStandIns = emptyDryTally()
  try {
    for (const file of files) {
      const standIns = await standInsFor(file, run)
      if (standIns !== undefined) await checkFile(standIns, ofStandIns, progress)
      await checkFile(file, tallies.get(file.kind)!, progress)
    }
  } finally {
    io.stdout.write(formatDryTallies(tallies, ofStandIns.good))
  }
  if (io.signal.aborted) throw new ImportFailure(exitCodes.interrupted, 'stopped')
  return report.lines === 0 ? exitCodes.done : exitCodes.refused
}

function explain(error: unknown, io: ImportIo): ExitCode {
  if (!(error instanceof ImportFailure)) throw error
  io.stderr.write(`parley import: ${error.message}\n`)
  if (error.exitCode === exitCodes.unreachable || error.exitCode === exitCodes.interrupted) {
    io.stderr.write('Running the import again is safe: it goes on with what is not there yet.\n')
  }
  return error.exitCode
}
