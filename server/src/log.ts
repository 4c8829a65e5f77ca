import pino from 'pino'
import type { LogLevel } from './config.ts'

export type Log = pino.Logger

/**
 * Structured log to standard output. Nothing that a client sends is logged as it came: no headers, no bodies, no raw
 * paths (a path may hold an API key), so keys and tokens never appear.
 */
export function createLog(level: LogLevel): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 1, sync: false }),
  )
}
