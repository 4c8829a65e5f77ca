import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

export interface Latencies {
  /** Milliseconds, from when each was to be sent to the end of its answer. */
  readonly values: readonly number[]
  readonly failures: number
  /** So many waited for their answer at once, at most. */
  readonly waiting: number
  /** It stopped before its time: more waited than a service can work off that keeps the pace. */
  readonly isBehind: boolean
}

/** Seconds of sending that may wait. Whoever is that far behind falls further behind, and never ends. */
const mostBehind = 20
/** Sent in one turn, so that answers are read however far behind it is. */
const mostAtOnce = 50

/**
 * Sends at a fixed pace, whatever becomes of those before: whoever is held up counts with the time that they waited. Stops where
 * so many wait that the pace cannot be kept.
 * @param send gives a path, headers and a body for the n-th
 * @param isOver asked every few milliseconds
 */
export async function sendAtPace(
  port: number,
  perSecond: number,
  send: (n: number) => { path: string; headers: Record<string, string>; body: string },
  isOver: () => boolean,
): Promise<Latencies> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const values: number[] = []
  const open = new Set<Promise<void>>()
  let [failures, waiting] = [0, 0]
  const isBehind = () => open.size > perSecond * mostBehind
  const begun = performance.now()
  for (let n = 0; !isOver() && !isBehind(); ) {
    const dueByNow = Math.floor(((performance.now() - begun) * perSecond) / 1000) + 1
    for (const end = Math.min(dueByNow, n + mostAtOnce); n < end; n++) {
      const due = begun + (n * 1000) / perSecond
      const sent = post(port, agent, send(n))
        .then((status) => {
          if (status < 300) values.push(performance.now() - due)
          else failures++
        })
        .catch(() => void failures++)
        .finally(() => open.delete(sent))
      open.add(sent)
    }
    waiting = Math.max(waiting, open.size)
    await delay(1)
  }
  const fellBehind = isBehind()
  await Promise.all(open)
  agent.destroy()
  return { values, failures, waiting, isBehind: fellBehind }
}

function post(
  port: number,
  agent: Agent,
  { path, headers, body }: { path: string; headers: Record<string, string>; body: string },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        ...{ host: '127.0.0.1', port, agent, path, method: 'POST' },
        headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
        response.on('error', reject)
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
}

/** @param share of those that are at most so large, such as 0.99 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
