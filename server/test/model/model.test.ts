import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findDrift } from '../../src/doctor/drift.ts'
import { createGroup, dataOf } from '../support/chat.ts'
import { addRules } from '../support/held.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { ChatModel, owner, type Person, people, type Talk } from './chat-model.ts'
import { seed } from './seed.ts'
import { anyStep, take } from './steps.ts'

/** MODEL_RUNS makes a longer run. */
const runs = Number(process.env.MODEL_RUNS ?? 8)

describe('random sequences of what five users do', () => {
  it(`leave the service where a plain model of a chat stands (MODEL_SEED=${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 20, maxLength: 60 }), async (steps) => {
        const { world, model } = await begin()
        const endRules = addRules(world)
        for (const [i, step] of steps.entries()) {
          const { answered, expected } = await take(step, world, model)
          expect({ i, step, answered }).toEqual({ i, step, answered: expected })
        }
        await compare(world, model)
        expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
        endRules()
      }),
      { seed, numRuns: runs, endOnFailure: process.env.MODEL_SHRINK === undefined },
    )
  })
})

async function begin(): Promise<{ world: World; model: ChatModel }> {
  const world = await createWorld()
  await createUsers(world, ...people)
  const participants: Person[] = ['ben', 'cat']
  await createGroup(world, 'team', owner, { participants })
  return { world, model: new ChatModel([owner, ...participants]) }
}

async function compare(world: World, model: ChatModel): Promise<void> {
  for (const person of people.filter((name) => !model.asleep.has(name))) {
    const list = dataOf(await world.get('/conversations', { as: person }))
    const answered = Object.fromEntries(
      list.map((c: { conversationId: string; unreadMessageCount: string }) => [c.conversationId, c.unreadMessageCount]),
    )
    const expected = Object.fromEntries([...model.list(person)].map(([talk, count]) => [nameOf(talk), String(count)]))
    expect({ person, list: answered }).toEqual({ person, list: expected })

    for (const talk of model.talks.keys()) {
      if (!model.sees(talk, person)) continue
      const path = talk === 'team' ? '/groups/team/messages' : `/users/${model.peer(talk, person)}/messages`
      const history = dataOf(await world.get(`${path}?limit=1000`, { as: person }))
      expect({ person, talk, history: history.map(({ id }: { id: string }) => id) }).toEqual({
        person,
        talk,
        history: model.history(talk, person),
      })
    }
  }
  for (const talk of model.talks.keys()) {
    const messages = dataOf(await world.get(`/messages?conversationId=${nameOf(talk)}&limit=1000&category=message`))
    const answered = messages
      .filter((message: { sender: string; receiver: string }) => message.sender !== message.receiver)
      .map(({ id, deliveredAt, readAt }: { id: string; deliveredAt?: number; readAt?: number }) => [
        id,
        { delivered: deliveredAt !== undefined, read: readAt !== undefined },
      ])
    const expected = [...model.receipts(talk)].filter(() => !isOwn(talk))
    expect({ talk, receipts: answered }).toEqual({ talk, receipts: expected })
  }
}

function nameOf(talk: Talk): string {
  return talk === 'team' ? 'group_team' : talk.replace(' ', '_user_')
}

/** A talk with oneself has no receipts. */
function isOwn(talk: Talk): boolean {
  const [a, b] = talk.split(' ')
  return a === b
}
