import type { Readable } from 'node:stream'

/** Part of a file: bytes from `start` to `end`, both included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** What a storage says of a file that it does not have. */
export class MissingFileError extends Error {
  constructor(path: string, options?: ErrorOptions) {
    super(`the storage has no file ${path}`, options)
    this.name = 'MissingFileError'
  }
}

/** Where the bytes of files are kept: a folder of this machine, or an S3-compatible bucket. */
export interface MediaStorage {
  /**
   * Stores a file. @returns its size in bytes
   * @throws what the stream throws; nothing stays behind then
   */
  write(path: string, content: Readable, mimeType: string): Promise<number>
  /** @throws MissingFileError where there is no such file */
  read(path: string, range: ByteRange | undefined): Promise<Readable>
  /** Bytes of a file; undefined where there is none. */
  sizeOf(path: string): Promise<number | undefined>
  /** Removes a file, also what a process left of one that it could not finish; one that is gone is fine. */
  remove(path: string): Promise<void>
  /** Bytes that are free on the disk to which files are written first. */
  freeBytes(): Promise<number>
  /** Removes what processes left behind that ended while they wrote. @param now epoch milliseconds, by which that was long ago */
  tidy(now?: number): Promise<void>
}

/** A storage that also tells what is in it, as those are that backups are kept in. */
export interface FileStore extends MediaStorage {
  /** Names of the files below a folder, which ends with a slash, or of all (''). Those that are being written are not there yet. */
  list(prefix: string): Promise<string[]>
  /** The same files with their bytes. */
  sizesBelow(prefix: string): Promise<ReadonlyMap<string, number>>
  /**
   * Removes what processes left below a folder, which ends with a slash, that ended while they wrote: files that did not arrive, and
   * folders with nothing in them, that folder too.
   * @param before epoch milliseconds: what was written to since then stays. Left out: nobody writes there now
   */
  tidyBelow(prefix: string, before?: number): Promise<void>
}
