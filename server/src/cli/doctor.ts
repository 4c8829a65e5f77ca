import { parseArgs } from 'node:util'
import dotenv from 'dotenv'
import { readConfig } from '../config/index.ts'
import { checks } from '../doctor/checks.ts'
import { findDrift } from '../doctor/drift.ts'
import { openDatabase } from '../store/database.ts'
import { findDatabase } from './database.ts'

const help = `Usage: parley doctor [--json]

Recomputes every derived figure (member counts, unread counts, receipts, reply counts, last messages) and reports where
the stored one differs. It only reads. The database is that of DATABASE_URL, else the embedded one of a running service
(DATA_DIR).

Exit codes: 0 nothing has drifted, 1 something has, 2 wrong usage, 3 the database cannot be reached.
`

/** Runs `parley doctor`. @returns the exit code */
export async function doctorCommand(args: string[]): Promise<number> {
  let json = false
  try {
    const { values } = parseArgs({
      args,
      options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    })
    if (values.help === true) {
      process.stdout.write(help)
      return 0
    }
    json = values.json === true
  } catch (error) {
    process.stderr.write(`parley doctor: ${(error as Error).message}\n\n${help}`)
    return 2
  }

  dotenv.config({ quiet: true })
  try {
    const database = openDatabase({ connectionString: await findDatabase(readConfig(process.env)) })
    try {
      const drift = await findDrift(database, null)
      if (json) process.stdout.write(`${JSON.stringify(drift, null, 2)}\n`)
      else report(drift)
      return drift.length === 0 ? 0 : 1
    } finally {
      await database.close()
    }
  } catch (error) {
    process.stderr.write(`parley doctor: ${(error as Error).message}\n`)
    return 3
  }
}

function report(drift: Awaited<ReturnType<typeof findDrift>>): void {
  for (const { name, meaning } of checks) {
    const found = drift.find(({ check }) => check === name)
    if (found === undefined) {
      process.stdout.write(`ok     ${name}\n`)
      continue
    }
    process.stdout.write(`DRIFT  ${name}: ${found.count} (${meaning})\n`)
    for (const { subject, stored, expected } of found.examples) {
      process.stdout.write(`         ${subject}: stored ${stored}, expected ${expected}\n`)
    }
  }
}
