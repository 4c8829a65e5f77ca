/** The key of the lock between a batch of an export and whoever removes something for good, as SQL. */
export function batchLock(appId: string): string {
  return `hashtextextended('person exports ' || ${appId}::int, 0)`
}
