import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Writable } from 'node:stream'
import { unsigned } from '../../media/links.ts'
import { type ExitCode, exitCodes, ImportFailure } from '../import/failure.ts'
import type { JsonRecord } from '../import/records.ts'
import { type ImportIo, runImport } from '../import/run.ts'
import { carryRest, carryRoles } from './carry-over.ts'
import { collect } from './collect.ts'
import { copyFiles, readAddresses, readOutdated } from './copy-files.ts'
import { openAgreements } from './follow/both-ways.ts'
import { openHints } from './follow/hints.ts'
import { openSides } from './follow/sides.ts'
import { follow } from './follow.ts'
import type { IdMap } from './id-map.ts'
import { learnIds, readIds } from './ids.ts'
import { type Journal, openJournal } from './journal.ts'
import { carryModeration } from './moderation.ts'
import { filesOf } from './named-files.ts'
import { createNotices, type NoticeCode, type Notices, notOverRest } from './notices.ts'
import { type MoveOptions, moveHelp, parseMoveOptions } from './options.ts'
import { prepareMessages, preparePeople } from './prepare.ts'
import { openRemote, type Remote } from './remote.ts'
import { freshState, type MoveState } from './state.ts'
import { takeTarget, wasEmpty } from './target.ts'
import { type Verdict, verify } from './verify.ts'

/** Runs `parley move-in` with its command line; answers the exit code. */
export async function moveInCommand(args: readonly string[], io: ImportIo): Promise<ExitCode> {
  try {
    const options = parseMoveOptions(args, io.env)
    if (options !== 'help') return await moveIn(options, io)
    io.stdout.write(moveHelp)
    return exitCodes.done
  } catch (error) {
    if (!(error instanceof ImportFailure)) throw error
    io.stderr.write(`parley move-in: ${error.message}\n`)
    if (error.exitCode === exitCodes.unreachable || error.exitCode === exitCodes.interrupted)
      io.stderr.write('Run it again with the same folder: it goes on where it was.\n')
    return error.exitCode
  }
}

const progressInterval = 5000

/** What the target should have and has not: then not everything was moved. */
const lost: ReadonlySet<string> = new Set<NoticeCode>(['file-not-copied', 'record-refused', 'relation-refused'])

async function moveIn(options: MoveOptions, { signal: asked, ...rest }: ImportIo): Promise<ExitCode> {
  // While it follows, Ctrl-C asks to cut over; what is under way goes on.
  const work = new AbortController()
  let isFollowing = false
  const stop = () => {
    if (!isFollowing) work.abort()
  }
  asked.addEventListener('abort', stop)
  if (asked.aborted) stop()
  const io: ImportIo = { ...rest, signal: work.signal }
  const folder = path.resolve(io.cwd, options.folder)
  // Every request that waits listens for its end.
  setMaxListeners(0, io.signal)
  const now = () => Math.floor(io.clock.now() / 1000)
  const note = (text: string) => void io.stderr.write(`${text}\n`)
  const { concurrency, insecure } = options
  const source = openRemote(
    { url: options.from, apiKey: options.apiKey, app: options.fromApp, concurrency, insecure },
    io.clock,
    io.signal,
    note,
  )
  const target = options.target && openRemote({ ...options.target, concurrency, insecure }, io.clock, io.signal, note)
  const journal = await openJournal(folder, source.name, freshState(now()))
  const notices = createNotices()
  const began = io.clock.now()
  const timer = setInterval(() => note(progressLine(journal, source, io.clock.now() - began)), progressInterval)
  const settled: Record<string, number> = {}
  let outcome: ExitCode = exitCodes.done
  try {
    if (target !== undefined) await takeTarget(options.folder, journal, target, { mayChange: !options.verify })
    if (options.verify && target !== undefined) {
      clearInterval(timer)
      const ids = await readIds(folder)
      const { without } = options
      const verdict = await verify({
        ...{ source, target, ids, folder, without, concurrency },
        addresses: await readAddresses(folder, target, journal.state),
        now: now(),
      })
      io.stdout.write(describeVerdict(verdict, folder))
      return verdict.isEqual ? exitCodes.done : exitCodes.refused
    }
    await collect({ source, journal, folder, concurrency, without: options.without, now })
    const seconds = (io.clock.now() - began) / 1000
    clearInterval(timer)
    note(progressLine(journal, source, seconds * 1000))
    const isMoved = journal.state.followed !== undefined
    const preparing = { folder, state: journal.state, notices, without: options.without, now: now() }
    if (!isMoved) await preparePeople(preparing)
    const carrying = target && { target, folder, state: journal.state, notices, counts: settled, concurrency }
    const isOwn = target !== undefined && (await wasEmpty(journal, target))
    if (carrying !== undefined && !isMoved) {
      await carryRoles(carrying)
      await carryModeration(carrying)
    }
    const importInto = async (to: NonNullable<MoveOptions['target']>, surroundings: ImportIo) =>
      runImport(
        {
          ...to,
          folder,
          batch: 500,
          concurrency: Math.min(concurrency, 8),
          dryRun: false,
          report: undefined,
          insecure,
          writesNewIds: false,
        },
        surroundings,
      )
    // Files go to somebody, so people come first; they are told of with the messages.
    if (options.target !== undefined && options.files && !isMoved)
      await importInto(options.target, { ...io, stdout: new Writable({ write: (_chunk, _encoding, done) => done() }) })
    const copied =
      options.files && !isMoved ? await copyFiles({ options, io, folder, journal, target, notices }) : undefined
    if (!isMoved) await prepareMessages(preparing, copied?.addresses ?? new Map())
    if (options.target !== undefined && target !== undefined && carrying !== undefined) {
      let ids: IdMap | undefined
      // Once it follows, what was read at first is no more the state of the source.
      if (!isMoved) {
        journal.state.handedTo = [...new Set([...(journal.state.handedTo ?? []), target.name])]
        await journal.save()
        outcome = await importInto(options.target, io)
        if (outcome !== exitCodes.done && outcome !== exitCodes.refused) return outcome
        const outdated = options.files ? await readOutdated(folder, target, journal.state) : new Set<string>()
        const meet = ({ id }: JsonRecord, there: JsonRecord) => {
          if (filesOf(there).some(({ url }) => outdated.has(unsigned(url))))
            notices.add('file-address-kept', String(id))
        }
        ids = await learnIds({ target, folder, journal, now: now(), meet })
        await carryRest(carrying, ids.to)
      }
      if (options.follow) {
        isFollowing = true
        const removes = isOwn && journal.state.cutOver === undefined
        const known = options.files ? await readAddresses(folder, target, journal.state) : new Map<string, string>()
        const sides = openSides({
          ...{ source, target, journal, notices, concurrency, removes },
          ids: ids ?? (await readIds(folder)),
          without: options.without,
          addresses: known,
          copy: async (files) => {
            if (options.files) await copyFiles({ options, io, folder, journal, target, notices, files, known })
          },
          now: io.clock.now,
        })
        journal.state.hook ??= `/hooks/${randomBytes(18).toString('base64url')}`
        const hints = options.webhooks && (await openHints(options.webhooks, journal.state.hook))
        if (hints !== undefined) note(`Webhooks are taken at port ${hints.port}, path ${journal.state.hook}`)
        await follow({
          ...{ sides, folder, journal, hints, note },
          agreements: await openAgreements(folder, journal),
          writesBack: options.writeBack,
          interval: options.interval * 1000,
          overlap: options.overlap,
          sweepEvery: options.sweep * 60_000,
          cutOver: asked,
          now: io.clock.now,
          sleep: (milliseconds) => io.clock.sleep(milliseconds, work.signal),
        }).finally(() => hints?.close())
        for (const [name, value] of Object.entries(sides.counts)) settled[`followed: ${name}`] = value
        for (const [id, code] of sides.refusedMessages) notices.add('message-refused', `${id}: ${code}`)
        if (sides.refusedMessages.size > 0) outcome = exitCodes.refused
      }
    }
    if (outcome === exitCodes.done && notices.list().some(({ code }) => lost.has(code))) outcome = exitCodes.refused
    await report({ options, io, folder, journal, source, notices, settled, files: copied?.counts ?? {}, seconds })
    return outcome
  } finally {
    clearInterval(timer)
    asked.removeEventListener('abort', stop)
    await journal.close()
    await source.close()
    await target?.close()
  }
}

function describeVerdict({ isEqual, differences, compared }: Verdict, folder: string): string {
  const named = differences.slice(0, 20).map(({ where, what }) => `  ${where} ${what}\n`)
  const result = isEqual
    ? `Equal: ${compared} tables compared, record by record.\n`
    : `${differences.length} differences:\n`
  return [
    result,
    ...named,
    `${path.join(folder, 'verify.md')} is for people who sign, verify.json has everything.\n`,
  ].join('')
}

/** The rate, and how long the rest takes: by the share of the time of the app that is read. */
function progressLine({ state }: Journal<MoveState>, { traffic }: Remote, milliseconds: number): string {
  const { spans, counts } = state
  const all = spans.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  const read = spans.reduce(
    (sum, { from, to, cursor, done }) => sum + (done ? to - from + 1 : (cursor?.sentAt ?? from) - from),
    0,
  )
  const share = all === 0 ? 0 : read / all
  const seconds = milliseconds / 1000
  const minutes = share > 0 && share < 1 ? `, about ${Math.ceil((seconds * (1 - share)) / share / 60)} min left` : ''
  const rate = Math.round((traffic.requests / Math.max(seconds, 1)) * 60)
  const limit = traffic.limit === undefined ? '' : ` of ${traffic.limit}`
  const messages = (counts.messages ?? 0).toLocaleString('en-US')
  return `${messages} messages (${Math.floor(share * 100)}% of the time), ${counts.users ?? 0} users; ${rate}${limit} requests a minute, ${traffic.limited} times limited${minutes}`
}

interface Reporting {
  readonly options: MoveOptions
  readonly io: ImportIo
  readonly folder: string
  readonly journal: Journal<MoveState>
  readonly source: Remote
  readonly notices: Notices
  readonly settled: JsonRecord
  readonly files: JsonRecord
  readonly seconds: number
}

async function report(reporting: Reporting): Promise<void> {
  const { options, io, folder, journal, source, notices, settled, files, seconds } = reporting
  const { traffic } = source
  const found = notices.list()
  const content = {
    from: options.from,
    into: options.target?.url ?? null,
    read: journal.state.counts,
    files,
    settled,
    leftOut: [...options.without, ...(options.files ? [] : ['files'])],
    notices: found,
    notOverRest,
    source: {
      ...traffic,
      seconds: Math.round(seconds),
      requestsPerMinute: Math.round((traffic.requests * 60) / Math.max(seconds, 1)),
    },
  }
  const file = path.join(folder, 'report.json')
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  const line = (name: string, value: unknown) => `${name.padEnd(24)} ${Number(value).toLocaleString('en-US')}\n`
  const lines = [
    'read\n',
    ...Object.entries(journal.state.counts).map(([name, value]) => `  ${line(name, value)}`),
    ...(Object.keys(files).length === 0
      ? []
      : ['files\n', ...Object.entries(files).map(([name, value]) => `  ${line(name, value)}`)]),
    ...(options.target === undefined
      ? []
      : ['set\n', ...Object.entries(settled).map(([name, value]) => `  ${line(name, value)}`)]),
    ...found.map(({ code, outcome, count }) => `${outcome.padEnd(8)} ${code.padEnd(26)} ${count}\n`),
    'Not to be had over REST:\n',
    ...notOverRest.map((text) => `  ${text}\n`),
    `${file} tells more.\n`,
    ...(options.target === undefined ? [`Next: parley import ${options.folder}\n`] : []),
  ]
  io.stdout.write(lines.join(''))
}
