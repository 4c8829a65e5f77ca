import { createECDH } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isPublic } from '../../src/delivery/outbound/addresses.ts'
import { createReach } from '../../src/delivery/outbound/allowed.ts'
import { createPoster } from '../../src/delivery/outbound/http.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { soon } from '../support/until.ts'
import { chatWorld, closeEndpoints, deliveriesOf, open, tell } from '../support/webhooks.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** Addresses of one's own network, of the machine itself, of nowhere, in every spelling. */
const forged = [
  ...['127.0.0.1', '127.1.2.3', '0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.254'],
  ...['192.168.0.1', '192.168.255.255', '169.254.169.254', '169.254.0.1', '100.64.0.1', '100.127.255.255'],
  ...['192.0.0.1', '192.0.0.192', '192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '198.19.255.255'],
  ...['192.88.99.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...[
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
  ],
  ...[
    '0:0:0:0:0:ffff:192.168.1.1',
    '::127.0.0.1',
    '::7f00:1',
    '::ffff:0:127.0.0.1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
  ],
  ...[
    'fc00::1',
    'fd00:ec2::254',
    'fdff::1',
    'fec0::1',
    'ff02::1',
    'ff0e::1',
    '100::1',
    '2001:db8::1',
    '3fff::1',
    '5f00::1',
  ],
  ...[
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2002:a00:1::1',
    '2001::1',
    '2001:0:7f00:1::',
  ],
  ...['2001:10::1', '2001:20::1', '::ffff:8.8.8.8%1'],
]

describe('an address', () => {
  it.each(forged)('that is not public is told: %s', (address) => {
    expect(isPublic(address)).toBe(false)
    expect(isPublic(`[${address}]`)).toBe(false)
  })

  it.each([
    ...['8.8.8.8', '1.1.1.1', '93.184.216.34', '100.63.255.255', '100.128.0.1', '172.15.255.255', '172.32.0.1'],
    ...['192.167.1.1', '169.253.1.1', '11.0.0.1', '126.255.255.255', '128.0.0.1', '223.255.255.255', '198.17.0.1'],
    ...['2606:4700:4700::1111', '2a00:1450:4001:80e::200e', '::ffff:8.8.8.8', '2400:cb00::1'],
  ])('that is public is told: %s', (address) => {
    expect(isPublic(address)).toBe(true)
  })

  it.each([
    '',
    'localhost',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '127.1',
    '8.8.8',
    '8.8.8.8 ',
    '1e9',
    'nonsense',
    ':::',
  ])('that is none is not public: %j', (text) => {
    expect(isPublic(text)).toBe(false)
  })
})

describe('a service that may not post to private addresses', () => {
  let own: OwnServices
  let service: Service

  beforeAll(async () => {
    own = await createOwnServices()
    service = await own.start({ WEBHOOK_ALLOW_PRIVATE: 'false' })
  })
  afterAll(async () => {
    await own.close()
    await closeEndpoints()
  })

  it.each([
    ['https://127.0.0.1/push', 'must not lead to 127.0.0.1'],
    ['https://2130706433/push', 'must not lead to 127.0.0.1'],
    ['http://a.push.example.com/1', 'must start with https://'],
    ['ftp://a.push.example.com/1', 'must start with https://'],
    ['https://8.8.8.8/1', 'must lead to a push service that is allowed here'],
  ])('refuses %s as the endpoint of a browser', async (endpoint, message) => {
    const world = await createWorld(service)
    await createUsers(world, 'bob')
    const { authToken } = dataOf(await world.post('/users/bob/auth_tokens', {}))
    const keys = { p256dh: createECDH('prime256v1').generateKeys('base64url'), auth: 'A'.repeat(22) }
    const body = { platform: 'web_push', subscription: { endpoint, keys } }
    const answer = await world.post('/notifications/push/v1/tokens', body, { token: authToken })
    expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
    const [detail] = answer.body.error.details
    expect(detail).toEqual({ path: 'body/subscription/endpoint', message: expect.stringContaining(message) })
  })

  it.each([
    ...['https://127.0.0.1/', 'https://localhost/', 'https://localhost.:8443/', 'https://[::1]/', 'https://0/'],
    ...['https://127.1/', 'https://2130706433/', 'https://0x7f000001/', 'https://0177.0.0.1/', 'https://0x7f.1/'],
    ...[
      'https://[::ffff:127.0.0.1]/',
      'https://[::ffff:7f00:1]/',
      'https://[::127.0.0.1]/',
      'https://[fd00:ec2::254]/',
    ],
    ...[
      'https://169.254.169.254/latest/meta-data',
      'https://10.0.0.1/',
      'https://192.168.1.1:8080/',
      'https://172.16.0.1/',
    ],
    ...['https://100.64.0.1/', 'https://[64:ff9b::7f00:1]/', 'https://[2002:7f00:1::]/', 'https://[fe80::1]/'],
    ...['https://１２７.0.0.1/', 'https://127。0。0。1/', 'https://%31%32%37.0.0.1/', 'https://0.0.0.0:5432/'],
    ...['http://example.com/', 'HTTP://8.8.8.8/', 'ftp://8.8.8.8/', 'gopher://8.8.8.8/', 'file:///etc/passwd'],
    ...['https://user@8.8.8.8/', 'https://8.8.8.8@127.0.0.1/', 'https:///', 'javascript:alert(1)', '//8.8.8.8/'],
  ])('refuses %s at registration and change', async (webhookURL) => {
    const world = await createWorld(service)
    const made = await world.post('/webhooks', { id: 'hook', name: 'Hook', webhookURL })
    expect(refusal(made)).toBe('400 ERR_BAD_REQUEST')
    expect(made.body.error.details[0].path).toBe('body/webhookURL')
    dataOf(
      await world.post('/webhooks', { id: 'hook', name: 'Hook', webhookURL: 'https://8.8.8.8/hook', enabled: false }),
    )
    expect(refusal(await world.put('/webhooks/hook', { webhookURL }))).toBe('400 ERR_BAD_REQUEST')
    expect(dataOf(await world.get('/webhooks/hook')).webhookURL).toBe('https://8.8.8.8/hook')
  })

  it('takes public addresses, and names that do not resolve yet', async () => {
    const world = await createWorld(service)
    for (const [i, webhookURL] of ['https://8.8.8.8:8443/hook?key=1', 'https://hooks.nowhere.invalid/x'].entries()) {
      const body = { id: `hook${i}`, name: 'Hook', webhookURL, enabled: false }
      expect(dataOf(await world.post('/webhooks', body)).webhookURL).toBe(webhookURL)
    }
  })

  it('does not connect to what has become private since, or was registered otherwise', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    dataOf(
      await world.post('/webhooks', {
        ...{ id: 'hook', name: 'Hook', webhookURL: 'https://8.8.8.8/', triggers: ['message_sent'] },
      }),
    )
    for (const url of [
      ...['https://127.0.0.1', 'https://localhost', 'https://[::1]', 'https://[::ffff:127.0.0.1]', 'http://127.0.0.1'],
    ]) {
      await own.query('update webhooks set url = $2, enabled = true where app_id = $1', [
        world.app.appId,
        `${url}:${endpoint.port}/`,
      ])
      const tested = dataOf(await world.post('/webhooks/hook/test'))
      expect(tested).toMatchObject({ status: 'failed', error: expect.stringMatching(/not public|https:\/\//) })
    }
    await tell(world, message)
    await soon(async () => {
      const [delivery] = await deliveriesOf(world)
      expect(delivery).toMatchObject({ trigger: 'message_sent', status: 'failed' })
      expect(delivery.test).toBeUndefined()
    })
    expect(endpoint.received).toEqual([])
  })

  it('checks the address when it connects, whatever the name meant before', async () => {
    const poster = createPoster(createReach({ allowPrivate: false, allow: [] }))
    for (const host of ['localhost', '127.0.0.1', '[::1]', '[::ffff:7f00:1]', '169.254.169.254', '0x7f.1']) {
      await expect(poster.post(`https://${host}:9/`, {}, '{}', 100)).rejects.toThrow('not public')
    }
    await expect(poster.post('http://8.8.8.8/', {}, '{}', 100)).rejects.toThrow('https://')
    await poster.close()
  })
})
