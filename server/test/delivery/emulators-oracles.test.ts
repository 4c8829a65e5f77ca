import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import apn from '@parse/node-apn'
import client from '@sendgrid/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPrivateKey } from '../../src/chat/notifications/credentials.ts'
import { signJwt } from '../../src/delivery/notifications/jwt.ts'
import { type ApnsEmulator, startApnsEmulator } from '../../src/emulators/apns.ts'
import { type SendGridEmulator, startSendGridEmulator } from '../../src/emulators/sendgrid.ts'
import { findProgram, itWith, type Need } from '../gate/needs.ts'

const h2load = findProgram('h2load')
const h2loadProgram: Need = {
  isMet: h2load !== undefined,
  otherwise: 'there is no h2load on the PATH (Debian: nghttp2-client)',
  inGate: true,
}

describe('the emulator of APNs, asked by clients of others', () => {
  let emulator: ApnsEmulator
  let provider: apn.Provider
  beforeAll(async () => {
    emulator = await startApnsEmulator()
    const { keyId, teamId, p8Key } = emulator.credentials
    const { hostname: address, port } = new URL(emulator.endpoint)
    const token = { key: p8Key, keyId, teamId }
    provider = new apn.Provider({ token, address, port: Number(port), ca: [emulator.ca], production: false })
  })
  afterAll(async () => {
    await provider.shutdown()
    await emulator.close()
  })

  function noteFor(topic: string): apn.Notification {
    const note = new apn.Notification()
    Object.assign(note, { topic, pushType: 'alert', collapseId: '42', priority: 10, badge: 3 })
    note.expiry = Math.floor(Date.now() / 1000) + 60
    note.alert = { title: 'Alice', body: 'hello' }
    return note
  }

  it('takes what node-apn sends, and tells it what is wrong as APNs does', async () => {
    const { bundleId } = emulator.credentials
    const sent = await provider.send(noteFor(bundleId), ['a0a0', 'a1a1'])
    expect(sent.sent.map(({ device }) => device).sort()).toEqual(['a0a0', 'a1a1'])
    expect(sent.failed).toEqual([])
    expect(emulator.pushes.find(({ token }) => token === 'a0a0')).toMatchObject({
      headers: { 'apns-collapse-id': '42', 'apns-push-type': 'alert' },
      payload: { aps: { alert: { title: 'Alice', body: 'hello' }, badge: 3 } },
    })
    const gone = await provider.send(noteFor(bundleId), ['410a0'])
    expect(gone.failed).toMatchObject([
      { device: '410a0', status: 410, response: { reason: 'Unregistered', timestamp: expect.any(Number) } },
    ])
    const elsewhere = await provider.send(noteFor('com.example.other'), ['a0a0'])
    expect(elsewhere.failed).toMatchObject([{ status: 400, response: { reason: 'TopicDisallowed' } }])
    const large = noteFor(bundleId)
    large.alert = { title: 'Alice', body: 'x'.repeat(5_000) }
    const refused = await provider.send(large, ['a0a0'])
    expect(refused.failed).toMatchObject([{ status: 413, response: { reason: 'PayloadTooLarge' } }])
  })

  itWith(h2loadProgram, 'answers a thousand pushes of h2load, each once, over a few connections', async () => {
    const { keyId, teamId, p8Key, bundleId } = emulator.credentials
    // node-apn has dated its token a moment ago, and two dates within 20 minutes are refused.
    const iat = Number(decodeDate(String(emulator.pushes[0]?.headers.authorization)))
    const jwt = signJwt('ES256', readPrivateKey(p8Key), { kid: keyId }, { iss: teamId, iat })
    const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-h2load-'))
    const payload = path.join(folder, 'payload.json')
    await writeFile(payload, JSON.stringify({ aps: { alert: { title: 'Alice', body: 'hello' } } }))
    const before = emulator.pushes.length
    const headers = [`authorization: bearer ${jwt}`, `apns-topic: ${bundleId}`, 'apns-push-type: alert']
    const load = ['-n', '1000', '-c', '4', '-m', '50', '-d', payload]
    const { stdout } = await promisify(execFile)(h2load as string, [
      ...load,
      ...headers.flatMap((header) => ['-H', header]),
      `${emulator.endpoint}/3/device/abab`,
    ])
    await rm(folder, { recursive: true })
    expect(stdout).toContain('status codes: 1000 2xx, 0 3xx, 0 4xx, 0 5xx')
    expect(emulator.pushes.length - before).toBe(1_000)
  })
})

function decodeDate(authorization: string): unknown {
  const [, claims = ''] = authorization.split('.')
  return JSON.parse(Buffer.from(claims, 'base64url').toString()).iat
}

describe('the emulator of SendGrid, asked by its own client', () => {
  let emulator: SendGridEmulator
  beforeAll(async () => {
    emulator = await startSendGridEmulator()
  })
  afterAll(() => emulator.close())

  /** A key resets the address, too. */
  const useKey = (key: string) => {
    client.setApiKey(key)
    client.setDefaultRequest('baseUrl', emulator.endpoint)
  }
  const mailTo = (email: string) => ({
    method: 'POST' as const,
    url: '/v3/mail/send',
    body: {
      personalizations: [{ to: [{ email }], subject: 'Hello' }],
      from: { email: 'chat@example.com' },
      content: [{ type: 'text/plain', value: 'hello' }],
    },
  })

  it('takes what it sends, and refuses with the errors that it reads', async () => {
    useKey(emulator.apiKey)
    const [answer] = await client.request(mailTo('bob@example.com'))
    expect(answer.statusCode).toBe(202)
    expect(answer.headers['x-message-id']).toMatch(/^[0-9a-f]{22}$/)
    expect(emulator.mails).toMatchObject([{ to: 'bob@example.com', status: 202 }])
    const refusals = [
      [emulator.apiKey, 'bad@example.com', 400, 'Does not contain a valid address.'],
      [emulator.apiKey, 'down@example.com', 503, 'service unavailable'],
      ['SG.wrong', 'bob@example.com', 401, expect.stringContaining('invalid, expired, or revoked')],
    ] as const
    for (const [key, to, code, message] of refusals) {
      useKey(key)
      const error = await client.request(mailTo(to)).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code, response: { body: { errors: [{ message }] } } })
    }
  })
})
