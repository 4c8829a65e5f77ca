import type { EmbeddedLog } from './log.ts'
import { startInDataDir } from './start.ts'

export { resolveDataDir } from './data-dir.ts'
export { DataDirInUseError, EmbeddedPostgresUnavailableError } from './errors.ts'
export type { EmbeddedLog } from './log.ts'

export interface EmbeddedPostgres {
  /** What pg needs, for a role that owns the database and is no superuser: host is the folder of the unix socket, or 127.0.0.1 where sockets cannot be used. */
  readonly connection: { host: string; port: number; user: string; password: string; database: string }
  /** The server's process; undefined while it is down. */
  readonly pid: number | undefined
  /** Stops the server fast and cleanly, waits until it is gone and gives the data folder free. Repeated calls do no harm. */
  stop(): Promise<void>
}

/**
 * Starts a PostgreSQL server of our own on a data folder, which is filled at the first start, and answers once it takes
 * connections. If it crashes it is started again under the same connection settings, until stop() is called.
 *
 * As root, PostgreSQL runs as an unprivileged user (`parley`, made if need be).
 *
 * @param options.settings settings of PostgreSQL that override ours, as they would stand in postgresql.conf
 * @throws DataDirInUseError when another process works on that folder
 * @throws EmbeddedPostgresUnavailableError when there is no PostgreSQL for this platform
 * @throws Error with the last lines of the server's log when it does not start
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string
  log: EmbeddedLog
  settings?: Record<string, string>
}): Promise<EmbeddedPostgres> {
  const { connection, supervised, stop } = await startInDataDir(options)
  return {
    connection,
    get pid() {
      return supervised.pid()
    },
    stop,
  }
}
