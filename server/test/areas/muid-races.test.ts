import { sql } from 'kysely'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { startParley } from '../http/watched.ts'
import { dataOf, say } from '../support/chat.ts'
import { importAll } from '../support/imports.ts'
import { until } from '../support/until.ts'
import { type Answer, createUsers, createWorld, servedBy, type World } from '../support/world.ts'

const toBob = (muid: string) => ({ receiver: 'bob', receiverType: 'user', muid, data: { text: muid } })
const muidsIn = async (world: World) => {
  const messages = dataOf(await world.get('/users/bob/messages?limit=100', { as: 'alice' }))
  return messages.flatMap(({ muid }: { muid?: string }) => muid ?? [])
}

/** Keeps what is sent to the conversation of alice and bob waiting, until `work` is done. */
async function whileLocked(world: World, work: (waiting: (batches: number) => Promise<unknown>) => Promise<void>) {
  const { database } = world.context
  const countWaiting = async () => {
    const [row] = await database.run(sql<{ count: number }>`
      select count(*) as count from pg_stat_activity
      where application_name like 'parley writer apart%' and wait_event_type = 'Lock' and datname = current_database()`)
    return row?.count ?? 0
  }
  await database.transaction(async (tx) => {
    await tx.run(sql`
      select key from conversations
      where app_id = ${world.app.appId} and first = 'alice' and second = 'bob' for update`)
    await work((batches) =>
      until(async () => {
        // The database ends a transaction that stands still.
        await tx.run(sql`select 1`)
        return (await countWaiting()) >= batches
      }),
    )
  })
}

async function scene(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  await say(world, 'alice', 'bob', 'first')
  return world
}

describe('Two sends with one muid at the same instant are one message', () => {
  const send = (world: World, muid: string) => world.post('/messages', toBob(muid), { as: 'alice' })
  const expectOne = async (world: World, sent: Array<Promise<Answer>>, muid: string) => {
    const answers = await Promise.all(sent)
    expect(new Set(answers.map((answer) => dataOf(answer).id)).size).toBe(1)
    expect((await muidsIn(world)).filter((found: string) => found === muid)).toEqual([muid])
  }

  it('at two processes', async () => {
    const world = await scene()
    const second = await startParley({ connection: inject('connection') })
    onTestFinished(() => second.parley.close())
    const sent: Array<Promise<Answer>> = []
    await whileLocked(world, async (waiting) => {
      sent.push(send(world, 'twice'))
      await waiting(1)
      sent.push(send(servedBy(world, second.url), 'twice'))
      await waiting(2)
    })
    await expectOne(world, sent, 'twice')
  })

  it('in one batch', async () => {
    const world = await scene()
    const sizes: unknown[] = []
    const observe = vi.spyOn(world.context.metrics.batches, 'observe')
    observe.mockImplementation((...values: unknown[]) => void sizes.push(values[1]))
    const others: Array<Promise<Answer>> = []
    const sent: Array<Promise<Answer>> = []
    await whileLocked(world, async (waiting) => {
      others.push(send(world, 'other'))
      await waiting(1)
      sent.push(send(world, 'twice'), send(world, 'twice'))
      // Both are on their way before this is answered.
      for (let n = 0; n < 20; n++) await world.get('/users/alice')
    })
    await expectOne(world, sent, 'twice')
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200])
    // With the other one where that has waited for more than one turn.
    expect(sizes.some((size) => size === 2 || size === 3)).toBe(true)
    observe.mockRestore()
  })
})

describe('An import whose muid another one takes at the same instant', () => {
  it('makes nothing of what it brings along', async () => {
    const world = await scene()
    for (let round = 0; round < 5; round++) {
      const muid = `import-${round}`
      const record = (uid: string, more: object) => ({
        ...{ muid, sender: uid, receiver: 'bob', receiverType: 'user', data: { text: 'x' }, sentAt: 1000 },
        ...{ senderUserDetails: { uid, name: uid } },
        ...more,
      })
      const club = (name: string) => ({
        ...{ receiver: name, receiverType: 'group' },
        receiverGroupDetails: { guid: name, name, type: 'public' },
      })
      const rivals = ['a', 'b', 'c', 'd'].map((letter) => `${letter}${round}`)
      const outcomes = await Promise.all(
        rivals.map((uid, n) => importAll(world, 'messages', [record(uid, n % 2 === 0 ? {} : club(`club-${uid}`))])),
      )
      const isStored = outcomes.map((outcome) => outcome[muid].success)
      expect(isStored.filter(Boolean)).toHaveLength(1)
      for (const [n, uid] of rivals.entries()) {
        expect((await world.get(`/users/${uid}`)).status, uid).toBe(isStored[n] ? 200 : 404)
        if (n % 2 === 1) expect((await world.get(`/groups/club-${uid}`)).status, uid).toBe(isStored[n] ? 200 : 404)
        if (!isStored[n]) expect(outcomes[n][muid].error.code).toBe('ERR_IMPORT_MUID_ALREADY_EXISTS')
      }
    }
  })
})
