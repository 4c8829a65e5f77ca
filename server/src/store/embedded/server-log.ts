import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { EmbeddedLog } from './log.ts'

const remembered = 50

/** The prefix to give to PostgreSQL, so that parseLine can tell who speaks. */
export const logLinePrefix = '%b[%p] '

export interface ServerLog {
  /** the newest lines, oldest first */
  lastLines(): string
}

interface LogLine {
  /** such as `postmaster`, `checkpointer`, `client backend` */
  speaker: string
  severity: string
  text: string
}

/**
 * Reads the server's log: remembers the last lines and passes on what an operator should see.
 *
 * Errors of client backends are left out, details and statements too: they are answers to this service, which deals with them
 * itself, and may quote what users wrote. So are the refusals of a server that starts or stops, which would drown the rest.
 */
export function readServerLog(stream: Readable, log: EmbeddedLog): ServerLog {
  const lines: string[] = []
  let inPrivateEvent = false
  createInterface({ input: stream }).on('line', (text) => {
    const line = parseLine(text)
    // The further lines of an event begin with a tab.
    if (line !== undefined || !text.startsWith('\t')) inPrivateEvent = line !== undefined && isPrivate(line)
    if (inPrivateEvent) return
    lines.push(text)
    if (lines.length > remembered) lines.shift()
    const level = line === undefined ? undefined : levelOf(line)
    if (line !== undefined && level !== undefined)
      log[level]({ speaker: line.speaker, severity: line.severity }, line.text)
  })
  return { lastLines: () => lines.join('\n') }
}

export function parseLine(text: string): LogLine | undefined {
  const parts = /^([a-z ]+)\[\d+\] ([A-Z0-9]+): {2}(.*)$/.exec(text)
  return parts ? { speaker: parts[1] ?? '', severity: parts[2] ?? '', text: `PostgreSQL: ${parts[3]}` } : undefined
}

/** What a starting or stopping server, or one that has no database yet, tells those who ask whether it is ready. */
const refusals =
  /shutting down|starting up|not (yet )?accepting|administrator command|recovery mode|database "parley" does not exist/

function isPrivate(line: LogLine): boolean {
  const fromClient = /client backend|not initialized/.test(line.speaker)
  if (line.severity === 'DETAIL') return fromClient || line.text.includes('Failed process was running')
  if (fromClient && line.severity === 'FATAL') return refusals.test(line.text)
  return fromClient && !['WARNING', 'PANIC'].includes(line.severity)
}

/** Undefined for what is only remembered. */
function levelOf(line: LogLine): 'info' | 'warn' | 'error' | undefined {
  switch (line.severity) {
    case 'PANIC':
    case 'ERROR':
      return 'error'
    case 'FATAL':
      return line.speaker.includes('client backend') ? 'warn' : 'error'
    case 'WARNING':
      return 'warn'
    case 'LOG':
      return /was terminated by signal|checkpoints are occurring too frequently/.test(line.text) ? 'warn' : undefined
    default:
      return undefined
  }
}
