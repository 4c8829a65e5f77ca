/** What was exported, and how far imports came, goes with the session: whoever comes next may not see it. */
export async function discardWork(): Promise<void> {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith('import ')) sessionStorage.removeItem(key)
  const { discardAll } = await import('./run.ts')
  await discardAll()
}
