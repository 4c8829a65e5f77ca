import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Attacker, attackerWith } from '../support/attacker.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { startService } from '../support/service.ts'
import { tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** The authOnly key lies in a front end, where anybody reads it. */
describe('Where the service is reached from other machines, whoever has the authOnly key', () => {
  let service: Awaited<ReturnType<typeof startService>>
  let world: World
  let thief: Attacker

  beforeAll(async () => {
    service = await startService({ HOST: '0.0.0.0' })
    world = await createWorld(service)
    await createUsers(world, 'victim')
    dataOf(await world.put('/users/victim', { metadata: { '@private': { mail: 'victim@example.com' } } }))
    dataOf(await world.post('/roles', { role: 'staff', name: 'Staff' }))
    thief = attackerWith(world, { apikey: world.authKey })
  })
  afterAll(() => service.parley.close())

  it('gets no token of somebody else, and drives none of theirs out', async () => {
    const token = await tokenOf(world, 'victim')
    const answers = await Promise.all(
      Array.from({ length: 101 }, () => thief.post('/users/victim/auth_tokens', { force: true })),
    )
    expect(new Set(answers.map(refusal))).toEqual(new Set(['403 AUTH_ERR_NO_ACCESS']))
    expect((await world.get('/me', { token })).status).toBe(200)
  })

  it('does not change somebody else', async () => {
    expect(refusal(await thief.put('/users/victim', { name: 'Mallory', metadata: {} }))).toBe('403 AUTH_ERR_NO_ACCESS')
    expect(dataOf(await world.get('/users/victim'))).toMatchObject({
      name: 'Victim',
      metadata: { '@private': { mail: 'victim@example.com' } },
    })
  })

  it('makes themselves no more than an ordinary user', async () => {
    expect(refusal(await thief.post('/users', { uid: 'mallory', name: 'M', role: 'staff' }))).toBe(
      '403 AUTH_ERR_NO_ACCESS',
    )
    expect(refusal(await world.get('/users/mallory'))).toBe('404 ERR_UID_NOT_FOUND')
  })

  it('reaches nothing else', async () => {
    for (const path of ['/users', '/users/victim', '/messages', '/groups', '/apikeys', '/conversations', '/roles']) {
      expect(refusal(await thief.get(path)), path).toBe('403 AUTH_ERR_NO_ACCESS')
    }
    expect(refusal(await thief.delete('/users/victim', { permanent: true }))).toBe('403 AUTH_ERR_NO_ACCESS')
  })
})
