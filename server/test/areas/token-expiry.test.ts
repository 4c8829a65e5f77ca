import { limits } from '@parley/contract'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { isExpired } from '../../src/chat/credentials/tokens.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { connect, eventually, tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const set = async (world: World, change: object) =>
  dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, change))

const chatWorld = async (change: object) => {
  const world = await createWorld()
  await createUsers(world, 'alice')
  await set(world, change)
  return world
}

/** As if so many seconds had gone by. */
const age = ({ app, context }: World, seconds: number) =>
  context.database.run(
    sql`update auth_tokens set created_at = created_at - ${seconds}, used_at = used_at - ${seconds} where app_id = ${app.appId}`,
  )
const uses = async ({ app, context }: World) =>
  (
    await context.database.run<{ usedAt: number | null }>(
      sql`select used_at as "usedAt" from auth_tokens where app_id = ${app.appId} order by ordinal`,
    )
  ).map(({ usedAt }) => usedAt)
const issueMany = async (world: World, uid: string, count: number) => {
  for (let i = 0; i < count; i++) await tokenOf(world, uid)
}
const expired = '401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND'

describe('auth tokens', () => {
  it('do not expire unless the app says so, and their use is not written down', async () => {
    const world = await chatWorld({})
    const token = await tokenOf(world, 'alice')
    await age(world, 1_000_000_000)
    expect((await world.get('/me', { token })).status).toBe(200)
    expect(await uses(world)).toEqual([null])
  })

  it('expire after their lifetime, however much they are used; longer lifetimes hold for them, too', async () => {
    const world = await chatWorld({ tokenLifetime: 1000 })
    const token = await tokenOf(world, 'alice')
    await age(world, 900)
    expect((await world.get('/me', { token })).status).toBe(200)
    await age(world, 100)
    expect(refusal(await world.get('/me', { token }))).toBe(expired)
    expect((await world.get('/me', { token: await tokenOf(world, 'alice') })).status).toBe(200)
    await set(world, { tokenLifetime: 2000 })
    expect((await world.get('/me', { token })).status).toBe(200)
  })

  it('expire when they are not used for a while', async () => {
    const world = await chatWorld({ tokenIdleTimeout: 1000 })
    const token = await tokenOf(world, 'alice')
    for (let i = 0; i < 3; i++) {
      await age(world, 900)
      const [before] = await uses(world)
      expect((await world.get('/me', { token })).status).toBe(200)
      await eventually(
        () => uses(world),
        ([usedAt]) => (usedAt as number) > (before as number),
      )
    }
    await age(world, 1101)
    expect(refusal(await world.get('/me', { token }))).toBe(expired)
  })

  it('cost no write with each use', async () => {
    const world = await chatWorld({ tokenIdleTimeout: 1000 })
    const token = await tokenOf(world, 'alice')
    await age(world, 50)
    const before = await uses(world)
    for (let i = 0; i < 5; i++) dataOf(await world.get('/me', { token }))
    // A later use, of another token, is written after what there was to write of this one.
    const other = await tokenOf(world, 'alice')
    await age(world, 200)
    dataOf(await world.get('/me', { token: other }))
    const [first] = await eventually(
      () => uses(world),
      ([, second]) => (second as number) > Date.now() / 1000 - 100,
    )
    expect(first).toBe((before[0] as number) - 200)
  })

  it('are not used by the app that names them with its key', async () => {
    const world = await chatWorld({ tokenIdleTimeout: 1000 })
    const named = await tokenOf(world, 'alice')
    await age(world, 500)
    const before = await uses(world)
    const byKey = () => world.get(`/notifications/push/v1/tokens?authToken=${named}`)
    dataOf(await byKey())
    // A later use, of another token, is written after what there was to write of this one.
    const other = await tokenOf(world, 'alice')
    await age(world, 200)
    dataOf(await world.get('/me', { token: other }))
    const [first] = await eventually(
      () => uses(world),
      ([, second]) => (second as number) > Date.now() / 1000 - 100,
    )
    expect(first).toBe((before[0] as number) - 200)
    await age(world, 401)
    expect(refusal(await byKey())).toBe('404 ERR_AUTH_TOKEN_NOT_FOUND')
  })

  it('that were there before an idle timeout was set count from their next use', async () => {
    const world = await chatWorld({})
    const token = await tokenOf(world, 'alice')
    await age(world, 1_000_000)
    await set(world, { tokenIdleTimeout: 1000 })
    expect((await world.get('/me', { token })).status).toBe(200)
    await eventually(
      () => uses(world),
      ([usedAt]) => usedAt !== null,
    )
    await set(world, { tokenIdleTimeout: 0 })
    await age(world, 1_000_000)
    await set(world, { tokenIdleTimeout: 1000 })
    expect((await world.get('/me', { token })).status).toBe(200)
  })

  it('that are in use stay valid when the app shortens its idle timeout', async () => {
    const world = await chatWorld({ tokenIdleTimeout: 100_000 })
    const [used, idle] = [await tokenOf(world, 'alice'), await tokenOf(world, 'alice')]
    await age(world, 3000)
    // Within an hour of the use before, so it is not noted.
    expect((await world.get('/me', { token: used })).status).toBe(200)
    await set(world, { tokenIdleTimeout: 100 })
    expect((await world.get('/me', { token: used })).status).toBe(200)
    await age(world, 10_000)
    expect(refusal(await world.get('/me', { token: idle }))).toBe(expired)
  })

  it.each([{ tokenLifetime: 1000 }, { tokenIdleTimeout: 1000 }])(
    'are unknown to the app once they have expired, and can be deleted: %o',
    async (limit) => {
      const world = await chatWorld(limit)
      const [old, young] = [await tokenOf(world, 'alice'), await tokenOf(world, 'alice')]
      const { app, context } = world
      await context.database.run(
        sql`update auth_tokens set created_at = created_at - 1100, used_at = used_at - 1100
          where app_id = ${app.appId} and digest = ${context.secrets.digest(old)}`,
      )
      const tokens = '/users/alice/auth_tokens'
      expect(refusal(await world.get(`${tokens}/${old}`))).toBe('404 ERR_AUTH_TOKEN_NOT_FOUND')
      expect(refusal(await world.put(`${tokens}/${old}`, { platform: 'web' }))).toBe('404 ERR_AUTH_TOKEN_NOT_FOUND')
      expect(dataOf(await world.get(`${tokens}/${young}`)).authToken).toBe(young)
      const list = await world.get(tokens)
      expect(dataOf(list).map(({ authToken }: { authToken: string }) => authToken)).toEqual([young])
      expect(list.body.meta.pagination.total).toBe(1)
      dataOf(await world.delete(`${tokens}/${old}`))
      await set(world, { tokenLifetime: 0, tokenIdleTimeout: 0 })
      expect(refusal(await world.get(`${tokens}/${old}`))).toBe('404 ERR_AUTH_TOKEN_NOT_FOUND')
    },
  )

  it.each([{ tokenLifetime: 1000 }, { tokenIdleTimeout: 1000 }])(
    'that have expired drop out before any that is in use: %o',
    async (limit) => {
      const world = await chatWorld(limit)
      const { app, context } = world
      const first = await tokenOf(world, 'alice')
      await issueMany(world, 'alice', limits.authTokensPerUser - 1)
      await context.database.run(
        sql`update auth_tokens set created_at = created_at - 1100, used_at = used_at - 1100
          where app_id = ${app.appId} and digest <> ${context.secrets.digest(first)}`,
      )
      const second = await tokenOf(world, 'alice')
      const list = dataOf(await world.get('/users/alice/auth_tokens'))
      expect(list.map(({ authToken }: { authToken: string }) => authToken)).toEqual([second, first])
      expect((await world.get('/me', { token: first })).status).toBe(200)
    },
  )

  it('open no socket once they have expired, and open sockets close', async () => {
    const world = await chatWorld({ tokenLifetime: 10 })
    const token = await tokenOf(world, 'alice')
    const alice = await connect(world, 'alice', { token })
    const other = await connect(world, 'alice')
    await world.context.database.run(
      sql`update auth_tokens set created_at = created_at - 10
        where app_id = ${world.app.appId} and digest = ${world.context.secrets.digest(token)}`,
    )
    expect(await alice.closed()).toBe(4403)
    await other.pong()
    expect(refusal(await world.get('/me', { token }))).toBe(expired)
    other.close()
  })

  it('are used by sockets that are open', async () => {
    const world = await chatWorld({ tokenIdleTimeout: 60 })
    const alice = await connect(world, 'alice')
    await age(world, 20)
    const [before] = await uses(world)
    await eventually(
      () => uses(world),
      ([usedAt]) => (usedAt as number) > (before as number),
    )
    await alice.pong()
    alice.close()
  })

  it('never expire before their time for want of a note', () => {
    const held = { tokenLifetime: 0, tokenIdleTimeout: 100 }
    // Used at 1009 for the last time, which was not noted.
    expect(isExpired({ createdAt: 0, usedAt: 1000 }, held, 1109)).toBe(false)
    expect(isExpired({ createdAt: 0, usedAt: 1000 }, held, 1110)).toBe(true)
    expect(isExpired({ createdAt: 0, usedAt: null }, held, 5000)).toBe(false)
    expect(isExpired({ createdAt: 0, usedAt: 1000 }, { ...held, tokenLifetime: 1000 }, 1000)).toBe(true)
  })
})
