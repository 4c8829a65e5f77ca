import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Service, startParley } from '../http/watched.ts'
import { attackerAs, attackerWith } from '../support/attacker.ts'
import { dataOf } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** Somebody tries keys, mints tokens and makes keys for later, and nothing says who it was. */
describe('What an attack leaves behind', () => {
  let service: Service
  let world: World
  const address = '203.0.113.66'

  beforeAll(async () => {
    service = await startParley({ environment: { LOG_LEVEL: 'info', TRUST_PROXY: 'loopback' } })
    world = await createWorld(service)
    await createUsers(world, 'victim', 'mallory')
  })
  afterAll(() => service.parley.close())

  const digest = (key: string) => world.context.secrets.digest(key).toString('hex').slice(0, 8)
  const from = (headers: Record<string, string>) => attackerWith(world, { 'x-forwarded-for': address, ...headers })
  const lastLine = () => JSON.parse(service.lines.findLast((line) => line.includes('"msg":"request"')) ?? '{}')

  it('is a line in the log for each wrong key and token, with the address it came from', async () => {
    for (const wrong of [{ apikey: 'f'.repeat(40) }, { authtoken: 'victim_1700000000ffff' }]) {
      expect((await from(wrong).get('/users')).status).toBe(401)
      expect(lastLine()).toMatchObject({ status: 401, app: world.app.name, address })
      for (const secret of Object.values(wrong)) expect(service.lines.join()).not.toContain(secret)
    }
  })

  it('is who asked: the key by its digest, the user by their uid', async () => {
    await from({ apikey: world.apiKey }).get('/users')
    expect(lastLine()).toMatchObject({ caller: 'fullAccess', key: digest(world.apiKey), address })
    await (await attackerAs(world, 'mallory')).get('/users')
    expect(lastLine()).toMatchObject({ caller: 'token', uid: 'mallory' })
    expect(service.lines.join()).not.toContain(world.apiKey)
  })

  it('is an entry of the audit log for tokens, keys, roles and bans', async () => {
    const thief = from({ apikey: world.apiKey })
    dataOf(await from({ apikey: world.authKey }).post('/users/victim/auth_tokens'))
    const { apiKey } = dataOf(await thief.post('/apikeys', { name: 'for later', scope: 'fullAccess' }))
    dataOf(await thief.delete(`/apikeys/${apiKey}`))
    dataOf(await thief.post('/roles', { role: 'staff', name: 'Staff' }))
    const entries: Array<{ action: string; actor: object }> = dataOf(await world.get('/audit-log'))
    const by = (action: string) => entries.find((entry) => entry.action === action)?.actor
    expect(by('token_created')).toMatchObject({ caller: 'authOnly', key: digest(world.authKey), address })
    for (const action of ['apikey_created', 'apikey_deleted', 'role_created']) {
      expect(by(action), action).toMatchObject({ caller: 'fullAccess', key: digest(world.apiKey), address })
    }
    expect(JSON.stringify(entries)).not.toContain(apiKey)
    for (const credential of [{ apikey: world.authKey }, { authtoken: 'none' }]) {
      expect((await from(credential).get('/audit-log')).status).toBeGreaterThanOrEqual(401)
    }
    expect((await (await attackerAs(world, 'mallory')).get('/audit-log')).status).toBe(403)
  })
})
