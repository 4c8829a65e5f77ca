import { beforeEach, describe, expect, it } from 'vitest'
import { fcmProvider } from '../http/samples.ts'
import { dataOf } from '../support/chat.ts'
import { tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const tokens = '/notifications/push/v1/tokens'

/** Whoever has one auth token of a user for a moment is given all the others by the list of devices, and stays logged in. */
describe('Whoever has one auth token of a user', () => {
  let world: World
  let [stolen, other] = ['', '']

  beforeEach(async () => {
    world = await createWorld()
    await createUsers(world, 'victim')
    dataOf(await world.post('/notifications/push/v1/providers/fcm', { providerId: 'phones', ...fcmProvider }))
    stolen = await tokenOf(world, 'victim')
    other = await tokenOf(world, 'victim')
    for (const [fcmToken, token] of [
      ['own-phone', stolen],
      ['other-phone', other],
    ] as const) {
      dataOf(await world.post(tokens, { platform: 'fcm_android', fcmToken }, { token }))
    }
  })

  it.each([
    ['listed', () => world.get(`${tokens}?all=true`, { token: stolen })],
    ['unregistered', () => world.delete(`${tokens}?all=true`, undefined, { token: stolen })],
  ])('is told no other where devices are %s', async (_, call) => {
    const { pushTokens } = dataOf(await call())
    expect(pushTokens).toMatchObject([{ pushToken: 'own-phone', authToken: stolen }, { pushToken: 'other-phone' }])
    expect(pushTokens[1]).not.toHaveProperty('authToken')
  })

  it('is told no other where one device is unregistered', async () => {
    const answer = await world.delete(`${tokens}/other-phone`, undefined, { token: stolen })
    expect(dataOf(answer).pushTokens).toMatchObject([{ pushToken: 'other-phone' }])
    expect(JSON.stringify(answer.body)).not.toContain(other)
  })

  it('does not keep the back end from seeing them, which may with its key', async () => {
    const { pushTokens } = dataOf(await world.get(`${tokens}?all=true&authToken=${stolen}`))
    expect(pushTokens).toMatchObject([{ authToken: stolen }, { authToken: other }])
  })
})
