import { cpuSeconds, familyCpuSeconds } from './processes.ts'

/** CPU seconds used by the service, by PostgreSQL, and by what makes the load. */
export interface CpuTimes {
  readonly service: number
  readonly postgres: number
  readonly load: number
}

/** Reads what each has used so far; undefined where the system does not tell. */
export type CpuClock = () => CpuTimes | undefined

export function createCpuClock(pids: { service: number; postgres: number; load: number }): CpuClock {
  return () => {
    const service = cpuSeconds(pids.service)
    const postgres = familyCpuSeconds(pids.postgres)
    const load = cpuSeconds(pids.load)
    if (service === undefined || postgres === undefined || load === undefined) return undefined
    const self = process.cpuUsage()
    return { service, postgres, load: load + (self.user + self.system) / 1e6 }
  }
}

export function cpuBetween(from: CpuTimes | undefined, to: CpuTimes | undefined): CpuTimes | undefined {
  if (from === undefined || to === undefined) return undefined
  return { service: to.service - from.service, postgres: to.postgres - from.postgres, load: to.load - from.load }
}
