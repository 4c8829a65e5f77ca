import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import pg from 'pg'
import type { Bench, Extent } from './bench.ts'
import type { AtEnd } from './cleanup.ts'
import { createCpuClock } from './cpu.ts'
import { startLoadGenerator } from './load/start.ts'
import { type ServiceOptions, startService } from './service.ts'

/** Starts the service, the load generator and what watches them. */
export async function startBench(atEnd: AtEnd, extent: Extent, options: ServiceOptions = {}): Promise<Bench> {
  warnAboutMemoryDisk()
  const starting = startService(options)
  // At once, so that an interruption meanwhile stops it too. That it failed is said by who waits for it below.
  atEnd(() =>
    starting.then(
      ({ stop }) => stop(),
      () => {},
    ),
  )
  const service = await starting
  const load = startLoadGenerator()
  atEnd(load.stop)
  const database = new pg.Client(service.database)
  await database.connect()
  atEnd(() => database.end())
  const readCpu = createCpuClock({ service: service.pid, postgres: service.postgresPid, load: load.pid })
  return { service, load, database, readCpu, extent }
}

/** The data go into the system's temporary folder. Where that is memory, nothing is as durable as it says. */
export function warnAboutMemoryDisk(): void {
  const tmpfs = 0x01021994
  if (statfsSync(tmpdir()).type === tmpfs) {
    console.warn(`${tmpdir()} is in memory: writes cost less than on a disk. Set TMPDIR to a folder on a disk.`)
  }
}
