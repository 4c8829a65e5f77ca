/** A second process asked for a data folder that is taken. The message names the folder and, where known, the pid that holds it. */
export class DataDirInUseError extends Error {
  override name = 'DataDirInUseError'
}

/** There is no embedded PostgreSQL that runs on this machine. The message says to set DATABASE_URL. */
export class EmbeddedPostgresUnavailableError extends Error {
  override name = 'EmbeddedPostgresUnavailableError'
}

/** What a failed file system or process call is called (`ENOENT`, `EACCES`), or undefined for any other error. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
