import cluster from 'node:cluster'
import type { AddressInfo } from 'node:net'
import type { Log } from '../log.ts'
import type { Materials } from './foundation.ts'
import { type Member, startMember } from './member.ts'
import { createFleetMetrics } from './metrics.ts'

/** The workers of this machine: a fixed number of places, each with a process that serves the same port. */
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
  readonly materials: () => Promise<Materials>
  /** Workers die as soon as they are started: there is no use in going on. */
  readonly onHopeless: (reason: string) => void
}

interface Place {
  readonly number: number
  member: Member | undefined
  /** Takes the place once it serves. */
  successor: Member | undefined
  /** Deaths in a row of workers that did not live long. */
  earlyDeaths: number
  timer: NodeJS.Timeout | undefined
}

/** A worker that served for longer did not die of its start. */
const longLifeMs = 30_000
const mostEarlyDeaths = 5
const backoffMs = [0, 500, 1_000, 2_000, 4_000]

export function createFleet({ size, log, materials, onHopeless }: FleetOptions): Fleet {
  const places = Array.from(
    { length: size },
    (_, i): Place => ({ number: i + 1, member: undefined, successor: undefined, earlyDeaths: 0, timer: undefined }),
  )
  const members = () => places.flatMap(({ member, successor }) => [member ?? [], successor ?? []].flat())
  const leaving = new Set<Member>()
  const all = () => [...members(), ...leaving]
  const countOf = (state: Member['state']) => all().filter((member) => member.state === state).length
  const metrics = createFleetMetrics(() => ({
    ready: countOf('ready'),
    starting: countOf('starting'),
    stopping: countOf('stopping'),
  }))
  let isStarted = false
  let isStopping = false
  let restarting: Promise<void> | undefined
  let isAskedAgain = false
  // Materials hold certificates and keys as they are, not as JSON.
  cluster.setupPrimary({ serialization: 'advanced' })

  const launch = (place: Place): Member => {
    const member = startMember(place.number, materials, textOfAll)
    void member.ended.then((how) => onEnded(place, member, how))
    return member
  }
  const textOfAll = () =>
    metrics.text(
      all()
        .filter(({ state }) => state === 'ready' || state === 'stopping')
        .map((member) => ({ worker: member.number, metrics: member.askMetrics() })),
    )

  const onEnded = (place: Place, member: Member, how: string) => {
    if (place.member !== member || isStopping || !isStarted) return
    metrics.died()
    place.member = undefined
    const livedLong = (member.age ?? 0) > longLifeMs
    place.earlyDeaths = livedLong ? 0 : place.earlyDeaths + 1
    if (place.earlyDeaths >= mostEarlyDeaths) {
      onHopeless(`worker ${place.number} died ${place.earlyDeaths} times in a row soon after its start: ${how}`)
      return
    }
    const waitMs = backoffMs[place.earlyDeaths] ?? 0
    log.error({ worker: place.number, pid: member.pid, how, waitMs }, 'a worker died; another takes its place')
    place.timer = setTimeout(() => fill(place), waitMs)
  }
  const fill = (place: Place) => {
    // A rolling restart may have filled it meanwhile.
    if (isStopping || place.member !== undefined || place.successor !== undefined) return
    const member = launch(place)
    place.member = member
    member.ready.then(
      () => log.info({ worker: place.number, pid: member.pid }, 'the worker serves'),
      () => {},
    )
  }

  const replace = async (place: Place) => {
    const successor = launch(place)
    place.successor = successor
    try {
      await successor.ready
    } finally {
      place.successor = undefined
      // Its predecessor may have died in the meantime and waits to be replaced.
      if (successor.state === 'ended' && place.member === undefined) place.timer = setTimeout(() => fill(place), 500)
    }
    const old = place.member
    place.member = successor
    place.earlyDeaths = 0
    if (old === undefined) return
    leaving.add(old)
    await old.stop()
    leaving.delete(old)
  }
  const replaceAll = async () => {
    log.info('the workers are restarted, one after the other')
    for (const place of places) {
      if (isStopping) return
      try {
        await replace(place)
      } catch (error) {
        if (isStopping) return
        const { message } = error as Error
        log.error({ worker: place.number, cause: message }, 'a new worker does not start; the old ones stay')
        return
      }
      log.info({ worker: place.number }, 'the worker was replaced')
    }
    log.info('all workers were restarted')
  }

  return {
    async start() {
      // One first: what keeps it from starting would keep all, and is said once.
      const [first, ...others] = places as [Place, ...Place[]]
      first.member = launch(first)
      const address = await first.member.ready
      for (const place of others) place.member = launch(place)
      await Promise.all(others.map(({ member }) => member?.ready))
      isStarted = true
      // One may have died while the others started.
      for (const place of places) if (place.member?.state === 'ended') onEnded(place, place.member, 'at the start')
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
      for (const { timer } of places) clearTimeout(timer)
      await Promise.all(all().map((member) => member.stop()))
    },
    kill() {
      isStopping = true
      for (const member of all()) member.kill()
    },
  }
}
