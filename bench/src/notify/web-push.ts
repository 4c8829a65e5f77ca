import { type LiveFigure, rate } from '../live/figures.ts'
import { inParallel, makeLogins } from '../live/people.ts'
import { progress } from '../progress.ts'
import { cpuFigures, drain, fillSingle } from './backlog.ts'
import type { NotifyWorld } from './world.ts'

const goal = 400
const prefix = 'w'

/** How fast what waits for browsers is encrypted, sent and logged; each of another message. */
export async function measureWebPush(world: NotifyWorld): Promise<LiveFigure[]> {
  const { ask, extent, providers } = world
  const { browsers, webPushes } = extent
  progress(`${browsers} users with a browser each`)
  const push = '/notifications/push/v1'
  const { publicKey } = (await ask('GET', `${push}/vapid-key`)) as { publicKey: string }
  const subscriptions = await providers.subscribe(browsers, publicKey)
  const logins = await makeLogins(ask, prefix, browsers)
  await inParallel(
    logins.map((login, i) => ({ login, subscription: subscriptions[i] })),
    async ({ login, subscription }) => {
      await ask('POST', `${push}/tokens`, { platform: 'web_push', subscription, authToken: login.token })
    },
  )
  const { logged, cpu } = await drain(world, webPushes, () =>
    fillSingle(world, webPushes, browsers, (i) => `${prefix}${i}`),
  )
  return [
    {
      what: `${webPushes} pushes to browsers that wait, each of another message, sent and logged`,
      value: rate(logged),
      goal: `at least ${rate(goal)}`,
      met: logged >= goal,
    },
    ...cpuFigures('the same', 'push', cpu),
  ]
}
