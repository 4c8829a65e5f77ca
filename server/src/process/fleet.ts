import cluster from 'node:cluster'
import type { AddressInfo } from 'node:net'
import type { Log } from '../log.ts'
import type { WorkerSetup } from './foundation.ts'
import { createFleetMetrics } from './metrics.ts'
import { createSlot, type Slot } from './slot.ts'
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts'

/** The workers of this machine: a fixed number of slots, each with a process that serves the same port. */
export interface Fleet {
  /** Resolves when all serve. Rejects when one cannot. */
  start(): Promise<AddressInfo>
  /** Replaces one worker after the other; each old one stops when its successor serves. */
  restart(): Promise<void>
  stop(): Promise<void>
  /** At once, without waiting for anything. */
  kill(): void
}

export interface FleetOptions {
  readonly size: number
  readonly log: Log
  /** What workers are built with, read anew for each. */
  readonly setup: () => Promise<WorkerSetup>
  /** Workers die as soon as they are started: there is no use in going on. */
  readonly onHopeless: (reason: string) => void
}

export function createFleet({ size, log, setup, onHopeless }: FleetOptions): Fleet {
  let isStarted = false
  let isStopping = false
  let restarting: Promise<void> | undefined
  let isAskedAgain = false
  // Certificates and keys go to workers as they are, not as JSON.
  cluster.setupPrimary({ serialization: 'advanced' })

  const all = (): WorkerProcess[] => slots.flatMap((slot) => slot.workers())
  const countOf = (state: WorkerProcess['state']) => all().filter((worker) => worker.state === state).length
  const metrics = createFleetMetrics(() => ({
    ready: countOf('ready'),
    starting: countOf('starting'),
    stopping: countOf('stopping'),
  }))
  const textOfAll = () =>
    metrics.text(
      all()
        .filter(({ state }) => state === 'ready' || state === 'stopping')
        .map((worker) => ({
          worker: worker.number,
          metrics: worker.askMetrics(),
          last: () => worker.lastMetrics,
        })),
    )
  const slots = Array.from({ length: size }, (_, i) =>
    createSlot(i + 1, {
      log,
      start: (number) => {
        const started = startWorkerProcess(number, setup, textOfAll)
        void started.ended.then(() => metrics.ended(started.lastMetrics))
        return started
      },
      isServing: () => isStarted,
      onDied: metrics.died,
      onHopeless,
    }),
  )

  const replaceAll = async () => {
    log.info('the workers are restarted, one after the other')
    for (const slot of slots) {
      if (isStopping) return
      try {
        await slot.replace()
      } catch (error) {
        if (isStopping) return
        const { message } = error as Error
        log.error({ worker: slot.number, cause: message }, 'a new worker could not start; the old ones stay')
        return
      }
      log.info({ worker: slot.number }, 'the worker was replaced')
    }
    log.info('all workers were restarted')
  }

  return {
    async start() {
      // One first: what keeps it from starting would keep all, and is said once.
      const [first, ...others] = slots as [Slot, ...Slot[]]
      const address = await first.launch().ready
      await Promise.all(others.map((slot) => slot.launch().ready))
      isStarted = true
      // One may have died while the others started.
      for (const slot of slots) slot.recover()
      return address
    },
    async restart() {
      // Whoever asks while it goes on means those too that were replaced already.
      isAskedAgain = restarting !== undefined
      restarting ??= (async () => {
        do {
          isAskedAgain = false
          await replaceAll()
        } while (isAskedAgain && !isStopping)
        restarting = undefined
      })()
      await restarting
    },
    async stop() {
      isStopping = true
      await Promise.all(slots.map((slot) => slot.stop()))
    },
    kill() {
      isStopping = true
      for (const slot of slots) slot.kill()
    },
  }
}
