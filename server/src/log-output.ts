import fs from 'node:fs'

/** Where the lines of a log go. */
export interface LogOutput {
  /** @param line with its line break */
  write(line: string): void
  /** @param done is called once all is written, or cannot be now */
  flush(done?: () => void): void
  /** Writes what is left before the process ends, as far as that is possible at once. */
  flushSync(): void
}

/** What is written with; tests have their own. */
type Files = Pick<typeof fs, 'write' | 'writeSync'>

/** More is not kept in memory while nothing can be written, in bytes: what comes then is lost. */
const maxWaiting = 4_194_304
/** Whoever reads a pipe slowly is waited for in steps of so long, and at the end of the process for so long in all, in milliseconds. */
const busyMs = 100
const lastPatienceMs = 2_000

/**
 * Gathers whole lines and writes them, a few thousand bytes at a time. Where they cannot be written, as the disk of the log is full, they
 * wait, later ones are lost, and everything else goes on; a line tells of that as soon as one can be written again.
 * @param minLength bytes that gather; at most twice as many are written at once, where no line is longer
 * @param lostLine the line that tells how many were lost
 */
export function createLogOutput(
  fd: number,
  minLength: number,
  lostLine: (lines: number) => string,
  files: Files = fs,
): LogOutput {
  /** Parts of whole lines, but for the first, which may be the rest of one. */
  const parts: Buffer[] = []
  let waiting = 0
  let lines = ''
  let bytes = 0
  let lost = 0
  let isWriting = false
  /** The last try failed; the next is made by a flush, not for each line. */
  let isFailing = false
  const flushed: Array<() => void> = []

  const handOver = () => {
    if (bytes === 0) return
    parts.push(Buffer.from(lines))
    waiting += bytes
    lines = ''
    bytes = 0
  }
  const settle = () => {
    for (const done of flushed.splice(0)) done()
  }
  /** @returns whether anything is left */
  const take = (part: Buffer, written: number): boolean => {
    waiting -= written
    if (written < part.length) parts[0] = part.subarray(written)
    else parts.shift()
    if (lost > 0) {
      const line = Buffer.from(lostLine(lost))
      parts.push(line)
      waiting += line.length
      lost = 0
    }
    return parts.length > 0
  }
  const writeNext = () => {
    const [part] = parts
    if (isWriting || part === undefined) return
    isWriting = true
    files.write(fd, part, 0, part.length, null, (error, written) => {
      isWriting = false
      isFailing = error !== null && !isBusy(error)
      if (error !== null && !isFailing) setTimeout(writeNext, busyMs)
      else if (isFailing || !take(part, written)) settle()
      else writeNext()
    })
  }
  return {
    write(line) {
      const length = Buffer.byteLength(line)
      if (waiting + bytes + length > maxWaiting) {
        lost++
        return
      }
      if (bytes + length > 2 * minLength) handOver()
      lines += line
      bytes += length
      if (bytes >= minLength) handOver()
      if (!isFailing) writeNext()
    },
    flush(done) {
      handOver()
      if (done !== undefined) flushed.push(done)
      if (parts.length === 0) settle()
      else writeNext()
    },
    flushSync() {
      handOver()
      // That one is under way.
      if (isWriting) parts.shift()
      const until = performance.now() + lastPatienceMs
      for (let part = parts[0]; part !== undefined; part = parts[0]) {
        try {
          take(part, files.writeSync(fd, part))
        } catch (error) {
          if (!isBusy(error) || performance.now() > until) return
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyMs)
        }
      }
    },
  }
}

function isBusy(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EAGAIN' || code === 'EBUSY'
}
