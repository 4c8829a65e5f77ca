import pg from 'pg'
import { expect, inject, it, onTestFinished } from 'vitest'
import { listThreads } from '../../src/areas/messages/threads/list.ts'
import { dataOf, say } from '../support/chat.ts'
import { importWell, text, usersNamed } from '../support/imports.ts'
import { createExplainer, noting, type SeenQuery } from '../support/plans.ts'
import { createWorld } from '../support/world.ts'

it('whoever takes part in much does not have all conversations looked at for the few threads of an app', async () => {
  const world = await createWorld()
  const others = Array.from({ length: 300 }, (_, i) => `other-${i}`)
  await importWell(world, 'users', usersNamed('busy', ...others))
  await importWell(
    world,
    'messages',
    others.map((uid, i) => text(`hello ${i}`, 'busy', uid, 1_600_000_000 + i)),
  )
  const parents: number[] = []
  for (const uid of others.slice(0, 3)) {
    const { id } = await say(world, 'busy', uid, `a question to ${uid}`)
    dataOf(
      await world.post(
        `/messages/${id}/thread`,
        {
          ...{ receiver: uid, receiverType: 'user', category: 'message', type: 'text', data: { text: 'and one more' } },
        },
        { as: 'busy' },
      ),
    )
    parents.unshift(Number(id))
  }

  const { app, context } = world
  const seen: SeenQuery[] = []
  const on = noting(context.database, seen)
  const source = { of: 'viewer', appId: app.appId, viewer: 'busy', conversations: undefined } as const
  const page = async (query: object) => (await listThreads(on, { app, viewer: 'busy', source, query })).data
  expect((await page({ limit: 30 })).map(({ id }) => Number(id))).toEqual(parents)
  expect((await page({ limit: 2 })).map(({ id }) => Number(id))).toEqual(parents.slice(0, 2))

  const planner = new pg.Client(inject('connection'))
  await planner.connect()
  onTestFinished(() => planner.end())
  const { explain } = createExplainer(planner)
  const ofSides: number[] = []
  for (const query of seen) {
    for (const { table, rows } of await explain(query)) if (table === 'conversation_states') ofSides.push(rows)
  }
  // That there are many is found out by counting up to a limit.
  expect(Math.max(...ofSides)).toBeLessThan(250)
  expect(ofSides.filter((rows) => rows > 50)).toHaveLength(2)
})
