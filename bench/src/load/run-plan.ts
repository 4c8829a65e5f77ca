import { createHistogram } from 'node:perf_hooks'
import { type Connection, openConnection } from './connection.ts'
import type { LoadPlan, LoadResult } from './plan.ts'

/** Answers that are under way when the time is up may take this much longer; they are not counted. */
const patienceMs = 10_000

/**
 * Carries out a plan and gives what it measured.
 * @param onMeasuring called when the warm-up is over
 */
export async function runPlan(plan: LoadPlan, onMeasuring: () => void): Promise<LoadResult> {
  const requests = plan.connections.map((list) => list.map((request) => Buffer.from(request, 'latin1')))
  const latency = createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 })
  let answers = 0
  let failures = 0
  let firstFailure: string | undefined
  let lastAnswer = 0

  const fail = (reason: string) => {
    failures++
    firstFailure ??= reason
  }
  const count = (status: number, body: string, sentAt: number, now: number) => {
    if (status >= 300) {
      fail(`${status} ${body.slice(0, 500)}`)
      return
    }
    if (sentAt < measureFrom || now > measureTo) return
    answers++
    lastAnswer = now
    latency.record(Math.max(1, Math.round((now - sentAt) * 1000)))
  }

  /** Sends the requests of one connection until the plan or the time is over. */
  const drive = (list: readonly Buffer[]) =>
    new Promise<void>((resolve) => {
      let next = 0
      let sentAt = 0
      const end = () => {
        connection.close()
        clearTimeout(deadline)
        resolve()
      }
      const sendNext = (now: number) => {
        if (next === list.length && plan.repeat) next = 0
        const request = list[next++]
        if (request === undefined || now >= measureTo) return end()
        sentAt = now
        connection.send(request)
      }
      const connection: Connection = openConnection(plan.port, {
        open: () => sendNext(performance.now()),
        answer(status, body) {
          const now = performance.now()
          count(status, body, sentAt, now)
          const { pauseWhenRefused = 0 } = plan
          if (status < 300 || pauseWhenRefused === 0) sendNext(now)
          else setTimeout(() => sendNext(performance.now()), pauseWhenRefused)
        },
        broken(reason) {
          fail(reason)
          end()
        },
      })
      const deadline = setTimeout(
        () => {
          fail('no answer in time')
          end()
        },
        measureTo - performance.now() + patienceMs,
      )
    })

  const measureFrom = performance.now() + plan.warmup * 1000
  const measureTo = measureFrom + plan.seconds * 1000
  const warm = setTimeout(onMeasuring, plan.warmup * 1000)
  await Promise.all(requests.map(drive))
  clearTimeout(warm)
  const measuredTo = plan.repeat || lastAnswer === 0 ? measureTo : lastAnswer
  const ms = (percentile: number) => latency.percentile(percentile) / 1000
  return {
    answers,
    failures,
    firstFailure,
    seconds: (measuredTo - measureFrom) / 1000,
    p50: ms(50),
    p99: ms(99),
    max: latency.count === 0 ? 0 : latency.max / 1000,
  }
}
