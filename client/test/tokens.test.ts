import { beforeAll, describe, expect, it } from 'vitest'
import { createUserClient } from '../src/index.ts'
import { type ClientWorld, createClientWorld, realFetch } from './support.ts'

let world: ClientWorld
beforeAll(async () => {
  world = await createClientWorld()
  for (const uid of ['alice', 'bob']) await world.server.users.create({ uid, name: uid })
})

describe('The function that gets a token', () => {
  const options = () => ({ url: world.url, appId: world.app.name })
  const tokenOf = async (uid: string) => (await world.server.users.tokens.create({ uid })).authToken as string

  it('is called once for many calls that are refused in the same moment', async () => {
    const good = await tokenOf('alice')
    let asked = 0
    const refused = JSON.stringify({
      error: { code: 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND', message: 'no', source: 'chat-api' },
    })
    let refuse = () => {}
    const all = new Promise<void>((resolve) => {
      refuse = resolve
    })
    let waiting = 0
    const client = createUserClient({
      ...options(),
      authToken: async () => (++asked === 1 ? 'old' : good),
      fetch: async (url, init) => {
        if (init.headers.authToken !== 'old') return await realFetch(url, init)
        if (++waiting === 5) refuse()
        await all
        return { status: 401, headers: { get: () => null }, text: async () => refused }
      },
    })
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.me.get()))
    expect(answers.map(({ uid }) => uid)).toEqual(Array(5).fill('alice'))
    expect(asked).toBe(2)
  })

  it('holds up nobody whose signal is aborted', async () => {
    const client = createUserClient({ ...options(), authToken: () => new Promise<string>(() => {}) })
    const controller = new AbortController()
    const asked = client.me.get({}, { signal: controller.signal })
    const reason = new Error('the page was left')
    controller.abort(reason)
    await expect(asked).rejects.toBe(reason)
  })

  it('holds up nobody whose signal is aborted while it gets another', async () => {
    let asked = 0
    let isAsked = () => {}
    const again = new Promise<void>((resolve) => {
      isAsked = resolve
    })
    const client = createUserClient({
      ...options(),
      authToken: async () => {
        if (++asked === 1) return 'alice_old'
        isAsked()
        return await new Promise<string>(() => {})
      },
    })
    const controller = new AbortController()
    const call = client.me.get({}, { signal: controller.signal })
    await again
    const reason = new Error('the page was left')
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
  })

  it('rejects the calls that wait for it with its own error', async () => {
    const away = new Error('the back end is away')
    const client = createUserClient({ ...options(), authToken: () => Promise.reject(away) })
    const calls = await Promise.allSettled([client.me.get(), client.friends.list()])
    expect(calls.map((call) => call.status === 'rejected' && call.reason)).toEqual([away, away])
  })
})
