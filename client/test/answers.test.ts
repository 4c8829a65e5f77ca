import { beforeAll, describe, expect, it } from 'vitest'
import { type ClientWorld, createClientWorld, fetchWith } from './support.ts'

let world: ClientWorld
beforeAll(async () => {
  world = await createClientWorld()
  for (const uid of ['alice', 'bob']) await world.server.users.create({ uid, name: uid })
})

const hello = { receiver: 'bob', receiverType: 'user', data: { text: 'hello' } } as const

/** An answer of something in between. */
const saying =
  (status: number, text: string, headers: Record<string, string> = {}) =>
  () =>
  async () => ({ status, headers: { get: (name: string) => headers[name] ?? null }, text: async () => text })

describe('An answer that is not of the service', () => {
  it('is an error, even with status 200', async () => {
    for (const text of ['<html>Please log in to this network</html>', '', '"text"', 'null']) {
      const fetch = fetchWith(saying(200, text))
      const client = await world.userClient('paula', { fetch, retries: 0 })
      await expect(client.messages.send(hello)).rejects.toMatchObject({
        name: 'ParleyError',
        status: 200,
        code: undefined,
      })
    }
  })

  it('may say with a date when to try again', async () => {
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString()
    const fetch = fetchWith(saying(503, '<html>', { 'retry-after': inAnHour }))
    const client = await world.userClient('quentin', { fetch })
    const error = await client.me.get().catch((thrown) => thrown)
    expect(error).toMatchObject({ status: 503 })
    expect(error.retryAfter).toBeGreaterThan(3500)
    expect(error.retryAfter).toBeLessThanOrEqual(3600)
    expect(fetch.count).toBe(1)
  })

  it('may say nothing of that', async () => {
    for (const value of ['', 'soon']) {
      const fetch = fetchWith(saying(503, '<html>', { 'retry-after': value }))
      const client = await world.userClient('quentin', { fetch, retries: 0 })
      await expect(client.me.get()).rejects.toMatchObject({ status: 503, retryAfter: undefined })
    }
  })
})

describe('A refusal', () => {
  it('names the request, as the log of the service does', async () => {
    const error = await world.server.users.get({ uid: 'nobody' }).catch((thrown) => thrown)
    expect(error.requestId).toMatch(/\S/)
  })
})
