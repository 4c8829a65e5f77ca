import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findDrift } from '../../../src/doctor/drift.ts'
import { createGroup, dataOf } from '../../support/chat.ts'
import { createUsers, createWorld, type World as Service } from '../../support/world.ts'
import { seed } from '../seed.ts'
import { Heard } from './heard.ts'
import { owner, people, tested, World } from './model.ts'
import { badWord, Stage } from './stage.ts'
import { anyStep } from './step.ts'
import { take } from './take.ts'
import { Told } from './told.ts'
import { compareViews } from './views.ts'

/** MODEL_RUNS makes a longer run. */
const runs = Number(process.env.MODEL_RUNS ?? 2)

describe('whatever four users do in two groups and with each other', () => {
  it(`each is shown what a plain model says, in every list, after every step (MODEL_SEED=${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 12, maxLength: 24 }), async (steps) => {
        const service = await begin()
        const heard = await Heard.open(service)
        const told = await Told.open(service)
        const stage = new Stage(service, new World(Math.floor(Date.now() / 1000)), heard)
        for (const [i, step] of steps.entries()) {
          expect({ i, step, wrong: await take(stage, step) }).toEqual({ i, step, wrong: undefined })
          await compareViews(service, stage.model, i)
          await heard.compare()
        }
        heard.close()
        await told.compare(stage.told)
        await told.close()
        expect(await findDrift(service.context.database, service.app.appId)).toEqual([])
      }),
      { seed, numRuns: runs, endOnFailure: process.env.MODEL_SHRINK === undefined },
    )
  })
})

async function begin(): Promise<Service> {
  const service = await createWorld()
  dataOf(await service.post('/roles', { role: 'tested', name: 'Tested' }))
  const words = { operand: 'text', category: 'word', operator: 'contains', value: [badWord] }
  const rule = { id: 'bad', name: 'Bad words', mode: 'on', action: ['blockMessage'], conditions: [words] }
  dataOf(await service.post('/moderation/rules', rule))
  await createUsers(service, ...people)
  dataOf(await service.put(`/users/${tested}`, { role: 'tested' }))
  await createGroup(service, 'team', owner, { participants: ['ben', 'cat'] })
  await createGroup(service, 'den', owner, { participants: ['ben'] }, { type: 'private' })
  return service
}
