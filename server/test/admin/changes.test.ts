import { describe, expect, it } from 'vitest'
import { createChangeWatch } from '../../src/areas/operators/index.ts'
import { createBus } from '../../src/events/bus.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld } from '../support/world.ts'
import { createOperator, createOwner, type Visitor } from './operator.ts'

describe('waiting until something happens in an app', () => {
  /** Waits, and does something again and again until it was told. */
  async function told(visitor: Visitor, path: string, deed: () => Promise<unknown>): Promise<unknown> {
    let answer: { happened: boolean } | undefined
    const asked = visitor.get(path).then((said) => {
      answer = dataOf(said)
    })
    await until(async () => {
      if (answer === undefined) await deed()
      return answer !== undefined
    })
    await asked
    return answer
  }

  it('ends with what happens, in the app or in one conversation, and says nothing of what', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice')
    const owner = await createOwner(world)
    const support = await createOperator(owner, { role: 'support', apps: [world.app.name] })
    const changes = `/apps/${world.app.name}/changes`
    const happened = { happened: true }
    expect(await told(support, `${changes}?wait=25`, () => say(world, 'alice', 'bob', 'Psst'))).toEqual(happened)
    const inGroup = `${changes}?wait=25&conversationId=group_team`
    expect(await told(support, inGroup, () => sayInGroup(world, 'alice', 'team', 'All'))).toEqual(happened)
    const ofTwo = `${changes}?wait=25&conversationId=alice_user_bob`
    const { id } = await say(world, 'bob', 'alice', 'Yes?')
    const edit = () => world.put(`/messages/${id}`, { data: { text: 'Yes!' } }, { as: 'bob' })
    expect(await told(support, ofTwo, edit)).toEqual(happened)

    // Elsewhere, or in another app, it is none of it.
    const other = await createWorld()
    await createUsers(other, 'alice', 'bob')
    let isOver = false
    const quiet = owner.get(`${inGroup.replace('wait=25', 'wait=1')}`).then((answer) => {
      isOver = true
      return dataOf(answer)
    })
    await until(async () => {
      await say(world, 'alice', 'bob', 'Psst')
      await sayInGroup(other, 'alice', (await createGroup(other, `team-${Date.now()}`, 'alice')).guid, 'All')
      return isOver
    })
    expect(await quiet).toEqual({ happened: false })
    expect(dataOf(await owner.get(changes))).toEqual({ happened: false })
    expect(refusal(await owner.get(`${changes}?wait=26`))).toBe('400 ERR_BAD_REQUEST')
  })

  it('is bounded for each operator, and over when the service stops', async () => {
    const bus = createBus()
    const watch = createChangeWatch(bus)
    const wanted = { appId: 1, conversation: undefined, operator: 1 }
    const first = watch.wait(wanted, 25)
    const others = Array.from({ length: 9 }, () => watch.wait(wanted, 25))
    const another = watch.wait({ ...wanted, operator: 2 }, 25)
    const eleventh = watch.wait(wanted, 25)
    expect(await first).toBe(false)
    // What happened in another process is told, too; nothing is made for those who wait alone.
    expect(bus.isHeard).toBe(false)
    bus.receive(2, { trigger: 'user_blocked', by: 'alice', uids: ['bob'] })
    bus.receive(1, { trigger: 'user_blocked', by: 'alice', uids: ['bob'] })
    expect(await Promise.all([...others, another, eleventh])).toEqual(Array.from({ length: 11 }, () => true))
    const last = watch.wait(wanted, 25)
    watch.stop()
    expect(await last).toBe(false)
    expect(await watch.wait(wanted, 25)).toBe(false)
  })
})
