import { Agent, FormData, Response } from 'undici'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../gate/needs.ts'
import { ask, type Service, startParley } from '../http/watched.ts'
import { picture, toBob } from '../support/forms.ts'
import { authFrame, Client } from '../support/socket.ts'
import { soon } from '../support/until.ts'
import { type Answer, createWorld, type World } from '../support/world.ts'
import { needOf, type ProxyName, type RunningProxy, startProxy } from './proxies.ts'

let service: Service
let world: World

beforeAll(async () => {
  // The proxy is at the first address of this machine, its clients are at the second.
  service = await startParley({
    environment: { REQUIRE_HTTPS: 'true', TRUST_PROXY: '127.0.0.1', UPLOAD_STALL_SECONDS: '600' },
  })
  world = await createWorld(service)
})
afterAll(() => service.parley.close())

const clientAddress = '127.0.0.2'
const tls = { rejectUnauthorized: false, servername: 'localhost' }
const agent = new Agent({ connections: 8, localAddress: clientAddress, connect: tls })

for (const name of ['nginx', 'haproxy', 'caddy'] satisfies ProxyName[]) {
  describeWith(needOf(name), `${name} as in deploy/proxies`, () => {
    let proxy: RunningProxy
    let host: string
    beforeAll(async () => {
      proxy = await startProxy(name, new URL(service.url).host)
      host = `localhost:${proxy.port}`
      await soon(async () => expect((await call('GET', '/health').catch(failed)).status, proxy.said()).toBe(200))
    })
    afterAll(() => proxy.close())

    const failed = (error: Error) => ({ status: 0, headers: {}, body: error.message })

    async function call(
      method: 'GET' | 'POST',
      path: string,
      { body = null, headers = {} }: { body?: string | Buffer | null; headers?: Record<string, string> } = {},
    ): Promise<Answer> {
      const origin = `https://127.0.0.1:${proxy.port}`
      const own = { host, appid: world.app.name, apikey: world.apiKey, 'content-type': 'application/json' }
      const answer = await agent.request({ origin, path, method, body, headers: { ...own, ...headers } })
      const raw = Buffer.from(await answer.body.arrayBuffer())
      const isJson = String(answer.headers['content-type']).includes('json')
      return { status: answer.statusCode, headers: answer.headers, body: isJson ? JSON.parse(String(raw)) : raw }
    }

    it('says that requests came over HTTPS, and from where, whatever clients say', async () => {
      expect((await ask(`${service.url}/v3/users`, { headers: { apikey: world.apiKey } })).status).toBe(400)
      const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http', 'x-forwarded-host': 'evil.test' }
      const made = await call('POST', '/v3/apikeys', { headers, body: JSON.stringify({ name, scope: 'authOnly' }) })
      expect(made.status, JSON.stringify(made.body)).toBe(200)
      const { body } = await call('GET', '/v3/audit-log?action=apikey_created&limit=1')
      expect(body.data[0].actor.address).toBe(clientAddress)
    })

    it('passes on large uploads and what they became, at the address that clients use', async () => {
      for (const uid of ['alice', 'bob']) await call('POST', '/v3/users', { body: JSON.stringify({ uid, name: uid }) })
      const content = 'a picture '.repeat(300_000)
      const form = new FormData()
      for (const [field, value] of Object.entries(toBob)) form.set(field, value)
      form.append('file', new Blob([content], { type: picture.type }), picture.name)
      const encoded = new Response(form)
      const sent = await call('POST', '/v3/messages', {
        body: Buffer.from(await encoded.arrayBuffer()),
        headers: {
          'content-type': encoded.headers.get('content-type') ?? '',
          onbehalfof: 'alice',
          'x-forwarded-host': 'evil.test',
        },
      })
      expect(sent.status, JSON.stringify(sent.body)).toBe(200)
      const { origin, pathname, search } = new URL(sent.body.data.data.attachments[0].url)
      expect(origin).toBe(`https://${host}`)
      const file = await call('GET', pathname + search)
      expect(file.body.length).toBe(content.length)
    })

    it('passes on sockets', async () => {
      await call('POST', '/v3/users', { body: JSON.stringify({ uid: 'carol', name: 'Carol' }) })
      const { body } = await call('POST', '/v3/users/carol/auth_tokens', { body: '{}' })
      const client = new Client(`https://127.0.0.1:${proxy.port}/v3`, { host }, tls)
      await client.opened()
      client.send(authFrame(world, 'carol', body.data.authToken))
      expect((await client.takeType('auth')).body.code).toBe('200')
      await client.pong()
      client.close()
      await client.closed()
    })

    it('keeps figures from clients, and leads them to HTTPS', async () => {
      for (const path of ['/metrics', '/metrics?x=1', '/%6Detrics', '/%6d%65%74%72%69%63%73?x=1']) {
        expect((await call('GET', path)).status, path).toBe(404)
      }
      // Other balancers outside ask these.
      for (const path of ['/health', '/ready']) expect((await call('GET', path)).status, path).toBe(200)
      expect((await ask(`${service.url}/metrics`)).status).toBe(200)
      const plain = await ask(`http://127.0.0.1:${proxy.plainPort}/v3/users?x=1`, { headers: { host: 'localhost' } })
      expect(plain.status).toBe(308)
      expect(plain.headers.location).toMatch(/^https:\/\/localhost(:\d+)?\/v3\/users\?x=1$/)
    })
  })
}
