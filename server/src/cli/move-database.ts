import { parseArgs } from 'node:util'
import dotenv from 'dotenv'
import { moveDatabase } from '../backup/move.ts'
import { readConfig } from '../config/index.ts'
import { createProgressLine } from './progress.ts'
import { dataDirOf, openEmbedded, openExternal, requireEmbedded } from './session.ts'
import { runCommandLine, UsageError } from './usage.ts'

const help = `Usage: parley database move --to-external
       parley database move --to-embedded

Moves the database from the embedded PostgreSQL of DATA_DIR to the external one of DATABASE_URL, or back. Stop the service first. The target
must be empty. Each table is compared by its rows; the source is left as it is, but the service does not start on it any more.

Afterwards, start the service with DATABASE_URL, or without it. Keys and files stay where they are.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
`

/** Runs `parley database`. @returns the exit code */
export function databaseCommand(args: string[]): Promise<number> {
  return runCommandLine('database', help, async () => {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        'to-external': { type: 'boolean' },
        'to-embedded': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help === true) {
      process.stdout.write(help)
      return 0
    }
    if (positionals.length !== 1 || positionals[0] !== 'move') throw new UsageError('the command is move')
    const isOut = values['to-external'] === true
    if (isOut === (values['to-embedded'] === true)) throw new UsageError('say --to-external or --to-embedded')
    dotenv.config({ quiet: true })
    const config = readConfig(process.env)
    if (config.databaseUrl === undefined)
      throw new UsageError('DATABASE_URL is missing: it names the external database')
    const external = openExternal(config.databaseUrl)
    const dataDir = dataDirOf(config)
    if (isOut) requireEmbedded(dataDir)
    const embedded = await openEmbedded(dataDir, { max_wal_size: '4GB' })
    const [source, target] = isOut ? [embedded, external] : [external, embedded]
    const line = createProgressLine()
    const begun = performance.now()
    try {
      const { tables, rows } = await moveDatabase(
        { from: source.connection, to: target.connection, targetName: target.name },
        (done) => line.show(`${done.rows} of ${done.of} rows: ${done.what}`),
      )
      line.end()
      const seconds = ((performance.now() - begun) / 1000).toFixed(1)
      process.stdout.write(
        `${tables} tables with ${rows} rows in ${seconds} s, from ${source.name} to ${target.name}\n`,
      )
      process.stdout.write(`Now start the service ${isOut ? 'with' : 'without'} DATABASE_URL.\n`)
      return 0
    } finally {
      await embedded.close()
    }
  })
}
