import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readAllowedTargets } from '../../src/config/outbound.ts'
import { createReach } from '../../src/delivery/outbound/allowed.ts'
import { createPoster } from '../../src/delivery/outbound/http.ts'
import { dataOf, refusal, say } from '../support/chat.ts'
import type { Endpoint } from '../support/endpoint.ts'
import { setUpCustomPush } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { soon } from '../support/until.ts'
import { chatWorld, closeEndpoints, open, register } from '../support/webhooks.ts'

function reachOf(text: string) {
  const problems: string[] = []
  const allow = readAllowedTargets(text, problems)
  expect(problems).toEqual([])
  return createReach({ allowPrivate: false, allow })
}

/** OUTBOUND_ALLOW, an address, its port, over https? admitted? */
const addresses: ReadonlyArray<readonly [string, string, number, boolean, boolean]> = [
  ['', '8.8.8.8', 443, true, true],
  ['', '8.8.8.8', 80, false, false],
  ['', '10.0.0.5', 443, true, false],
  ['10.0.0.5', '10.0.0.5', 443, true, true],
  ['10.0.0.5', '10.0.0.5', 8080, false, true],
  ['10.0.0.5', '10.0.0.6', 443, true, false],
  ['10.0.0.5:8080', '10.0.0.5', 8080, false, true],
  ['10.0.0.5:8080', '10.0.0.5', 8081, false, false],
  ['10.0.0.5:8080', '10.0.0.5', 443, true, false],
  ['10.1.0.0/16', '10.1.255.255', 443, true, true],
  ['10.1.0.0/16', '10.2.0.0', 443, true, false],
  ['10.1.0.0/16', '::ffff:10.1.0.1', 443, true, true],
  ['10.1.0.0/16', '::ffff:a01:1', 443, true, true],
  ['10.1.0.0/16', '::ffff:10.2.0.1', 443, true, false],
  ['10.1.0.0/16', '64:ff9b::10.1.0.1', 443, true, false],
  ['::ffff:10.1.0.0/112', '10.1.0.1', 443, true, true],
  ['::ffff:10.0.0.5', '10.0.0.5', 443, true, true],
  ['[::ffff:10.0.0.5]:9000', '10.0.0.5', 9000, false, true],
  ['::/0', '::ffff:10.0.0.5', 443, true, false],
  ['::/0', 'fd00::1', 443, true, true],
  ['fd00::/8', 'fd12::1', 80, false, true],
  ['fd00::/8', 'fe80::1', 443, true, false],
  ['fd00::/8', 'fd00::1%eth0', 443, true, false],
  ['::1', '::1', 443, true, true],
  ['[::1]:9000', '::1', 9000, false, true],
  ['[::1]:9000', '::1', 9001, false, false],
  ['0x7f.1', '127.0.0.1', 80, false, true],
  ['127.0.0.1', 'localhost', 80, false, false],
]

describe('what the operator allows', () => {
  it.each(addresses)('%s: %s port %i, https %s -> %s', (text, address, port, isHttps, isAdmitted) => {
    expect(reachOf(text).admits(address, port, isHttps)).toBe(isAdmitted)
  })

  it('names hosts, wherever they lead, in whatever case', () => {
    const reach = reachOf('Hooks.Internal, other.internal:9000,bücher.internal')
    expect(reach.isTrusted('hooks.internal', 1)).toBe(true)
    expect(reach.isTrusted('HOOKS.internal.', 443)).toBe(true)
    expect(reach.isTrusted('a.hooks.internal', 443)).toBe(false)
    expect(reach.isTrusted('other.internal', 9000)).toBe(true)
    expect(reach.isTrusted('other.internal', 443)).toBe(false)
    expect(reach.isTrusted('xn--bcher-kva.internal', 443)).toBe(true)
  })
})

describe('a connection', () => {
  const names: Record<string, string[]> = {
    'allowed.test': ['127.0.0.1'],
    'both.test': ['127.0.0.1', '127.0.0.2'],
    'mixed.test': ['8.8.8.8', '127.0.0.2'],
    'mapped.test': ['::ffff:127.0.0.1'],
  }
  const resolve = async (host: string) =>
    (names[host] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  const post = async (allowed: string, host: string, port: number) => {
    const poster = createPoster(reachOf(allowed), resolve)
    try {
      return (await poster.post(`http://${host}:${port}/`, {}, '{}', 100)).status
    } catch (error) {
      return (error as Error).message
    } finally {
      await poster.close()
    }
  }
  const refused = 'the address must start with https://'
  let endpoint: Endpoint
  beforeAll(async () => {
    endpoint = await open()
  })
  afterAll(closeEndpoints)

  it('goes only to a name of which every address is allowed, at the port that is', async () => {
    const { port } = endpoint
    expect(await post('127.0.0.1', 'allowed.test', port)).toBe(200)
    expect(await post(`127.0.0.1:${port}`, 'allowed.test', port)).toBe(200)
    expect(await post(`127.0.0.1:${port + 1}`, 'allowed.test', port)).toBe(refused)
    expect(await post('127.0.0.1', 'both.test', port)).toBe(refused)
    expect(await post('127.0.0.0/30', 'both.test', port)).toBe(200)
    expect(await post('127.0.0.2', 'mixed.test', port)).toBe(refused)
    expect(await post('127.0.0.1', 'mapped.test', port)).toBe(200)
    expect(await post(`127.0.0.1:${port}`, '[::ffff:127.0.0.1]', port)).toBe(200)
    expect(await post('both.test', 'both.test', port)).toBe(200)
    expect(await post('both.test:1', 'both.test', port)).toBe(refused)
    expect(await post('both.test', 'allowed.test', port)).toBe(refused)
  })

  it('over https goes to public addresses, too, but to none that is neither', async () => {
    const poster = createPoster(reachOf('127.0.0.1'), resolve)
    await expect(poster.post('https://mixed.test/', {}, '{}', 100)).rejects.toThrow('127.0.0.2 and not public')
    // Nobody speaks TLS there, but it is asked.
    await expect(poster.post(`https://allowed.test:${endpoint.port}/`, {}, '{}', 100)).rejects.not.toThrow('not public')
    await poster.close()
  })
})

describe('a service that may post to some private addresses', () => {
  let own: OwnServices
  let service: Service
  let endpoint: Endpoint
  let other: Endpoint
  beforeAll(async () => {
    own = await createOwnServices()
    ;[endpoint, other] = [await open(), await open()]
    service = await own.start({
      ...{ WEBHOOK_ALLOW_PRIVATE: 'false', OUTBOUND_ALLOW: `127.0.0.1:${endpoint.port},localhost:${endpoint.port}` },
    })
  })
  afterAll(async () => {
    await own.close()
    await closeEndpoints()
  })

  it('delivers webhooks and notifications to those, and asks before_message there', async () => {
    const { world } = await chatWorld(service)
    endpoint.received.length = 0
    await register(world, `http://127.0.0.1:${endpoint.port}/hook`)
    await register(world, `http://localhost:${endpoint.port}/named`, { id: 'named', name: 'Named' })
    await setUpCustomPush(world, `http://127.0.0.1:${endpoint.port}/push`)
    const legacy = {
      id: 'before',
      name: 'Before',
      webhookURL: `http://127.0.0.1:${endpoint.port}/before`,
      triggers: ['before_message'],
    }
    dataOf(await world.post('/webhooks', legacy, { headers: { 'x-webhook-version': '1' } }))
    await say(world, 'alice', 'bob', 'hello')
    await soon(() => {
      expect(new Set(endpoint.received.map(({ path }) => path))).toEqual(
        new Set(['/hook', '/named', '/push', '/before']),
      )
    })
  })

  it('refuses the others', async () => {
    const { world } = await chatWorld(service)
    for (const webhookURL of [
      ...[other.url, `http://localhost:${other.port}/`, `https://127.0.0.1/`, `https://10.0.0.1:${endpoint.port}/`],
      ...[`http://127.0.0.2:${endpoint.port}/`, `http://8.8.8.8:${endpoint.port}/`, 'http://hooks.nowhere.invalid/'],
    ]) {
      const made = await world.post('/webhooks', { id: 'hook', name: 'Hook', webhookURL })
      expect([webhookURL, refusal(made)]).toEqual([webhookURL, '400 ERR_BAD_REQUEST'])
      const provider = {
        isEnabled: true,
        webhookURL,
        useBasicAuth: false,
        basicAuthUsername: '',
        basicAuthPassword: '',
      }
      const custom = await world.post('/notifications/push/v1/providers/custom', provider)
      expect([webhookURL, refusal(custom)]).toEqual([webhookURL, '400 ERR_BAD_REQUEST'])
    }
    expect(other.received).toEqual([])
  })
})
