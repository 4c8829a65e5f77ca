#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import dotenv from 'dotenv'
import { appsCommand } from './apps.ts'
import { auditCommand } from './audit.ts'
import { doctorCommand } from './doctor.ts'
import { importCommand, systemClock } from './import/run.ts'

const help = `Usage: parley <command>

Commands:
  start             run the service, configured by environment variables
  import <folder>   import the data of another chat system into a running service (parley import --help)
  apps <command>    create apps, change their settings, list their keys (parley apps --help)
  audit <app>       print the audit log of an app (parley audit --help)
  doctor            recompute all derived values and report differences (parley doctor --help)

Options:
  --version         show the version
  --help            show this text
`

const [command, ...args] = process.argv.slice(2)

if (command === 'start' && args.length === 0) {
  await import('../main.ts')
} else if (command === 'import') {
  dotenv.config({ quiet: true })
  process.exitCode = await importCommand(args, {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    signal: stopOnInterrupt(),
    clock: systemClock,
  })
} else if (command === 'apps') {
  process.exitCode = await appsCommand(args)
} else if (command === 'audit') {
  process.exitCode = await auditCommand(args)
} else if (command === 'doctor') {
  process.exitCode = await doctorCommand(args)
} else if (command === '--version') {
  process.stdout.write(`${readVersion()}\n`)
} else if (command === '--help' || command === '-h') {
  process.stdout.write(help)
} else {
  if (command !== undefined) process.stderr.write(`parley: there is no "${[command, ...args].join(' ')}"\n\n`)
  process.stderr.write(help)
  process.exitCode = 2
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

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
