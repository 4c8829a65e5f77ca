import { readdirSync, readFileSync } from 'node:fs'

/** What /proc tells of processes; undefined where there is no /proc (other systems than Linux). */

const ticksPerSecond = 100

/** CPU seconds that a process has used. */
export function cpuSeconds(pid: number): number | undefined {
  const fields = readStat(pid)
  return fields && (fields.utime + fields.stime) / ticksPerSecond
}

/** CPU seconds that a process and its children have used, those that have ended too. */
export function familyCpuSeconds(pid: number): number | undefined {
  const parent = readStat(pid)
  if (parent === undefined) return undefined
  let ticks = parent.utime + parent.stime + parent.childrenTime
  for (const entry of readdirSync('/proc')) {
    const fields = /^\d+$/.test(entry) ? readStat(Number(entry)) : undefined
    if (fields?.parent === pid) ticks += fields.utime + fields.stime
  }
  return ticks / ticksPerSecond
}

/** Resident memory of a process in bytes: now, and the most it has ever been. */
export function residentMemory(pid: number): { now: number; highest: number } | undefined {
  const status = readOrNothing(`/proc/${pid}/status`)
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status ?? '')?.[1]) * 1024
  return status === undefined ? undefined : { now: bytes('VmRSS'), highest: bytes('VmHWM') }
}

function readStat(pid: number) {
  const stat = readOrNothing(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  // The name of the program, in brackets, may hold blanks.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [, parent = 0, , , , , , , , , , utime = 0, stime = 0, cutime = 0, cstime = 0] = fields
  return { parent, utime, stime, childrenTime: cutime + cstime }
}

function readOrNothing(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return undefined
  }
}
