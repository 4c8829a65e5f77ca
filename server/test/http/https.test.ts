import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import tls from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/index.ts'
import { loadTls } from '../../src/http/tls.ts'
import { routes } from '../../src/routes.ts'
import { createWorld, type World } from '../support/world.ts'
import { ask, expectContractAnswer, type Service, startParley } from './watched.ts'

let folder: string
let world: World
const services: Service[] = []

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'parley-tls-'))
  world = await createWorld()
})
afterAll(async () => {
  await Promise.all(services.map(({ parley }) => parley.close()))
  await rm(folder, { recursive: true, force: true })
})

const usersOnly = routes.filter(({ operation }) => operation.area === 'Users')

async function start(environment: Record<string, string>): Promise<Service> {
  const material = await loadTls(readConfig(environment), folder)
  const service = await startParley({ environment, routes: usersOnly, ...(material && { tls: material }) })
  services.push(service)
  return service
}

let plain: Promise<Service> | undefined

/** The service with nothing set. */
function plainService(): Promise<Service> {
  plain ??= start({})
  return plain
}

/** The certificate that a service shows. */
function certificateOf(url: string): Promise<tls.PeerCertificate> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate())
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

describe('TLS=self-signed', () => {
  it('serves HTTPS with a certificate for this host, kept over restarts, readable by its owner alone', async () => {
    const first = await start({ TLS: 'self-signed' })
    expect(first.url).toMatch(/^https:/)
    expect((await ask(`${first.url}/health`)).body).toEqual({ status: 'ok' })
    const certificate = await certificateOf(first.url)
    expect(certificate.subjectaltname).toBe('DNS:localhost, IP Address:127.0.0.1')
    expect(new Date(certificate.valid_to).getTime()).toBeGreaterThan(Date.now() + 300 * 24 * 3600 * 1000)
    expect((await stat(path.join(folder, 'self-signed.json'))).mode & 0o777).toBe(0o600)

    const second = await start({ TLS: 'self-signed' })
    expect((await certificateOf(second.url)).fingerprint256).toBe(certificate.fingerprint256)
  })

  it('makes another certificate when the kept one runs out, or cannot be read', async () => {
    const config = readConfig({ TLS: 'self-signed' })
    const file = path.join(folder, 'self-signed.json')
    const kept = await loadTls(config, folder)
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), expiresAt: Date.now() + 1000 }))
    const renewed = await loadTls(config, folder)
    expect(renewed?.cert).not.toBe(kept?.cert)
    await writeFile(file, '{')
    expect((await loadTls(config, folder))?.cert).not.toBe(renewed?.cert)
  })

  it('answers nothing to plain HTTP on its port, and goes on', async () => {
    const service = await start({ TLS: 'self-signed' })
    const socket = net.connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n')
    expect(await text(socket).catch(() => '')).not.toContain('ok')
    expect((await ask(`${service.url}/health`)).status).toBe(200)
  })

  it('is stopped, though a client has yet to shake hands, and another to say anything', async () => {
    const service = await start({ TLS: 'self-signed' })
    const port = Number(new URL(service.url).port)
    const silent = [net.connect(port, '127.0.0.1'), tls.connect({ port, rejectUnauthorized: false })] as const
    await Promise.all([once(silent[0], 'connect'), once(silent[1], 'secureConnect')])
    await service.parley.close()
    services.splice(services.indexOf(service), 1)
    for (const client of silent) client.destroy()
  })
})

describe('TLS_CERT_FILE and TLS_KEY_FILE', () => {
  const files = async () => {
    const made = await loadTls(readConfig({ TLS: 'self-signed' }), folder)
    const [cert, key] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')]
    await writeFile(cert, made?.cert ?? '')
    await writeFile(key, made?.key ?? '')
    return { TLS_CERT_FILE: cert, TLS_KEY_FILE: key }
  }

  it('are served with', async () => {
    const environment = await files()
    const service = await start(environment)
    const pem = await readFile(environment.TLS_CERT_FILE, 'utf8')
    const served = await certificateOf(service.url)
    expect(pem.replaceAll(/-----[^-]+-----|\s/g, '')).toBe(served.raw.toString('base64'))
    expect((await ask(`${service.url}/health`)).status).toBe(200)
  })

  it('that cannot be used stop the start with a message that names them', async () => {
    const good = await files()
    const load = (environment: Record<string, string>) => loadTls(readConfig(environment), folder)
    const missing = path.join(folder, 'missing.pem')
    await expect(load({ ...good, TLS_CERT_FILE: missing })).rejects.toThrow(`TLS_CERT_FILE: ${missing} cannot be read`)
    await expect(load({ ...good, TLS_KEY_FILE: missing })).rejects.toThrow(`TLS_KEY_FILE: ${missing} cannot be read`)
    await expect(load({ ...good, TLS_KEY_FILE: good.TLS_CERT_FILE })).rejects.toThrow(/^TLS_CERT_FILE and TLS_KEY_FILE/)
  })
})

describe('REQUIRE_HTTPS', () => {
  const headers = () => ({ appid: world.app.name, apikey: world.apiKey })

  it('refuses plain requests with a clear error, but for probes', async () => {
    const service = await start({ REQUIRE_HTTPS: 'true' })
    for (const target of ['/users', '/docs', '/openapi.json', '/v3/users/alice']) {
      const answer = await ask(`${service.url}${target}`, { headers: headers() })
      expectContractAnswer(answer)
      expect(answer.status).toBe(400)
      expect(answer.body.error.devMessage).toContain('HTTPS')
    }
    for (const probe of ['/health', '/ready', '/metrics'])
      expect((await ask(`${service.url}${probe}`)).status).toBe(200)
  })

  it('is content with TLS of its own', async () => {
    const service = await start({ REQUIRE_HTTPS: 'true', TLS: 'self-signed' })
    expect((await ask(`${service.url}/users`, { headers: headers() })).status).toBe(200)
  })

  it.each([
    ['nobody', undefined, 400],
    ['a proxy elsewhere', '192.0.2.1,10.0.0.0/8', 400],
    ['this host', 'loopback', 200],
    ['this address', '127.0.0.1', 200],
    ['anybody', 'true', 200],
  ])('believes X-Forwarded-Proto from a trusted proxy only: trusting %s', async (_who, trusted, status) => {
    const service = await start({ REQUIRE_HTTPS: 'true', ...(trusted && { TRUST_PROXY: trusted }) })
    const through = async (proto: string) =>
      (await ask(`${service.url}/users`, { headers: { ...headers(), 'x-forwarded-proto': proto } })).status
    expect(await through('https')).toBe(status)
    expect(await through('HTTPS')).toBe(status)
    // What the nearest proxy says counts: it wrote the last entry.
    expect(await through('https, http')).toBe(400)
    expect(await through('http')).toBe(400)
  })
})

describe('the app of a request', () => {
  const codeFor = async (service: Service, headers: Record<string, string>) => {
    const answer = await ask(`${service.url}/users`, { headers: { apikey: world.apiKey, ...headers } })
    return answer.status === 200 ? 200 : answer.body.error.code
  }

  it('is that of the host name, else of the header, else the default one', async () => {
    const service = await plainService()
    const { name } = world.app
    const of = (headers: Record<string, string>) => codeFor(service, headers)
    for (const region of ['us', 'eu', 'in']) expect(await of({ host: `${name}.api-${region}.example.com` })).toBe(200)
    expect(await of({ host: `${name.toUpperCase()}.chat-us.example.com:8443` })).toBe(200)
    expect(await of({ host: `${name}.api-us.example.com`, appid: 'other' })).toBe(200)
    expect(await of({ host: `nobody.api-us.example.com`, appid: name })).toBe('AUTH_ERR_INVALID_APPID')
    expect(await of({ host: 'chat.example.com', appid: name })).toBe(200)
    expect(await of({ host: 'chat.example.com', appid: name.toUpperCase() })).toBe(200)
    expect(await of({ host: `${name}.api-mars.example.com` })).toBe('AUTH_ERR_APIKEY_NOT_FOUND')
    expect(await of({ host: '[::1]:8080', appid: name })).toBe(200)
    expect(await of({})).toBe('AUTH_ERR_APIKEY_NOT_FOUND')
  })

  it('is that of X-Forwarded-Host, from a trusted proxy only', async () => {
    const forwarded = { 'x-forwarded-host': `${world.app.name}.api-us.example.com` }
    expect(await codeFor(await start({ TRUST_PROXY: 'loopback' }), forwarded)).toBe(200)
    expect(await codeFor(await start({ TRUST_PROXY: '192.0.2.1' }), forwarded)).toBe('AUTH_ERR_APIKEY_NOT_FOUND')
    expect(await codeFor(await plainService(), forwarded)).toBe('AUTH_ERR_APIKEY_NOT_FOUND')
  })
})

describe('browsers of other origins', () => {
  const preflight = (service: Service, origin: string) =>
    ask(`${service.url}/v3/users`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'appid,apikey,authtoken,onbehalfof,resource,sdk,content-type',
      },
    })

  it('may call from anywhere, unless CORS_ORIGINS says otherwise', async () => {
    const service = await plainService()
    const { status, headers } = await preflight(service, 'https://chat.example.com')
    expect(status).toBe(204)
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
      'access-control-allow-headers': 'appid,apikey,authtoken,onbehalfof,resource,sdk,content-type',
      'access-control-max-age': '86400',
      'x-request-id': expect.any(String),
    })
    expect(headers['access-control-allow-credentials']).toBeUndefined()
  })

  it('may call from the origins of CORS_ORIGINS only', async () => {
    const service = await start({ CORS_ORIGINS: 'https://chat.example.com,http://localhost:5173' })
    for (const origin of ['https://chat.example.com', 'http://localhost:5173']) {
      const { headers } = await preflight(service, origin)
      expect(headers['access-control-allow-origin']).toBe(origin)
      expect(headers.vary).toContain('Origin')
    }
    for (const origin of [
      'https://evil.example.com',
      'http://chat.example.com',
      'https://chat.example.com.evil',
      'null',
    ]) {
      expect((await preflight(service, origin)).headers['access-control-allow-origin']).toBeUndefined()
    }
  })

  it('are also told why they were refused', async () => {
    const service = await start({ CORS_ORIGINS: 'https://chat.example.com' })
    const cases: [string, Record<string, string>, number][] = [
      ['/users', {}, 401],
      ['/nothing', {}, 404],
      ['/users/nobody', { appid: world.app.name, apikey: world.apiKey }, 404],
    ]
    for (const [target, credentials, status] of cases) {
      const answer = await ask(`${service.url}${target}`, {
        headers: { origin: 'https://chat.example.com', ...credentials },
      })
      expect(answer.status).toBe(status)
      expect(answer.headers['access-control-allow-origin']).toBe('https://chat.example.com')
      expect(answer.headers['access-control-expose-headers']).toContain('x-request-id')
    }
  })

  it('get a 404 for OPTIONS that is no preflight', async () => {
    const service = await plainService()
    for (const headers of [{}, { origin: 'https://chat.example.com' }, { 'access-control-request-method': 'GET' }]) {
      const answer = await ask(`${service.url}/users`, { method: 'OPTIONS', headers })
      expectContractAnswer(answer)
      expect(answer.body.error.code).toBe('ERR_API_NOT_FOUND')
    }
  })
})
