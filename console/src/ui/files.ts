import { useEffect } from 'react'

/** What is under way in the page ends with it: whoever leaves it is asked first. */
export function useWarning(isRunning: boolean): void {
  useEffect(() => {
    if (!isRunning) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isRunning])
}

/** Gives the operator a file. @param parts its content, one after the other */
export function saveFile(name: string, parts: readonly string[], type: string): void {
  saveBlob(name, new Blob(parts.slice(), { type }))
}

export function saveBlob(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

/** The files that were dropped, those in folders among them. */
export async function filesOf(dropped: DataTransfer): Promise<File[]> {
  // Both are only there until the event is over: they are taken before anything is waited for.
  const entries = [...dropped.items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  const files = [...dropped.files]
  if (entries.every(({ isFile }) => isFile)) return files
  return (await Promise.all(entries.map(filesIn))).flat()
}

async function filesIn(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile)
    return [await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))]
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  const found: FileSystemEntry[] = []
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) break
    found.push(...some)
  }
  // What the import knows lies in the folder itself: that of a move has others below, with thousands of files.
  return (await Promise.all(found.filter(({ isFile }) => isFile).map(filesIn))).flat()
}
