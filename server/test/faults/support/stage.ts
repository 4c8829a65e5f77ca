import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { findServersOf, signalIfThere } from '../../../src/store/embedded/processes.ts'
import { ensureBuilt } from '../../support/build.ts'
import { copyDataDir } from '../../support/data-dir.ts'
import { launchService, type ServiceProcess } from './service-process.ts'

/** The folders and processes of one test file. `clean` ends and removes them all, whatever the tests left. */
export interface Stage {
  /** A new empty folder, mode 0700 as `mktemp -d` makes it. */
  makeFolder(): string
  /** A new data folder, with a migrated database in which nothing is: where the first start is not what a test is about. */
  makeDataDir(): string
  /** Launches the service; the answer may be awaited with `ready`, or killed before it is. */
  launch(environment: Record<string, string>, script?: string): ServiceProcess
  /** Launches the service and waits until it listens. */
  start(environment: Record<string, string>): Promise<ServiceProcess>
  /** Kills every service that was launched. */
  killServices(): Promise<void>
  /** Something else to be ended, the latest first. */
  onClean(end: () => unknown): void
  clean(): Promise<void>
}

export function createStage(): Stage {
  ensureBuilt()
  const folders: string[] = []
  const services: ServiceProcess[] = []
  const ends: Array<() => unknown> = []

  const endServers = () => {
    for (const folder of folders) {
      for (const { pid } of findServersOf(join(folder, 'postgres'))) signalIfThere(pid, 'SIGKILL')
    }
  }
  const removeFolders = () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
  // Vitest was interrupted: as much as can be done without waiting.
  const endAtExit = () => {
    for (const service of services) signalIfThere(service.pid, 'SIGKILL')
    endServers()
    removeFolders()
  }
  process.on('exit', endAtExit)

  const makeFolder = () => {
    const folder = mkdtempSync(join(realpathSync(tmpdir()), 'parley-faults-'))
    folders.push(folder)
    return folder
  }
  const launch = (environment: Record<string, string>, script?: string) => {
    const service = launchService(environment, script)
    services.push(service)
    return service
  }
  const killServices = async () => {
    await Promise.all(services.splice(0).map((service) => service.kill()))
  }
  return {
    makeFolder,
    makeDataDir() {
      const folder = makeFolder()
      const template = inject('dataTemplate')
      if (template !== null) copyDataDir(template, folder)
      return folder
    },
    launch,
    async start(environment) {
      const service = launch(environment)
      await service.ready
      return service
    },
    killServices,
    onClean: (end) => void ends.push(end),
    async clean() {
      await killServices()
      for (const end of ends.reverse()) await end()
      endServers()
      removeFolders()
      process.off('exit', endAtExit)
    },
  }
}
