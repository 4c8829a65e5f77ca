import { parseArgs } from 'node:util'
import dotenv from 'dotenv'
import { type Held, type HeldKind, heldKinds, readHeld, release } from '../chat/held-by-restore.ts'
import { readConfig } from '../config/index.ts'
import { openDatabase } from '../store/database.ts'
import { findDatabase } from './database.ts'
import { runCommandLine, UsageError } from './usage.ts'

const help = `Usage: parley held [list]
       parley held send <kind> [--app <app>]

After a restore, what was due before the moment of the backup is held: most of it was sent by the service that was lost, and would be sent
twice. This lists it by app and kind, or has all of a kind sent after all: what is too old by now is not sent, as ever.

Kinds: ${heldKinds.join(', ')} (what engines of moderation are to be asked; until then those messages are pending).

The database is that of DATABASE_URL, else the embedded one of a running service (DATA_DIR).

Exit codes: 0 done, 1 it failed, 2 wrong usage.
`

const nouns: Readonly<Record<HeldKind, string>> = {
  webhooks: 'deliveries to webhooks',
  notifications: 'pushes, e-mails and SMS',
  questions: 'messages that engines of moderation are to be asked about',
}

/** A line for each app and kind. */
export function describeHeld(held: readonly Held[]): string[] {
  return held.map(({ app, kind, count, oldest }) => {
    return `${app}: ${count} ${nouns[kind]} (${kind}), the oldest of ${new Date(oldest * 1000).toISOString()}`
  })
}

/** Runs `parley held`. @returns the exit code */
export function heldCommand(args: string[]): Promise<number> {
  return runCommandLine('held', help, async () => {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { app: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    })
    if (values.help === true) {
      process.stdout.write(help)
      return 0
    }
    const [command = 'list', kind, ...rest] = positionals
    const isKind = (heldKinds as readonly unknown[]).includes(kind)
    if (rest.length > 0 || !(command === 'send' ? isKind : command === 'list' && kind === undefined)) {
      throw new UsageError(`name a command, and of send the kind: ${heldKinds.join(', ')}`)
    }
    dotenv.config({ quiet: true })
    const database = openDatabase({ connectionString: await findDatabase(readConfig(process.env)) })
    try {
      if (command === 'list') {
        const held = await readHeld(database)
        process.stdout.write(held.length === 0 ? 'Nothing is held.\n' : `${describeHeld(held).join('\n')}\n`)
        return 0
      }
      const count = await release(database, kind as HeldKind, values.app?.toLowerCase())
      process.stdout.write(`${count} ${nouns[kind as HeldKind]} are due now.\n`)
      return 0
    } finally {
      await database.close()
    }
  })
}
