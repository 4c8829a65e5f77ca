import { describe, expect, it } from 'vitest'
import { fcmProvider } from '../http/samples.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { connect, tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { createOperator, createOwner } from './operator.ts'

const pathOf = ({ app }: World, uid = 'alice') => `/apps/${app.name}/users/${uid}/sessions`

describe('sessions of a user', () => {
  it('are listed without their tokens, with what the client says of itself and its devices', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    dataOf(await world.post('/users/alice/auth_tokens', { platform: 'ios', userAgent: 'Chat 2.1' }))
    const token = await tokenOf(world, 'alice')
    const provider = { providerId: 'phones', ...fcmProvider }
    dataOf(await world.post('/notifications/push/v1/providers/fcm', provider))
    const device = { platform: 'fcm_android', fcmToken: 'device-of-alice', authToken: token }
    dataOf(await world.post('/notifications/push/v1/tokens', device))
    const support = await createOperator(await createOwner(world), { role: 'support', apps: [world.app.name] })
    const answer = await support.get(pathOf(world))
    expect(dataOf(answer)).toMatchObject([
      {
        id: expect.any(String),
        devices: [{ platform: 'fcm_android', type: 'chat', provider: 'phones', updatedAt: expect.any(Number) }],
      },
      { platform: 'ios', agent: 'Chat 2.1', createdAt: expect.any(Number), devices: [] },
    ])
    expect(JSON.stringify(answer.body)).not.toContain(token)
    expect(JSON.stringify(answer.body)).not.toContain('device-of-alice')
    expect(refusal(await support.get(pathOf(world, 'nobody')))).toBe('404 ERR_UID_NOT_FOUND')
  })

  it('are ended one by one by moderators: the token opens nothing, and its socket closes', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const [first, second] = [await tokenOf(world, 'alice'), await tokenOf(world, 'alice')]
    const socket = await connect(world, 'alice', { token: second })
    const owner = await createOwner(world)
    const moderator = await createOperator(owner, { role: 'moderator', apps: [world.app.name] })
    const support = await createOperator(owner, { role: 'support', apps: [world.app.name] })
    const [newest] = dataOf(await moderator.get(pathOf(world)))
    expect(refusal(await support.delete(`${pathOf(world)}/${newest.id}`))).toBe('403 ERR_PERMISSION_DENIED')
    // Not by the name of somebody else.
    expect(refusal(await moderator.delete(`${pathOf(world, 'bob')}/${newest.id}`))).toBe('404 ERR_SESSION_NOT_FOUND')
    dataOf(await moderator.delete(`${pathOf(world)}/${newest.id}`))
    expect((await world.get('/me', { token: second })).status).toBe(401)
    expect((await world.get('/me', { token: first })).status).toBe(200)
    expect(await socket.closed()).toBeGreaterThan(1000)
    expect(refusal(await moderator.delete(`${pathOf(world)}/${newest.id}`))).toBe('404 ERR_SESSION_NOT_FOUND')
    const log = dataOf(await world.get('/audit-log?action=token_deleted'))
    expect(log).toMatchObject([{ target: { type: 'user', id: 'alice' }, actor: { caller: 'operator' } }])
  })
})
