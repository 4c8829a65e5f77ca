import type { Readable } from 'node:stream'

/** Part of a file: bytes from `start` to `end`, both included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Where the bytes of files are kept: a folder of this machine, or an S3-compatible bucket. */
export interface MediaStorage {
  /**
   * Stores a file. @returns its size in bytes
   * @throws what the stream throws; nothing stays behind then
   */
  write(path: string, content: Readable, mimeType: string): Promise<number>
  /** @throws Error when there is no such file */
  read(path: string, range: ByteRange | undefined): Promise<Readable>
  /** Removes a file; one that is gone is fine. */
  remove(path: string): Promise<void>
}
