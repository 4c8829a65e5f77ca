import { type FileHandle, open, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { vi } from 'vitest'

/** Does something while every write to a file takes at most three bytes, as the last one does on a disk that is nearly full. */
export async function withShortWrites<Result>(work: () => Promise<Result>): Promise<Result> {
  const file = path.join(os.tmpdir(), `parley-short-${process.pid}`)
  const handle = await open(file, 'w')
  const prototype = Object.getPrototypeOf(handle) as { write: (...args: unknown[]) => unknown }
  await handle.close()
  await rm(file)
  const { write } = prototype
  const spy = vi.spyOn(prototype, 'write').mockImplementation(function (this: FileHandle, ...args: unknown[]) {
    const [bytes, at, length, position] = args as [Uint8Array, number, number, number]
    return write.call(this, bytes, at, Math.min(3, length), position)
  })
  try {
    return await work()
  } finally {
    spy.mockRestore()
  }
}
