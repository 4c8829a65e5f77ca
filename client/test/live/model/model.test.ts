import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, describe, it } from 'vitest'
import { createRandom } from '../../../../server/test/faults/support/random.ts'
import { seed } from '../../../../server/test/model/seed.ts'
import { createWorld } from '../../../../server/test/support/world.ts'
import { openGround } from '../support/ground.ts'
import { expectLedger, expectTruth } from './compare.ts'
import { takeStep } from './steps.ts'
import { createScene, type Ground, type Random, type Scene } from './world.ts'

const runs = Number(process.env.MODEL_RUNS ?? 1)

/** Steps in a row, with a quiet moment after each of the rounds. */
async function play(scene: Scene, { rounds, steps }: { rounds: number; steps: number }, random: Random): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (let step = 0; step < steps; step++) {
      await takeStep(scene)
      if (random.chance(0.5)) await delay(random.between(0, 30))
    }
    await expectTruth(scene)
  }
  await expectLedger(scene)
}

async function inScene(ground: Ground, ownSeed: number, work: (scene: Scene, random: Random) => Promise<void>) {
  const random = createRandom(ownSeed)
  const scene = await createScene(ground, random, { users: 3, tabs: 4, prefix: `s${ownSeed}-` })
  try {
    await work(scene, random)
  } catch (error) {
    throw Object.assign(error as Error, {
      message: `seed ${ownSeed}, after ${scene.steps.length} steps: ${(error as Error).message}`,
    })
  } finally {
    await scene.close()
  }
}

describe('what each store shows is what the lists answer', () => {
  for (let run = 0; run < runs; run++) {
    const own = seed + run
    it(`over a flapping network (MODEL_SEED=${own})`, async () => {
      const ground = await createWorld()
      await inScene(ground, own, (scene, random) => play(scene, { rounds: 3, steps: 60 }, random))
    })
  }

  it(`after the service was killed (MODEL_SEED=${seed})`, async () => {
    const ground = await openGround()
    afterAll(() => ground.close())
    for (let run = 0; run < runs; run++) {
      await inScene(ground, seed + run, async (scene, random) => {
        await play(scene, { rounds: 1, steps: 30 }, random)
        const coming = delay(random.between(0, 200)).then(() => ground.restart())
        for (let step = 0; step < 15; step++) await takeStep(scene).catch(() => {})
        const url = await coming
        for (const { line } of scene.tabs) line.target(url)
        await play(scene, { rounds: 1, steps: 30 }, random)
      })
    }
  })
})
