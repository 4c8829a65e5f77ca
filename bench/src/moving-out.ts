import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { measureBeside } from './backup/beside.ts'
import { copyIn, copyOut } from './backup/copy.ts'
import { fillWorld } from './backup/world.ts'
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
  --seconds <n>      of sending without an export in each round; 15 without it
  --pace <pace>      of the exports beside which somebody sends; auto without it
  --sends            only what an export costs those who send
  --no-return        only exports, and imports nothing`

const { values: options } = parseArgs({
  options: {
    scale: { type: 'string', default: '0.3' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '15' },
    pace: { type: 'string', default: 'auto' },
    sends: { type: 'boolean', default: false },
    'no-return': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const program = fileURLToPath(new URL('../../server/dist/cli/main.js', import.meta.url))
const masterKey = '5a'.repeat(32)

if (options.help) console.log(usage)
else await withCleanup(run)

async function run(atEnd: AtEnd): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-export-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  const service = await startAt(atEnd)
  await fillWorld(service, Number(options.scale))
  const rows = options.sends ? [] : await measureExport(atEnd, service, folder)
  if (Number(options.rounds) > 0) rows.push(...(await beside(service, folder)))
  progress('')
  console.log(`${describeMachine()}\n`)
  console.log(renderGoals(rows).join('\n'))
}

async function measureExport(atEnd: AtEnd, service: Service, folder: string): Promise<Goal[]> {
  const first = join(folder, 'first')
  progress('plain COPY, out')
  const plainOut = await copyOut(service.database)
  progress('plain COPY, in')
  const plainIn = await copyIn(service.database)
  progress('an export at full pace')
  const quickest = await timed(() => parley(service, ['export', '--into', first, '--pace', 'full']))
  progress('an export that looks whether it may')
  const looking = await timed(() => parley(service, ['export', '--into', join(folder, 'looking')]))
  const { records, bytes } = sizeOf(first)
  const rate = (seconds: number) =>
    `${count(records / seconds)} records, ${(bytes / 1e6 / seconds).toFixed(1)} MB a second`
  return [
    told('what is exported', `${count(records)} records, ${(bytes / 1e6).toFixed(0)} MB`),
    told('plain COPY of all tables, one connection, thrown away', `${plainOut.seconds.toFixed(1)} s`),
    told('export at full pace, whole command', `${quickest.toFixed(1)} s: ${rate(quickest)}`),
    told('the same at the pace `auto`, next to nobody', `${looking.toFixed(1)} s: ${rate(looking)}`),
    told('plain COPY of messages into a table without index', `${plainIn.seconds.toFixed(1)} s`),
    ...(options['no-return'] ? [] : await thereAndBack(atEnd, folder, first, rate)),
  ]
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
  await parley(target, ['export', '--into', second, '--pace', 'full'])
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
  const place = join(folder, 'beside')
  return measureBeside(service, {
    ...{ what: 'an export', rounds: Number(options.rounds), seconds: Number(options.seconds) },
    run: (signal) =>
      parley(service, ['export', '--into', place, '--pace', options.pace], signal).finally(() =>
        rmSync(place, { recursive: true, force: true }),
      ),
  })
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
