import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { measureBeside } from './backup/beside.ts'
import { type Copied, copyIn, copyOut } from './backup/copy.ts'
import { fillWorld } from './backup/world.ts'
import { type AtEnd, withCleanup } from './cleanup.ts'
import type { Goal } from './goals.ts'
import { progress } from './progress.ts'
import { type Service, startService } from './service.ts'
import { describeMachine, renderGoals } from './table.ts'

const usage = `npm run bench:backup -- [options]
Measures how fast a database is backed up and restored, beside plain COPY, and what a backup costs those who send meanwhile.
  --scale <factor>   of a world with a million messages; 0.3 without it
  --rounds <n>       of sending without a backup and beside one; 3 without it
  --seconds <n>      of sending without a backup in each round; 15 without it
  --pace <pace>      of the backups beside which somebody sends; auto without it
  --sends            only what a backup costs those who send
  --quick            a small world and one short round, to see that everything works`

const { values: options } = parseArgs({
  options: {
    scale: { type: 'string', default: '0.3' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '15' },
    pace: { type: 'string', default: 'auto' },
    sends: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const program = fileURLToPath(new URL('../../server/dist/cli/main.js', import.meta.url))

if (options.help) console.log(usage)
else await withCleanup(run)

async function run(atEnd: AtEnd): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-backup-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  const masterKey = '5a'.repeat(32)
  const service = await startService({ env: { PARLEY_MASTER_KEY: masterKey } })
  atEnd(() => service.stop())
  const scale = options.quick ? 0.01 : Number(options.scale)
  await fillWorld(service, scale)

  const { host, port, user, password, database } = service.database
  const url = `postgresql://${user}:${password}@localhost:${port}/${database}?host=${encodeURIComponent(String(host))}`
  const environment = {
    ...{ PATH: process.env.PATH, DATABASE_URL: url, PARLEY_MASTER_KEY: masterKey },
    ...{ BACKUP_TO: join(folder, 'backups'), DATA_DIR: join(folder, 'none') },
  }
  const parley = (args: string[], more: Record<string, string> = {}) =>
    promisify(execFile)(process.execPath, [program, ...args], { env: { ...environment, ...more } })

  const rates = options.sends ? undefined : await measureRates(service, parley, folder)

  const beside = await measureBeside(service, {
    ...{ what: 'a backup', rounds: options.quick ? 1 : Number(options.rounds) },
    seconds: options.quick ? 2 : Number(options.seconds),
    run: () => parley(['backup', '--keep', '2', '--pace', options.pace]),
  })
  progress('')
  console.log(`${describeMachine()}\n`)
  console.log(renderGoals([...(rates === undefined ? [] : rows(rates)), ...beside]).join('\n'))
}

type Command = (args: string[], more?: Record<string, string>) => Promise<unknown>

/** How long whole commands take, in seconds, beside plain COPY. */
interface Rates {
  readonly plainOut: Copied
  readonly plainIn: Copied
  readonly backed: number
  readonly looking: number
  readonly restored: number
}

async function measureRates(service: Service, parley: Command, folder: string): Promise<Rates> {
  progress('plain COPY, out')
  const plainOut = await copyOut(service.database)
  progress('a backup')
  const backed = await timed(() => parley(['backup', '--keep', '2', '--pace', 'full']))
  progress('a backup that looks whether it may')
  const looking = await timed(() => parley(['backup', '--keep', '2']))
  progress('plain COPY, in')
  const plainIn = await copyIn(service.database)
  progress('a restore')
  mkdirSync(join(folder, 'restored'))
  const restoring = { DATABASE_URL: '', DATA_DIR: join(folder, 'restored') }
  return { plainOut, plainIn, backed, looking, restored: await timed(() => parley(['restore'], restoring)) }
}

function row(name: string, reached: string): Goal {
  return { name, goal: '', reached, met: true }
}

function rows({ plainOut, plainIn, backed, looking, restored }: Rates): Goal[] {
  const rate = (bytes: number, seconds: number) => `${(bytes / 1e6 / seconds).toFixed(1)} MB/s`
  return [
    row('rows of the database, as text', `${(plainOut.bytes / 1e6).toFixed(0)} MB`),
    row('plain COPY out, one connection, thrown away', rate(plainOut.bytes, plainOut.seconds)),
    row('backup at full pace: packed, with checksums, whole command', rate(plainOut.bytes, backed)),
    row('the same at the pace `auto`, next to nobody', rate(plainOut.bytes, looking)),
    row('plain COPY of messages into a table without index', rate(plainIn.bytes, plainIn.seconds)),
    row('restore: with check, initdb, indexes, whole command', rate(plainOut.bytes, restored)),
  ]
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}
