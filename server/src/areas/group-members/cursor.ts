/** `cursor` of a list by name: up to where a client that syncs by `updatedAt` has seen what changed. */
export function syncCursor(
  rows: ReadonlyArray<{ createdAt: number; updatedAt: number | null }>,
): { updatedAt: number; affix: 'prepend' } | undefined {
  if (rows.length === 0) return undefined
  return { updatedAt: Math.max(...rows.map((row) => row.updatedAt ?? row.createdAt)), affix: 'prepend' }
}
