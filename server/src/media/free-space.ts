import { mkdir, statfs } from 'node:fs/promises'

/** Bytes that this process may still write to the disk of a folder, which is made where it is not there. */
export async function freeBytesOf(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
