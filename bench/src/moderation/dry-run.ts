import { setTimeout as delay } from 'node:timers/promises'
import type { Bench, Extent } from '../bench.ts'
import type { AtEnd } from '../cleanup.ts'
import { whenAtRest } from '../cpu.ts'
import type { Goal } from '../goals.ts'
import { quantile } from '../live/figures.ts'
import { type Ask, createAsk, makeLogins } from '../live/people.ts'
import { median } from '../measure.ts'
import { sendSteadily } from '../notify/steady.ts'
import { pairUsers } from '../notify/world.ts'
import { progress } from '../progress.ts'
import { readLastId, whenIndexed } from '../search-index.ts'
import { scaleWorld } from '../seed/sizes.ts'
import { seedWorld } from '../seed/world.ts'
import { startBench } from '../start.ts'
import type { Corpus } from './corpus.ts'
import { makeLists, ruleOf } from './sends.ts'

const perSecond = 500
const path = '/moderation/rules/bench/dry-run'
/** Of the world of `bench:seed`. */
const scale = { full: 0.3, quick: 0.05 }

interface Run {
  readonly status: string
  readonly looked: number
}

/**
 * How many messages of history a dry run looks through in a second, and what it costs those who send meanwhile: at a steady rate,
 * whether or not the answers before are there, in pairs of runs with and without one, so that a slow minute hits both.
 */
export async function measureDryRun(
  atEnd: AtEnd,
  corpus: Corpus,
  { rounds, seconds, isQuick }: Pick<Extent, 'rounds' | 'seconds'> & { readonly isQuick: boolean },
): Promise<Goal[]> {
  const bench = await startBench(atEnd, { rounds, seconds, warmup: 0, users: 0, members: 0, messages: 0, sustained: 0 })
  const ask = createAsk(bench.service)
  await fill(bench, ask, corpus, isQuick)

  progress('a dry run by itself')
  const alone = await lookThroughAll(ask)

  const send = async () => {
    const sent = await sendSteadily(bench.service.port, bench.service, { perSecond, seconds })
    return quantile(
      sent.map(({ ms }) => ms),
      0.99,
    )
  }
  const sendBeside = async () => {
    const beganAt = performance.now()
    const running = keepRunning(ask)
    const p99 = await send()
    const looked = await running.stop()
    return { p99, looked: (1_000 * looked) / (performance.now() - beganAt) }
  }
  await send()
  await sendBeside()
  const pairs: Array<{ without: number; beside: number; looked: number }> = []
  for (let round = 0; round < rounds; round++) {
    progress(`sends beside a dry run, pair ${round + 1} of ${rounds}`)
    // Which of the two comes first changes.
    const first = round % 2 === 0 ? await rested(send) : undefined
    const { p99, looked } = await rested(sendBeside)
    pairs.push({ without: first ?? (await rested(send)), beside: p99, looked })
  }
  const middle = (of: (pair: (typeof pairs)[number]) => number) => median(pairs.map(of))
  const ratio = middle(({ beside, without }) => beside / without)
  const ms = (value: number) => `${value.toFixed(1)} ms`
  const sends = `sends at ${perSecond} a second beside a dry run`
  return [
    {
      name: 'dry run by itself, one rule with 10,000 terms and 20 patterns',
      goal: '>= 5,000 messages/s',
      reached: `${Math.round(alone)} messages/s`,
      met: alone >= 5_000,
    },
    {
      name: `${sends}, median of ${rounds} pairs: p99 to that without`,
      goal: 'at most 1.25 times',
      reached: `${ratio.toFixed(2)} times (${pairs.map((pair) => (pair.beside / pair.without).toFixed(2)).join(', ')})`,
      met: ratio <= 1.25,
    },
    {
      name: `${sends}: p99 with and without`,
      goal: '',
      reached: `${ms(middle(({ beside }) => beside))}, ${ms(middle(({ without }) => without))}`,
      met: true,
    },
    {
      name: 'what the dry run looked at beside them',
      goal: '',
      reached: `${Math.round(middle(({ looked }) => looked))} messages/s`,
      met: true,
    },
  ]

  async function rested<Result>(work: () => Promise<Result>): Promise<Result> {
    await whenAtRest(bench.readCpu)
    return work()
  }
}

/** An app with a history and a rule that is off, and users who send. */
async function fill(bench: Bench, ask: Ask, corpus: Corpus, isQuick: boolean): Promise<void> {
  const { database, service } = bench
  const { rows } = await database.query<{ app_id: number }>('select app_id from apps')
  const sizes = scaleWorld(isQuick ? scale.quick : scale.full)
  await seedWorld(database, rows[0]?.app_id as number, sizes, { progress: (step) => progress(`filling: ${step}`) })
  await whenIndexed(database, await readLastId(database), (left) => progress(`the search index lacks ${left} messages`))
  await makeLogins(ask, 'p', pairUsers)
  await ask('POST', '/moderation/rules', ruleOf(await makeLists(bench, corpus.terms(10_000)), false))
  progress('sends for a while')
  await sendSteadily(service.port, service, { perSecond, seconds: isQuick ? 2 : 10 })
}

const beginRun = (ask: Ask) => ask('POST', path, { from: 1 })
const readRun = async (ask: Ask) => (await ask('GET', `${path}?examples=1`)) as Run

/** Begins a dry run, and another one whenever it is done. */
function keepRunning(ask: Ask): { /** @returns how many messages they have looked at */ stop(): Promise<number> } {
  let isStopped = false
  /** @returns how many messages the last one has looked at when it is done, or when it is to stop */
  const lookOn = async (): Promise<number> => {
    for (;;) {
      await delay(100)
      const { status, looked } = await readRun(ask)
      if (isStopped || status === 'done') return looked
      if (status !== 'running') throw new Error(`the dry run ${status}`)
    }
  }
  const keep = async (): Promise<number> => {
    let looked = 0
    while (!isStopped) {
      await beginRun(ask)
      looked += await lookOn()
    }
    await ask('DELETE', path)
    return looked
  }
  const keeping = keep()
  return {
    stop() {
      isStopped = true
      return keeping
    },
  }
}

/** @returns messages a second, from the request to the end */
async function lookThroughAll(ask: Ask): Promise<number> {
  const beganAt = performance.now()
  await beginRun(ask)
  for (;;) {
    const { status, looked } = await readRun(ask)
    if (status === 'done') return (1_000 * looked) / (performance.now() - beganAt)
    if (status !== 'running') throw new Error(`the dry run ${status}`)
    await delay(50)
  }
}
