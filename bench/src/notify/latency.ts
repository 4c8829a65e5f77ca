import { setTimeout as delay } from 'node:timers/promises'
import { type LiveFigure, milliseconds, quantile } from '../live/figures.ts'
import { median } from '../measure.ts'
import { progress } from '../progress.ts'
import { textTo } from '../requests.ts'
import { type Sent, sendSteadily } from './steady.ts'
import { type Cpu, eachOf, groupOf, type NotifyWorld, uidOf } from './world.ts'

const perSecond = 500

/** From the answer to a send, which comes after the commit, until the provider has the push. */
export async function measureWay(world: NotifyWorld): Promise<LiveFigure[]> {
  const { service, apps, providers, extent } = world
  progress(`the way to the provider at ${perSecond} messages a second`)
  await providers.forget()
  const warmUp = await sendSteadily(service.port, apps.with, { perSecond, seconds: 3 })
  // What comes late would be counted in the place of what is measured.
  await providers.until(warmUp.length)
  await providers.gather()
  const sent = await sendSteadily(service.port, apps.with, { perSecond, seconds: extent.seconds })
  await providers.until(sent.length)
  const arrivedAt = new Map((await providers.gather()).map(({ tag, at }) => [tag, at]))
  await providers.forget()
  // A push may be there before the answer.
  const ways = sent.map(({ id, answeredAt }) => Math.max(0, (arrivedAt.get(id) ?? Number.NaN) - answeredAt))
  const [p50, p99] = [quantile(ways, 0.5), quantile(ways, 0.99)]
  const what = `from commit to provider at ${perSecond} messages a second`
  return [
    { what: `${what}, p50`, value: milliseconds(p50), goal: 'below 100 ms', met: p50 < 100 },
    { what: `${what}, p99`, value: milliseconds(p99), goal: 'below 500 ms', met: p99 < 500 },
  ]
}

/** Milliseconds until the last member of a group is told. */
const groupGoals: Readonly<Record<number, number>> = { 1000: 1_000, 10000: 8_000 }

export async function measureGroups(world: NotifyWorld): Promise<LiveFigure[]> {
  const figures: LiveFigure[] = []
  for (const members of world.extent.groups) {
    const waits: number[] = []
    for (let i = 0; i < world.extent.groupMessages; i++) {
      progress(`a message to a group of ${members}, ${i + 1} of ${world.extent.groupMessages}`)
      await world.providers.forget()
      await world.ask('POST', '/messages', textTo(groupOf(members), 'group'), uidOf(0))
      const answeredAt = performance.timeOrigin + performance.now()
      const { lastAt } = await world.providers.until(members - 1)
      waits.push(lastAt - answeredAt)
      await delay(1_000)
    }
    const goal = groupGoals[members]
    const middle = median(waits)
    figures.push({
      what: `last of ${members.toLocaleString('en')} members called, median of ${waits.length}`,
      value: milliseconds(middle),
      beside: `${milliseconds(Math.max(...waits))} at most`,
      ...(goal !== undefined && { goal: `within ${goal / 1000} s`, met: middle <= goal }),
    })
  }
  return figures
}

const names: Readonly<Record<keyof Cpu, string>> = {
  ...{ service: 'service', postgres: 'PostgreSQL', providers: 'emulators', load: 'what sends' },
}

/** What notifications cost those who send, in pairs of runs so that a slow minute hits both. */
export async function measureSends(world: NotifyWorld): Promise<LiveFigure[]> {
  const { service, apps, providers, extent } = world
  const used = { with: [] as Cpu[], without: [] as Cpu[] }
  const ratios: Array<{ p50: number; p99: number }> = []
  const shown: Array<{ with: Sent[]; without: Sent[] }> = []
  const run = async (app: 'with' | 'without') => {
    const before = world.readCpu()
    const sent = await sendSteadily(service.port, apps[app], { perSecond, seconds: extent.seconds })
    // What they lead to is over, and counts as theirs.
    await delay(2_000)
    const each = eachOf(sent.length, before, world.readCpu())
    if (each !== undefined) used[app].push(each)
    return sent
  }
  await run('without')
  used.without.length = 0
  for (let pair = 0; pair < extent.pairs; pair++) {
    progress(`sends with and without notifications, pair ${pair + 1} of ${extent.pairs}`)
    await providers.forget()
    // Which of the two comes first changes.
    const first = pair % 2 === 0 ? 'with' : 'without'
    const runs = { [first]: await run(first) } as { with: Sent[]; without: Sent[] }
    const second = first === 'with' ? 'without' : 'with'
    runs[second] = await run(second)
    const of = (app: 'with' | 'without', share: number) =>
      quantile(
        runs[app].map(({ ms }) => ms),
        share,
      )
    ratios.push({ p50: of('with', 0.5) / of('without', 0.5), p99: of('with', 0.99) / of('without', 0.99) })
    shown.push(runs)
  }
  const middle = (share: number, app: 'with' | 'without') =>
    median(
      shown.map((runs) =>
        quantile(
          runs[app].map(({ ms }) => ms),
          share,
        ),
      ),
    )
  const figure = (name: 'p50' | 'p99', share: number, atMost: number): LiveFigure => {
    const ratio = median(ratios.map((one) => one[name]))
    return {
      what: `sends at ${perSecond} a second with notifications, ${name} beside without, median of ${ratios.length} pairs`,
      value: `${ratio.toFixed(2)} times`,
      beside: `${milliseconds(middle(share, 'with'))} to ${milliseconds(middle(share, 'without'))}`,
      goal: `at most ${atMost} times`,
      met: ratio <= atMost,
    }
  }
  const cpu = (app: 'with' | 'without', who: keyof Cpu) => median(used[app].map((one) => one[who]))
  const what = 'CPU for each of these sends with notifications, beside without'
  return [
    figure('p50', 0.5, 1.1),
    figure('p99', 0.99, 1.25),
    ...(['service', 'postgres', 'providers', 'load'] as const).map((who) => ({
      what: `${what}, ${names[who]}`,
      value: `${Math.round(cpu('with', who))} us`,
      beside: `${Math.round(cpu('without', who))} us`,
    })),
  ]
}
