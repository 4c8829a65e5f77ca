import cluster from 'node:cluster'
import type { AddressInfo } from 'node:net'
import type { Log } from '../log.ts'
import type { WorkerSetup } from './foundation.ts'
import { createFleetMetrics } from './metrics.ts'
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

interface Slot {
  readonly number: number
  member: WorkerProcess | undefined
  /** Takes the place once it serves. */
  successor: WorkerProcess | undefined
  /** Deaths in a row of workers that did not live long. */
  earlyDeaths: number
  timer: NodeJS.Timeout | undefined
}

/** A worker that served for longer did not die of its start. */
const longLifeMs = 30_000
const mostEarlyDeaths = 5
const backoffMs = [0, 500, 1_000, 2_000, 4_000]

export function createFleet({ size, log, setup, onHopeless }: FleetOptions): Fleet {
  const slots = Array.from(
    { length: size },
    (_, i): Slot => ({ number: i + 1, member: undefined, successor: undefined, earlyDeaths: 0, timer: undefined }),
  )
  const members = () => slots.flatMap(({ member, successor }) => [member ?? [], successor ?? []].flat())
  const leaving = new Set<WorkerProcess>()
  const all = () => [...members(), ...leaving]
  const countOf = (state: WorkerProcess['state']) => all().filter((member) => member.state === state).length
  const metrics = createFleetMetrics(() => ({
    ready: countOf('ready'),
    starting: countOf('starting'),
    stopping: countOf('stopping'),
  }))
  let isStarted = false
  let isStopping = false
  let restarting: Promise<void> | undefined
  let isAskedAgain = false
  // WorkerSetup hold certificates and keys as they are, not as JSON.
  cluster.setupPrimary({ serialization: 'advanced' })

  const launch = (slot: Slot): WorkerProcess => {
    const member = startWorkerProcess(slot.number, setup, textOfAll)
    void member.ended.then((how) => onEnded(slot, member, how))
    return member
  }
  const textOfAll = () =>
    metrics.text(
      all()
        .filter(({ state }) => state === 'ready' || state === 'stopping')
        .map((member) => ({ worker: member.number, metrics: member.askMetrics() })),
    )

  const onEnded = (slot: Slot, member: WorkerProcess, how: string) => {
    if (slot.member !== member || isStopping || !isStarted) return
    metrics.died()
    slot.member = undefined
    const livedLong = (member.age ?? 0) > longLifeMs
    slot.earlyDeaths = livedLong ? 0 : slot.earlyDeaths + 1
    if (slot.earlyDeaths >= mostEarlyDeaths) {
      onHopeless(`worker ${slot.number} died ${slot.earlyDeaths} times in a row soon after its start: ${how}`)
      return
    }
    const waitMs = backoffMs[slot.earlyDeaths] ?? 0
    log.error({ worker: slot.number, pid: member.pid, how, waitMs }, 'a worker died; another takes its place')
    slot.timer = setTimeout(() => fill(slot), waitMs)
  }
  const fill = (slot: Slot) => {
    // A rolling restart may have filled it meanwhile.
    if (isStopping || slot.member !== undefined || slot.successor !== undefined) return
    const member = launch(slot)
    slot.member = member
    member.ready.then(
      () => log.info({ worker: slot.number, pid: member.pid }, 'the worker serves'),
      () => {},
    )
  }

  const replace = async (slot: Slot) => {
    const successor = launch(slot)
    slot.successor = successor
    try {
      await successor.ready
    } finally {
      slot.successor = undefined
      // Its predecessor may have died in the meantime and waits to be replaced.
      if (successor.state === 'ended' && slot.member === undefined) slot.timer = setTimeout(() => fill(slot), 500)
    }
    const old = slot.member
    slot.member = successor
    slot.earlyDeaths = 0
    if (old === undefined) return
    leaving.add(old)
    await old.stop()
    leaving.delete(old)
  }
  const replaceAll = async () => {
    log.info('the workers are restarted, one after the other')
    for (const slot of slots) {
      if (isStopping) return
      try {
        await replace(slot)
      } catch (error) {
        if (isStopping) return
        const { message } = error as Error
        log.error({ worker: slot.number, cause: message }, 'a new worker does not start; the old ones stay')
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
      first.member = launch(first)
      const address = await first.member.ready
      for (const slot of others) slot.member = launch(slot)
      await Promise.all(others.map(({ member }) => member?.ready))
      isStarted = true
      // One may have died while the others started.
      for (const slot of slots) if (slot.member?.state === 'ended') onEnded(slot, slot.member, 'at the start')
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
      for (const { timer } of slots) clearTimeout(timer)
      await Promise.all(all().map((member) => member.stop()))
    },
    kill() {
      isStopping = true
      for (const member of all()) member.kill()
    },
  }
}
