import { setTimeout as delay } from 'node:timers/promises'
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

const restMs = 250
const restLimitMs = 20_000
/** Share of a core that counts as idle. */
const idleShare = 0.05

/**
 * Waits until the service and PostgreSQL have done what an earlier row left them (the search index, vacuum), so that it is
 * not done at the cost of the next; after a while it goes on all the same.
 */
export async function whenAtRest(readCpu: CpuClock, limitMs = restLimitMs): Promise<void> {
  const deadline = Date.now() + limitMs
  for (let from = readCpu(); Date.now() < deadline; ) {
    await delay(restMs)
    const to = readCpu()
    const used = cpuBetween(from, to)
    if (used === undefined || (used.service + used.postgres) * 1000 < restMs * idleShare) return
    from = to
  }
}
