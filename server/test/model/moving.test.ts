import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findDrift } from '../../src/doctor/drift.ts'
import { createGroup } from '../support/chat.ts'
import { expectSame, thereAndBack } from '../support/exports.ts'
import { addRules } from '../support/held.ts'
import { createUsers, createWorld } from '../support/world.ts'
import { ChatModel, owner, type Person, people } from './chat-model.ts'
import { seed } from './seed.ts'
import { anyStep, take } from './steps.ts'

/** MODEL_RUNS makes a longer run. */
const runs = Number(process.env.MODEL_RUNS ?? 2)

describe('what random sequences of what five users do have left', () => {
  it(`is the same when it was exported, imported and exported again (MODEL_SEED=${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 20, maxLength: 60 }), async (steps) => {
        const world = await createWorld()
        await createUsers(world, ...people)
        const participants: Person[] = ['ben', 'cat']
        await createGroup(world, 'team', owner, { participants })
        const model = new ChatModel([owner, ...participants])
        const endRules = addRules(world)
        for (const step of steps) await take(step, world, model)
        endRules()
        await thereAndBack(world, async (first, second, target) => {
          await expectSame(first, second)
          expect(await findDrift(world.context.database, target.appId)).toEqual([])
        })
      }),
      { seed, numRuns: runs, endOnFailure: process.env.MODEL_SHRINK === undefined },
    )
  })
})
