import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { ask, type Service, startParley } from '../http/watched.ts'
import { createWorld, type World } from '../support/world.ts'

/** Whoever comes over plain HTTP says through a proxy that it was HTTPS: what they say must not count, only the proxy's word. */
describe('A scheme that a client made up', () => {
  let service: Service
  let world: World
  beforeAll(async () => {
    service = await startParley({ environment: { TRUST_PROXY: 'loopback', REQUIRE_HTTPS: 'true' } })
    world = await createWorld(service)
  })
  afterAll(() => service.parley.close())

  const overRest = async (scheme: string) => {
    const headers = { appid: world.app.name, apikey: world.apiKey, 'x-forwarded-proto': scheme }
    return (await ask(`${service.url}/v3/users`, { headers })).status === 200
  }
  const overSocket = async (scheme: string) => {
    const socket = new WebSocket(service.url.replace('http', 'ws'), { headers: { 'x-forwarded-proto': scheme } })
    const opened = await Promise.race([
      once(socket, 'open').then(() => true),
      once(socket, 'unexpected-response').then(() => false),
    ])
    socket.terminate()
    return opened
  }

  it.each([
    ['https', true],
    ['https, http', false],
    ['http', false],
    ['http, https', true],
    ['', false],
  ])('is read by sockets as it is by requests: "%s"', async (scheme, isHttps) => {
    expect(await overRest(scheme)).toBe(isHttps)
    expect(await overSocket(scheme)).toBe(isHttps)
  })
})
