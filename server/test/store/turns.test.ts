import { expect, it } from 'vitest'
import { createTurns } from '../../src/store/turns.ts'
import { until } from '../support/until.ts'

const limits = {
  ...{ atOnce: 1, atOncePerApp: 1, atOncePerUser: 1, atOncePerKey: 1 },
  ...{ waitingPerReader: 100, waitingPerApp: 100, waiting: 100 },
}

it('Whoever rests after their turn lets all others go first, and is served afterwards', async () => {
  const turns = createTurns('test', limits, 0)
  const order: string[] = []
  const ask = (uid: string, restMs: number) =>
    turns.run(
      { appId: 1, uid },
      async () => void order.push(uid),
      () => restMs,
    )
  const all = [ask('anna', 100), ask('anna', 100), ask('anna', 0)]
  for (let n = 0; n < 10; n++) all.push(ask('bert', 0))
  await Promise.all(all)
  expect(order).toEqual(['anna', ...Array(10).fill('bert'), 'anna', 'anna'])
  // Nor do they come sooner by asking anew when nothing of theirs waits.
  await ask('anna', 100)
  const again = Promise.all([ask('anna', 0), ask('bert', 0)])
  await again
  expect(order.slice(-3)).toEqual(['anna', 'bert', 'anna'])
  await until(() => turns.load.running === 0 && turns.load.waiting === 0)
})
