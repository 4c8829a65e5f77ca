import { setTimeout as delay } from 'node:timers/promises'
import type { Goal } from '../goals.ts'
import { progress } from '../progress.ts'
import type { Service } from '../service.ts'
import { type Latencies, percentile, sendAtPace } from './open-loop.ts'
import { messageOf } from './world.ts'

export interface BesideOptions {
  /** What it is, with its article. */
  readonly what: string
  readonly rounds: number
  /** Of sending with nothing beside it, in each round. */
  readonly seconds: number
  /** Does it once. @param signal ends it */
  run(signal: AbortSignal): Promise<unknown>
}

export const perSecond = 500
/** Of sending that is not counted. What filled the world has left the disk and the database something to do. */
const warmUpMs = 40_000
/** Nothing may take longer beside those who send: then it is ended and said to be late. */
const longestMs = 240_000

/**
 * What something costs those who send 500 messages a second, whatever becomes of those before: in each round alone and beside it, the
 * first of the two in turn.
 */
export async function measureBeside(service: Service, { what, rounds, seconds, run }: BesideOptions): Promise<Goal[]> {
  const send = (isOver: () => boolean) => sendAtPace(service.port, perSecond, messageOf(service), isOver)
  const sendFor = (ms: number) => {
    const until = performance.now() + ms
    return send(() => performance.now() > until)
  }
  const all: { alone: Latencies; during: Latencies; seconds: number | undefined }[] = []
  progress(`sends at ${perSecond} a second, to warm up`)
  await sendFor(warmUpMs)
  for (let round = 1; round <= rounds; round++) {
    const alone = async () => {
      progress(`sends at ${perSecond} a second, round ${round}, alone`)
      return sendFor(seconds * 1000)
    }
    const beside = async () => {
      progress(`sends at ${perSecond} a second, round ${round}, beside ${what}`)
      let isOver = false
      const begun = performance.now()
      const limit = AbortSignal.timeout(longestMs)
      const [during, took] = await Promise.all([
        send(() => isOver),
        run(limit)
          .then(() => (performance.now() - begun) / 1000)
          .catch((error: unknown) => {
            if (!limit.aborted) throw error
            return undefined
          })
          .finally(() => {
            isOver = true
          }),
      ])
      return { during, seconds: took }
    }
    await delay(1_000)
    if (round % 2 === 1) {
      const first = await alone()
      await delay(1_000)
      all.push({ alone: first, ...(await beside()) })
    } else {
      const first = await beside()
      await delay(1_000)
      all.push({ ...first, alone: await alone() })
    }
  }
  return goals(what, all)
}

function goals(
  what: string,
  all: readonly { alone: Latencies; during: Latencies; seconds: number | undefined }[],
): Goal[] {
  const ratioOf = (share: number) =>
    percentile(
      all.map(({ alone, during }) => percentile(during.values, share) / percentile(alone.values, share)),
      0.5,
    )
  const each = (which: 'alone' | 'during', share: number) =>
    all.map((round) => percentile(round[which].values, share).toFixed(1)).join(', ')
  const told = (name: string, reached: string): Goal => ({ name, goal: '', reached, met: true })
  const none = (name: string, count: number): Goal => ({ name, goal: '0', reached: String(count), met: count === 0 })
  const sent = all.flatMap(({ alone, during }) => [alone, during])
  const middle = ratioOf(0.99)
  return [
    told(`${what} beside those who send`, all.map(({ seconds }) => `${seconds?.toFixed(1)} s`).join(', ')),
    told('p50, p99 of sends, alone, ms', `${each('alone', 0.5)}; ${each('alone', 0.99)}`),
    told(`p50, p99 of sends, beside ${what}, ms`, `${each('during', 0.5)}; ${each('during', 0.99)}`),
    told('sends that waited at once, at most', String(Math.max(...sent.map(({ waiting }) => waiting)))),
    told('the middle of how many times the p50 is', ratioOf(0.5).toFixed(2)),
    {
      name: 'the middle of how many times the p99 is',
      goal: 'at most 1.25',
      reached: middle.toFixed(2),
      met: middle <= 1.25,
    },
    none(
      'sends that failed',
      sent.reduce((sum, { failures }) => sum + failures, 0),
    ),
    none('times that it was not over in time', all.filter(({ seconds }) => seconds === undefined).length),
    none('times that the pace could not be kept', sent.filter(({ isBehind }) => isBehind).length),
  ]
}
