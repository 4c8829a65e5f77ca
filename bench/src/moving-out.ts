import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { copyIn, copyOut } from './backup/copy.ts'
import { type Latencies, percentile, sendAtPace } from './backup/open-loop.ts'
import { fillWorld, messageOf } from './backup/world.ts'
import { type AtEnd, withCleanup } from './cleanup.ts'
import type { Goal } from './goals.ts'
import { progress } from './progress.ts'
import { type Service, startService } from './service.ts'
import { describeMachine, renderGoals } from './table.ts'

const usage = `npm run bench:moving-out -- [options]
Exports a world, imports it exactly into an empty service, exports that again, and compares both, byte for byte, beside plain COPY;
then what an export costs those who send meanwhile, at 500 a second whatever becomes of those before.
  --scale <factor>   of a world with a million messages; 0.3 without it
  --rounds <n>       of sending without an export and beside one; 3 without it, 0: not
  --no-return        only exports, and imports nothing`

const { values: options } = parseArgs({
  options: {
    scale: { type: 'string', default: '0.3' },
    rounds: { type: 'string', default: '3' },
    'no-return': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const program = fileURLToPath(new URL('../../server/dist/cli/main.js', import.meta.url))
const perSecond = 500
const masterKey = '5a'.repeat(32)
/** So many times as long as alone, and a minute at least, an export may take beside senders: then it is ended and said to be late. */
const longest = 10

if (options.help) console.log(usage)
else await withCleanup(run)

async function run(atEnd: AtEnd): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-export-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  const service = await startAt(atEnd)
  await fillWorld(service, Number(options.scale))
  const first = join(folder, 'first')
  progress('plain COPY, out')
  const plainOut = await copyOut(service.database)
  progress('plain COPY, in')
  const plainIn = await copyIn(service.database)
  progress('an export that does not rest')
  const quickest = await timed(() => parley(service, ['export', '--into', first, '--rest', '0']))
  const { records, bytes } = sizeOf(first)
  const rate = (seconds: number) =>
    `${count(records / seconds)} records, ${(bytes / 1e6 / seconds).toFixed(1)} MB a second`
  const rows: Goal[] = [
    told('what is exported', `${count(records)} records, ${(bytes / 1e6).toFixed(0)} MB`),
    told('plain COPY of all tables, one connection, thrown away', `${plainOut.seconds.toFixed(1)} s`),
    told('export that does not rest, whole command', `${quickest.toFixed(1)} s: ${rate(quickest)}`),
    told('plain COPY of messages into a table without index', `${plainIn.seconds.toFixed(1)} s`),
  ]
  if (!options['no-return']) rows.push(...(await thereAndBack(atEnd, folder, first, rate)))
  if (Number(options.rounds) > 0) rows.push(...(await beside(service, folder)))
  progress('')
  console.log(`${describeMachine()}\n`)
  console.log(renderGoals(rows).join('\n'))
}

async function startAt(atEnd: AtEnd): Promise<Service> {
  const service = await startService({ env: { PARLEY_MASTER_KEY: masterKey } })
  atEnd(() => service.stop())
  return service
}

/** Runs a command on the database of a service. @param signal ends it */
function parley({ database }: Service, args: readonly string[], signal?: AbortSignal) {
  const { host, port, user, password, database: name } = database
  const url = `postgresql://${user}:${password}@localhost:${port}/${name}?host=${encodeURIComponent(String(host))}`
  const data = mkdtempSync(join(tmpdir(), 'parley-bench-none-'))
  const env = {
    ...{ PATH: process.env.PATH, DATABASE_URL: url, PARLEY_MASTER_KEY: masterKey, DATA_DIR: data },
    PARLEY_EXPORT_PASSPHRASE: 'correct horse battery',
  }
  return promisify(execFile)(process.execPath, [program, ...args], { env, maxBuffer: 1 << 26, signal }).finally(() =>
    rmSync(data, { recursive: true, force: true }),
  )
}

async function thereAndBack(
  atEnd: AtEnd,
  folder: string,
  first: string,
  rate: (seconds: number) => string,
): Promise<Goal[]> {
  const target = await startAt(atEnd)
  progress('the same app in an empty service')
  const imported = await timed(() => parley(target, ['import', first, '--exact']))
  const second = join(folder, 'second')
  progress('an export of that')
  await parley(target, ['export', '--into', second, '--rest', '0'])
  const different = filesOf(first).filter((name) => !isSame(name, first, second))
  await target.stop()
  return [
    told('exact import into an empty service, whole command', `${imported.toFixed(1)} s: ${rate(imported)}`),
    {
      name: 'files that differ when it is exported again',
      goal: 'none',
      reached: different.length === 0 ? `none of ${filesOf(first).length}` : different.join(', '),
      met: different.length === 0,
    },
  ]
}

interface Written {
  readonly records: number
  readonly bytes: number
}

function manifestOf(folder: string): Record<string, Written> {
  return (JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as { files: Record<string, Written> }).files
}

function filesOf(folder: string): string[] {
  return Object.keys(manifestOf(folder))
}

function sizeOf(folder: string): Written {
  const sum = (of: keyof Written) => Object.values(manifestOf(folder)).reduce((total, file) => total + file[of], 0)
  return { records: sum('records'), bytes: sum('bytes') }
}

/** The audit log of the new service has what the import did besides; what is sealed is sealed anew each time. */
function isSame(name: string, first: string, second: string): boolean {
  const [was, is] = [first, second].map((folder) => readFileSync(join(folder, name)))
  if (name === 'secrets.ndjson.sealed') return true
  if (name !== 'audit.ndjson') return is!.equals(was!)
  const lines = new Set(is!.toString('utf8').split('\n'))
  return was!
    .toString('utf8')
    .split('\n')
    .every((line) => lines.has(line))
}

/** What an export costs those who send. */
async function beside(service: Service, folder: string): Promise<Goal[]> {
  const all: { alone: Latencies; during: Latencies; seconds: number | undefined }[] = []
  const export_ = (place: string, signal?: AbortSignal) =>
    timed(() => parley(service, ['export', '--into', join(folder, place)], signal))
  const seconds = await export_('measured')
  for (let round = 1; round <= Number(options.rounds); round++) {
    progress(`sends at ${perSecond} a second, round ${round}, alone`)
    const until = performance.now() + Math.max(8, seconds) * 1000
    const alone = await sendAtPace(service.port, perSecond, messageOf(service), () => performance.now() > until)
    await delay(1000)
    progress(`sends at ${perSecond} a second, round ${round}, beside an export`)
    const limit = AbortSignal.timeout(Math.ceil(Math.max(60, seconds * longest) * 1000))
    let isOver = false
    const [during, took] = await Promise.all([
      sendAtPace(service.port, perSecond, messageOf(service), () => isOver),
      export_(`round-${round}`, limit)
        .catch((error: unknown) => {
          if (!limit.aborted) throw error
          return undefined
        })
        .finally(() => {
          isOver = true
        }),
    ])
    all.push({ alone, during, seconds: took })
    rmSync(join(folder, `round-${round}`), { recursive: true, force: true })
    await delay(1000)
  }
  const p99 = ({ values }: Latencies) => percentile(values, 0.99)
  const middle = percentile(
    all.map(({ alone, during }) => p99(during) / p99(alone)),
    0.5,
  )
  const sent = all.flatMap(({ alone, during }) => [alone, during])
  const failures = sent.reduce((sum, { failures }) => sum + failures, 0)
  const behind = sent.filter(({ isBehind }) => isBehind).length
  const list = (values: readonly number[], unit: string) =>
    values.map((value) => `${value.toFixed(1)} ${unit}`).join(', ')
  const late = all.filter(({ seconds }) => seconds === undefined).length
  const over = all.flatMap(({ seconds }) => seconds ?? [])
  return [
    told('an export as it is usually made, alone', `${seconds.toFixed(1)} s`),
    told(`the same beside those who send`, `${list(over, 's')}${late > 0 ? `; ${late} not over in time` : ''}`),
    told(
      'p99 of sends, alone',
      list(
        all.map(({ alone }) => p99(alone)),
        'ms',
      ),
    ),
    told(
      'p99 of sends, beside an export',
      list(
        all.map(({ during }) => p99(during)),
        'ms',
      ),
    ),
    told('sends that waited at once, at most', String(Math.max(...sent.map(({ waiting }) => waiting)))),
    {
      name: 'the middle of how much higher',
      goal: 'at most 25 %',
      reached: `${((middle - 1) * 100).toFixed(0)} %`,
      met: middle <= 1.25,
    },
    { name: 'sends that failed', goal: '0', reached: String(failures), met: failures === 0 },
    { name: 'times that the pace could not be kept', goal: '0', reached: String(behind), met: behind === 0 },
  ]
}

function told(name: string, reached: string): Goal {
  return { name, goal: '', reached, met: true }
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}
