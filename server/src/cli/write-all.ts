import type { FileHandle } from 'node:fs/promises'

/**
 * Writes all of some bytes into a file. On a disk that is nearly full a write takes a part and says so, and only the next one fails.
 * @throws where the rest is not taken
 */
export async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}
