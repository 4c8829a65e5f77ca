#!/usr/bin/env node
import dotenv from 'dotenv'
import { lowerOwnPriority } from '../store/priority.ts'
import { version } from '../version.ts'
import type { ImportIo } from './import/run.ts'

const help = `Usage: parley [<command>]

Commands:
  start             run the service, configured by environment variables; the same without a command
  import <folder>   import the data of another chat system into a running service (parley import --help)
  export            write everything that an app is into a folder (parley export --help)
  move-in           move an app in from a hosted service with the same API (parley move-in --help)
  convert <system>  make an import folder of an export of Slack, Mattermost or Rocket.Chat (parley convert --help)
  apps <command>    create apps, change their settings, list their keys (parley apps --help)
  audit <app>       print the audit log of an app (parley audit --help)
  operators <cmd>   list operators, or print the address at which somebody becomes an owner (parley operators --help)
  keys <command>    change API keys, auth keys and the master key of a running service (parley keys --help)
  doctor            recompute all derived values and report differences (parley doctor --help)
  backup            copy the database and the files while the service runs (parley backup --help)
  restore           bring a backup back (parley restore --help)
  verify-backup     check a backup, on request by restoring it (parley verify-backup --help)
  database move     move the database from the embedded PostgreSQL to an external one, or back (parley database --help)
  held <command>    list what a restore holds back, or have it sent (parley held --help)
  health            ask a running service on this machine whether it is alive (parley health --help)

Options:
  --version         show the version
  --help            show this text
`

const [command = 'start', ...args] = process.argv.slice(2)

// Whoever reads what a command prints may stop before its end, as `head` does. The command goes on, and says no more.
if (command !== 'start') {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  }
}

// Only what the command needs is loaded: a probe comes every few seconds.
if (command === 'start' && args.length === 0) {
  await import('../main.ts')
} else if (command === 'import') {
  process.exitCode = await importFolder()
} else if (command === 'export') {
  lowerOwnPriority()
  process.exitCode = await (await import('./export/run.ts')).exportCommand(args, await surroundings())
} else if (command === 'move-in') {
  process.exitCode = await moveIn()
} else if (command === 'convert') {
  process.exitCode = await (await import('./convert/run.ts')).convertCommand(args)
} else if (command === 'apps') {
  process.exitCode = await (await import('./apps.ts')).appsCommand(args)
} else if (command === 'audit') {
  process.exitCode = await (await import('./audit.ts')).auditCommand(args)
} else if (command === 'operators') {
  process.exitCode = await (await import('./operators.ts')).operatorsCommand(args)
} else if (command === 'keys') {
  process.exitCode = await (await import('./keys.ts')).keysCommand(args)
} else if (command === 'doctor') {
  process.exitCode = await (await import('./doctor.ts')).doctorCommand(args)
} else if (command === 'backup') {
  lowerOwnPriority()
  process.exitCode = await (await import('./backup.ts')).backupCommand(args)
} else if (command === 'restore') {
  process.exitCode = await (await import('./restore.ts')).restoreCommand(args)
} else if (command === 'verify-backup') {
  process.exitCode = await (await import('./verify-backup.ts')).verifyBackupCommand(args)
} else if (command === 'database') {
  process.exitCode = await (await import('./move-database.ts')).databaseCommand(args)
} else if (command === 'held') {
  process.exitCode = await (await import('./held.ts')).heldCommand(args)
} else if (command === 'health') {
  process.exitCode = await (await import('./health.ts')).healthCommand(args)
} else if (command === '--version') {
  process.stdout.write(`${version}\n`)
} else if (command === '--help' || command === '-h') {
  process.stdout.write(help)
} else {
  process.stderr.write(`parley: there is no "${[command, ...args].join(' ')}"\n\n${help}`)
  process.exitCode = 2
}

async function importFolder(): Promise<number> {
  if (args.includes('--exact')) {
    return (await import('./import/exact/run.ts')).importExactCommand(args, await surroundings())
  }
  const { importCommand } = await import('./import/run.ts')
  return importCommand(args, await surroundings())
}

async function moveIn(): Promise<number> {
  const { moveInCommand } = await import('./move-in/run.ts')
  return moveInCommand(args, await surroundings())
}

async function surroundings(): Promise<ImportIo> {
  const { systemClock } = await import('./import/run.ts')
  dotenv.config({ quiet: true })
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    signal: stopOnInterrupt(),
    clock: systemClock,
  }
}

/** The first Ctrl-C asks to stop, the second ends the process. */
function stopOnInterrupt(): AbortSignal {
  const stop = new AbortController()
  process.on('SIGINT', () => {
    if (stop.signal.aborted) process.exit(130)
    process.stderr.write('\nStopping after the requests in progress. Press Ctrl-C again to stop at once.\n')
    stop.abort()
  })
  return stop.signal
}
