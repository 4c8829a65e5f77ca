import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CustomEmulator, startCustomEmulator } from '../../src/emulators/custom.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { logsOf, setUpCustomPush } from '../support/notifications.ts'
import { soon } from '../support/until.ts'
import { createUsers, createWorld } from '../support/world.ts'

let emulator: CustomEmulator
beforeAll(async () => {
  emulator = await startCustomEmulator()
})
afterAll(() => emulator.close())

interface Log {
  readonly uid: string
  readonly success?: boolean
  readonly attempts: number
}
const push = '/notifications/push/v1/providers/custom'

describe('the emulator of a webhook of the app', () => {
  it('answers for each of a batch, and keeps all of it in its journal', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'gone-dave', 'busy-erin')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol', 'gone-dave', 'busy-erin'] })
    await setUpCustomPush(world, `${emulator.endpoint}/push`, { batchSize: 100 })
    const { secret } = dataOf(await world.post(`${push}/secret`))
    emulator.expectSignature(secret)
    const before = emulator.requests
    await sayInGroup(world, 'alice', 'team', 'hello')
    await soon(async () => {
      const logs: Log[] = await logsOf(world)
      expect(logs.map(({ uid, success, attempts }) => `${uid} ${success} ${attempts}`).sort()).toEqual([
        'bob true 1',
        'busy-erin undefined 1',
        'carol true 1',
        'gone-dave false 1',
      ])
    })
    expect(emulator.requests - before).toBeLessThan(5)
    const journal = (await (await fetch(`${emulator.endpoint}/journal`)).json()) as Array<{
      uid: string
      id: string
      status: number
    }>
    expect(new Set(journal.map(({ id }) => id)).size).toBe(4)
    expect(journal.find(({ uid }) => uid === 'busy-erin')).toMatchObject({ status: 429 })
    expect(emulator.notifications.find(({ uid }) => uid === 'bob')).toMatchObject({
      ...{ channel: 'push', isInBatch: true, status: 200 },
      data: { notificationDetails: { title: 'Alice @ team', body: 'hello' } },
    })
  })

  it('takes nothing that is signed with another secret', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'frank')
    await setUpCustomPush(world, `${emulator.endpoint}/push`)
    emulator.expectSignature('whsec_c29tZWJvZHkgZWxzZQ==')
    await say(world, 'alice', 'frank', 'hello')
    await soon(async () =>
      expect(await logsOf(world)).toMatchObject([
        { uid: 'frank', success: false, answer: { status: 401, text: expect.stringContaining('webhook-signature') } },
      ]),
    )
  })
})
