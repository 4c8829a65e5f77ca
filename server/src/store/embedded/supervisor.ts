import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorMessage } from './errors.ts'
import { clearLeftovers } from './leftovers.ts'
import { type Postmaster, type ServerSetup, StartFailure, spawnPostmaster, waitUntilReady } from './postmaster.ts'

export interface Supervised {
  /** undefined while the server is down */
  pid(): number | undefined
  /** Ends the server for good. */
  stop(): Promise<void>
}

/** A server that ran for this long has not failed because of how it was started. */
const healthyAfter = 60_000
const longestPause = 10_000

/**
 * Starts the server and keeps it running: when it ends without having been told to, it is started again in the same place with
 * the same password, at once the first time, then with growing pauses.
 *
 * @throws StartFailure, among others, when the first start fails; nothing runs then
 */
export async function superviseServer(setup: ServerSetup): Promise<Supervised> {
  const stopping = new AbortController()
  let current: Postmaster | undefined
  const interruptAtExit = () => current?.interrupt()
  process.on('exit', interruptAtExit)
  const start = () =>
    startServer(setup, (started) => {
      current = started
      // stop may have come before there was anything to stop.
      if (stopping.signal.aborted) void started.stop()
    })

  let running: Postmaster
  try {
    running = await start()
  } catch (error) {
    process.off('exit', interruptAtExit)
    throw error
  }
  const loop = keepRunning()
  return {
    pid: () => (current?.hasExited() ? undefined : current?.pid),
    stop,
  }

  async function stop(): Promise<void> {
    stopping.abort()
    await current?.stop()
    await loop
    process.off('exit', interruptAtExit)
  }

  async function keepRunning(): Promise<void> {
    let pause = 0
    while (!stopping.signal.aborted) {
      const startedAt = Date.now()
      const exit = await running.exited
      if (stopping.signal.aborted) return
      setup.log.error({ exit, lastLines: running.lastLines() }, 'PostgreSQL ended unexpectedly; starting it again')
      if (Date.now() - startedAt > healthyAfter) pause = 0
      do {
        await sleep(pause, undefined, { signal: stopping.signal }).catch(() => {})
        pause = Math.min(Math.max(pause * 2, 250), longestPause)
      } while (!stopping.signal.aborted && !(await restart()))
    }
  }

  async function restart(): Promise<boolean> {
    try {
      running = await start()
      setup.log.info({ pid: running.pid }, 'PostgreSQL is running again')
      return true
    } catch (error) {
      if (!stopping.signal.aborted)
        setup.log.error({ reason: errorMessage(error) }, 'PostgreSQL cannot be started again yet')
      return false
    }
  }
}

/** Starts the server once what was left of an earlier one is gone. `onSpawn` gets it before it is ready. */
async function startServer(setup: ServerSetup, onSpawn: (started: Postmaster) => void): Promise<Postmaster> {
  for (let attempt = 1; ; attempt++) {
    await clearLeftovers(setup.cluster, socketFileOf(setup.connection), setup.log)
    const postmaster = spawnPostmaster(setup)
    onSpawn(postmaster)
    try {
      await waitUntilReady(postmaster, setup)
      return postmaster
    } catch (error) {
      if (!postmaster.hasExited()) await postmaster.stop()
      // What was left behind could not be seen from here, and may be about to end.
      const blocked = /lock file .* already exists|pre-existing shared memory block/.test(errorMessage(error))
      if (!(error instanceof StartFailure) || !blocked || attempt >= 20) throw error
      await sleep(500)
    }
  }
}

export function socketFileOf({ host, port }: { host: string; port: number }): string | undefined {
  return host.startsWith('/') ? join(host, `.s.PGSQL.${port}`) : undefined
}
