import type { ConnectionSettings } from '../store/connection.ts'
import { BackupError } from './format.ts'
import { connect } from './snapshot.ts'

/** Any constant will do, as long as every version uses the same. */
const lock = 7_206_951_015

/**
 * Does something that only one process may do at a time: making a backup of a database, and removing old ones.
 * @throws BackupError while another does it
 */
export async function oneAtATime<Result>(connection: ConnectionSettings, work: () => Promise<Result>): Promise<Result> {
  const client = await connect(connection, 'parley backup')
  try {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [lock])
    if (rows[0]?.locked !== true) throw new BackupError('Another backup of this database is being made.')
    return await work()
  } finally {
    await client.end()
  }
}
