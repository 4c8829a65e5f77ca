import type { Log } from '../log.ts'
import type { WorkerProcess } from './worker-process.ts'

/** A worker that served for longer did not die of its start. */
const longLifeMs = 30_000
const mostEarlyDeaths = 5
const backoffMs = [0, 500, 1_000, 2_000, 4_000]

/** One of the fleet's places: it always has a worker, and while that is replaced a second one. */
export interface Slot {
  readonly number: number
  readonly worker: WorkerProcess | undefined
  /** Every worker of this slot that has not ended, the one that leaves among them. */
  workers(): WorkerProcess[]
  /** Starts a worker. From then on one that dies is replaced. */
  launch(): WorkerProcess
  /** Replaces the worker; it stops when its successor serves. Rejects when the successor does not start. */
  replace(): Promise<void>
  /** One that died while others started is replaced now. */
  recover(): void
  stop(): Promise<void>
  kill(): void
}

export interface SlotOptions {
  readonly log: Log
  readonly start: (number: number) => WorkerProcess
  /** Whether a worker that dies is to be replaced; at the start it is not. */
  readonly isServing: () => boolean
  readonly onDied: () => void
  /** Its workers die as soon as they are started. */
  readonly onHopeless: (reason: string) => void
}

export function createSlot(number: number, { log, start, isServing, onDied, onHopeless }: SlotOptions): Slot {
  let worker: WorkerProcess | undefined
  /** Takes over once it serves. */
  let successor: WorkerProcess | undefined
  let leaving: WorkerProcess | undefined
  /** In a row, of workers that did not live long. */
  let earlyDeaths = 0
  let timer: NodeJS.Timeout | undefined
  let isStopping = false

  const launch = (): WorkerProcess => {
    const started = start(number)
    void started.ended.then((how) => onEnded(started, how))
    return started
  }

  const onEnded = (ended: WorkerProcess, how: string) => {
    if (worker !== ended || isStopping || !isServing()) return
    onDied()
    worker = undefined
    earlyDeaths = (ended.age ?? 0) > longLifeMs ? 0 : earlyDeaths + 1
    if (earlyDeaths >= mostEarlyDeaths) {
      onHopeless(`worker ${number} died ${earlyDeaths} times in a row soon after its start: ${how}`)
      return
    }
    const waitMs = backoffMs[earlyDeaths] ?? 0
    log.error({ worker: number, pid: ended.pid, how, waitMs }, 'a worker died; another takes its place')
    timer = setTimeout(fill, waitMs)
  }

  const fill = () => {
    // A rolling restart may have filled it meanwhile.
    if (isStopping || worker !== undefined || successor !== undefined) return
    const started = launch()
    worker = started
    started.ready.then(
      () => log.info({ worker: number, pid: started.pid }, 'the worker serves'),
      () => {},
    )
  }

  const workers = () => [worker ?? [], successor ?? [], leaving ?? []].flat()

  return {
    number,
    get worker() {
      return worker
    },
    workers,
    launch() {
      worker = launch()
      return worker
    },
    async replace() {
      const next = launch()
      successor = next
      try {
        await next.ready
      } finally {
        successor = undefined
        // Its predecessor may have died in the meantime and waits to be replaced.
        if (next.state === 'ended' && worker === undefined) timer = setTimeout(fill, 500)
      }
      const old = worker
      worker = next
      earlyDeaths = 0
      if (old === undefined) return
      leaving = old
      await old.stop()
      leaving = undefined
    },
    recover() {
      if (worker?.state === 'ended') onEnded(worker, 'at the start')
    },
    async stop() {
      isStopping = true
      clearTimeout(timer)
      await Promise.all(workers().map((one) => one.stop()))
    },
    kill() {
      isStopping = true
      for (const one of workers()) one.kill()
    },
  }
}
