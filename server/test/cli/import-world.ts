import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { onTestFinished } from 'vitest'
import { importCommand } from '../../src/cli/import/run.ts'
import type { Clock } from '../../src/cli/import/service.ts'
import { apiKey, type ImportService, startImportService } from './import-service.ts'

type Content = string | Buffer | readonly object[]

/** A folder to import from, a service to import into, and a clock that jumps instead of waiting. */
export interface ImportWorld {
  readonly folder: string
  readonly service: ImportService
  readonly clock: Clock & { readonly slept: number[] }
  readonly stop: AbortController
  /** Writes a file: lines as given, or records as lines; a name that ends with .gz is gzipped. */
  put(name: string, content: Content): Promise<void>
  /** Runs `parley import <folder>` with further arguments, the key coming from the environment. */
  run(...args: string[]): Promise<Outcome>
  /** The same without a key. */
  runWithoutKey(...args: string[]): Promise<Outcome>
  /** The lines of the report. */
  report(name?: string): Promise<ReportLine[]>
}

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface ReportLine {
  readonly kind: string
  readonly line: number
  readonly key: string | null
  readonly error: { code: string; message?: string; details?: { path: string; message: string }[] }
  readonly record: unknown
}

export async function createImportWorld(): Promise<ImportWorld> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-import-'))
  const service = await startImportService()
  onTestFinished(async () => {
    await service.close()
    await rm(folder, { recursive: true })
  })
  const clock = createJumpingClock()
  const stop = new AbortController()
  const run = async (args: readonly string[], env: Record<string, string>): Promise<Outcome> => {
    const [stdout, stderr] = [collect(), collect()]
    const code = await importCommand([folder, ...args], {
      stdout,
      stderr,
      env,
      cwd: folder,
      signal: stop.signal,
      clock,
    })
    return { code, stdout: stdout.text(), stderr: stderr.text() }
  }
  return {
    folder,
    service,
    clock,
    stop,
    async put(name, content) {
      const text = Array.isArray(content) ? content.map((record) => `${JSON.stringify(record)}\n`).join('') : content
      await writeFile(
        path.join(folder, name),
        name.endsWith('.gz') && !Buffer.isBuffer(text) ? gzipSync(text as string) : (text as string | Buffer),
      )
    },
    run: (...args) => run(args, { PARLEY_URL: service.url, PARLEY_API_KEY: apiKey }),
    runWithoutKey: (...args) => run(args, {}),
    async report(name = 'import-refused.ndjson') {
      const text = await readFile(path.join(folder, name), 'utf8')
      return text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as ReportLine)
    },
  }
}

/** Sleeping moves the clock and lets others run, nothing more. */
function createJumpingClock(): ImportWorld['clock'] {
  const slept: number[] = []
  let time = Date.now()
  return {
    slept,
    now: () => time,
    async sleep(milliseconds, signal) {
      slept.push(milliseconds)
      time += milliseconds
      await setImmediate()
      signal.throwIfAborted()
    },
  }
}

export function collect(): Writable & { text(): string } {
  const chunks: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk))
      done()
    },
  })
  return Object.assign(stream, { text: () => chunks.join('') })
}

/** The figures of one row of the table: read, stored, already there, refused. */
export function row({ stdout }: Outcome, kind: string): number[] {
  const line = stdout.split('\n').find((text) => text.startsWith(kind)) ?? ''
  return line
    .slice(kind.length)
    .trim()
    .split(/\s{2,}/)
    .map((cell) => Number(cell.replaceAll(',', '')))
}

export const users = (...uids: string[]) => uids.map((uid) => ({ uid, name: uid }))

export const message = (muid: string, sender: string, receiver: string, more: object = {}) => ({
  muid,
  sender,
  receiverType: receiver.startsWith('g') ? 'group' : 'user',
  receiver,
  data: { text: `text of ${muid}` },
  sentAt: 1_700_000_000,
  ...more,
})
