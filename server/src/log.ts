import pino from 'pino'
import type { LogLevel } from './config/index.ts'
import { createLogOutput, type LogOutput } from './log-output.ts'
import { inSources } from './stack.ts'

export type Log = pino.Logger

/** API keys, tokens (a time and 30 digits at their end) and the master key are all of this kind, and nothing else that is logged. */
const secrets = /[0-9a-f]{30,}/gi

/** `msg` of the one line for each request, which holds nothing that a client sent unless it was checked (http/observe.ts). */
export const requestLine = 'request'
const requestEnd = `"msg":"${requestLine}"}\n`

/** Removes what looks like a secret. */
export function redact(text: string): string {
  return text.replace(secrets, '[redacted]')
}

let timeAt = 0
let timeText = ''

/** The time as a member of a line; there are many lines a millisecond. */
function timeMember(): string {
  const now = Date.now()
  if (now !== timeAt) {
    timeAt = now
    timeText = `,"time":"${new Date(now).toISOString()}"`
  }
  return timeText
}

/**
 * Structured log to standard output. Nothing that a client sends is logged as it came: no headers, no bodies, no raw
 * paths (a path may hold an API key). What looks like a key or token all the same, say in the message of an error, is
 * blotted out.
 */
export function createLog(
  level: LogLevel,
  destination: pino.DestinationStream = standardOutput(bufferBytes),
  base: object | null = null,
): Log {
  return pino(
    {
      level,
      base,
      timestamp: timeMember,
      serializers: { err: describeError },
      hooks: { streamWrite: (line) => (line.endsWith(requestEnd) ? line : redact(line)) },
    },
    destination,
  )
}

/** How much gathers before it is written, in bytes, and for how long at most: a write for each line costs more than the line. */
const bufferBytes = 32_768
const bufferMs = 100

/**
 * What several processes write into one pipe at the same time stays whole up to this many bytes (PIPE_BUF); lines are not
 * cut by the buffer.
 */
const wholeBytes = 4_096

/** The log of one of several processes, whose number is on every line. */
export function createWorkerLog(level: LogLevel, worker: number): Log {
  return createLog(level, standardOutput(wholeBytes / 2, { worker }), { worker })
}

/** What is to be written before the process ends. */
const outputs: LogOutput[] = []

/** @param minLength bytes that gather; at most twice as many are written at once */
function standardOutput(minLength: number, base: object = {}): LogOutput {
  const output = createLogOutput(1, minLength, (lines) => lostLine(lines, base))
  if (outputs.push(output) === 1) {
    setInterval(flushAll, bufferMs).unref()
    process.on('exit', () => {
      for (const output of outputs) output.flushSync()
    })
  }
  return output
}

/** As other warnings are written. */
function lostLine(lines: number, base: object): string {
  const msg = 'lines of the log could not be written and are lost'
  return `${JSON.stringify({ level: pino.levels.values.warn, time: new Date().toISOString(), ...base, lines, msg })}\n`
}

/** Writes a line of this process as it is, such as one of another thread's log. */
export function writeLine(line: string): void {
  outputs[0]?.write(line)
}

function flushAll(): void {
  for (const output of outputs) output.flush()
}

/** PostgreSQL's errors also carry `detail` and `where`, which quote rows and parameters: those are left out. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) }
  const { code, table, constraint } = error as { code?: unknown; table?: unknown; constraint?: unknown }
  return {
    type: error.name,
    message: error.message,
    code,
    table,
    constraint,
    stack: error.stack && inSources(error.stack),
    ...(error.cause !== undefined && { cause: describeError(error.cause) }),
  }
}
