import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createLogOutput } from '../src/log-output.ts'

/** A disk that takes what it is told to at a time, or fails. */
function createDisk() {
  const disk = {
    parts: [] as Buffer[],
    takes: Number.POSITIVE_INFINITY,
    fails: undefined as string | undefined,
    tries: 0,
  }
  const writeSync = (_: number, part: Buffer) => {
    disk.tries++
    if (disk.fails !== undefined) throw Object.assign(new Error(disk.fails), { code: disk.fails })
    const count = Math.min(part.length, disk.takes)
    disk.parts.push(part.subarray(0, count))
    return count
  }
  const write = (
    fd: number,
    part: Buffer,
    ...[, , , done]: [number, number, null, (error: unknown, n: number) => void]
  ) => {
    setImmediate(() => {
      let written = 0
      let failure: unknown = null
      try {
        written = writeSync(fd, part)
      } catch (error) {
        failure = error
      }
      done(failure, written)
    })
  }
  const output = createLogOutput(1, 64, (lines) => `lost ${lines}\n`, { write, writeSync } as never)
  const flush = () => new Promise<void>((resolve) => output.flush(resolve))
  const written = () => Buffer.concat(disk.parts).toString()
  return { disk, output, flush, written }
}

describe('The output of the log', () => {
  it('has all lines in order, however little is written at a time', async () => {
    const { disk, output, flush, written } = createDisk()
    disk.takes = 7
    const lines = Array.from({ length: 50 }, (_, i) => `line ${i} with an ö\n`)
    for (const line of lines) output.write(line)
    await flush()
    expect(written()).toBe(lines.join(''))
    await flush()
  })

  it('keeps what cannot be written, tells how much is lost beyond that, and goes on', async () => {
    const { disk, output, flush, written } = createDisk()
    disk.fails = 'ENOSPC'
    const line = `${'x'.repeat(1023)}\n`
    for (let i = 0; i < 5000; i++) output.write(line)
    await flush()
    await flush()
    expect(written()).toBe('')
    // A full disk is not asked for each line.
    expect(disk.tries).toBeLessThan(20)
    disk.fails = undefined
    await flush()
    output.write('after\n')
    await flush()
    const lost = 5000 - 4096
    expect(
      written()
        .split('\n')
        .filter((text) => text.length === 1023).length,
    ).toBe(4096)
    expect(written().endsWith(`lost ${lost}\nafter\n`)).toBe(true)
  })

  it('waits for a reader who is slow', async () => {
    const { disk, output, flush, written } = createDisk()
    disk.fails = 'EAGAIN'
    output.write('slow\n')
    const flushed = flush()
    await delay(20)
    disk.fails = undefined
    await flushed
    expect(written()).toBe('slow\n')
  })

  it('writes what is left at the end, and does not wait for a full disk', () => {
    const { disk, output, written } = createDisk()
    output.write('last\n')
    output.flushSync()
    expect(written()).toBe('last\n')
    disk.fails = 'ENOSPC'
    output.write('more\n')
    output.flushSync()
    expect(written()).toBe('last\n')
  })

  it('is a file', async () => {
    const file = `${fs.mkdtempSync(path.join(os.tmpdir(), 'parley-log-'))}/log`
    const fd = fs.openSync(file, 'a')
    const output = createLogOutput(fd, 64, String)
    for (let i = 0; i < 100; i++) output.write(`line ${i}\n`)
    await new Promise<void>((resolve) => output.flush(resolve))
    fs.closeSync(fd)
    expect(fs.readFileSync(file, 'utf8')).toBe(Array.from({ length: 100 }, (_, i) => `line ${i}\n`).join(''))
    fs.rmSync(file)
  })
})
