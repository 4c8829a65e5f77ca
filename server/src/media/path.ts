/** Where a file is in the storage: spread over folders, so that none grows without bounds. */
export function pathOf(appId: number, key: string): string {
  return `${appId}/${key.slice(0, 2)}/${key}`
}
