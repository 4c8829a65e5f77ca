import { connect } from 'node:http2'
import { expect, it } from 'vitest'
import { readPrivateKey } from '../../src/chat/notifications/credentials.ts'
import { signJwt } from '../../src/delivery/notifications/jwt.ts'
import { startApnsEmulator } from '../../src/emulators/apns.ts'
import { startCustomEmulator } from '../../src/emulators/custom.ts'
import { startFcmEmulator } from '../../src/emulators/fcm.ts'
import { startSendGridEmulator } from '../../src/emulators/sendgrid.ts'
import { startTwilioEmulator } from '../../src/emulators/twilio.ts'
import { startWebPushEmulator } from '../../src/emulators/web-push.ts'

/** How an emulator is asked: what a sender asks, and what it is told from outside. */
interface Asked {
  send(): Promise<number>
  tell(script: object | string): Promise<number>
  journal(): Promise<ReadonlyArray<{ readonly status: number }>>
  close(): Promise<void>
}

const textOf = (body: object | string) => (typeof body === 'string' ? body : JSON.stringify(body))

function overHttp(endpoint: string, send: () => Promise<Response>, close: () => Promise<void>): Asked {
  return {
    send: async () => (await send()).status,
    tell: async (script) => (await fetch(`${endpoint}/behaviour`, { method: 'POST', body: textOf(script) })).status,
    journal: async () => (await (await fetch(`${endpoint}/journal`)).json()) as Array<{ status: number }>,
    close,
  }
}

async function askFcm(): Promise<Asked> {
  const { endpoint, tokenEndpoint, credentials, close } = await startFcmEmulator()
  const iat = Math.floor(Date.now() / 1000)
  const claims = { iss: credentials.client_email, aud: tokenEndpoint, iat, exp: iat + 3600 }
  const assertion = signJwt('RS256', readPrivateKey(credentials.private_key), {}, claims)
  const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }
  const granted = await fetch(tokenEndpoint, { method: 'POST', body: new URLSearchParams(grant) })
  const { access_token: token } = (await granted.json()) as { access_token: string }
  const send = () =>
    fetch(`${endpoint}/v1/projects/${credentials.project_id}/messages:send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ message: { token: 'phone', data: {} } }),
    })
  return overHttp(endpoint, send, close)
}

async function askApns(): Promise<Asked> {
  const { endpoint, ca, credentials, close } = await startApnsEmulator()
  const { keyId, teamId, p8Key, bundleId } = credentials
  const jwt = signJwt(...(['ES256', readPrivateKey(p8Key), { kid: keyId }] as const), {
    iss: teamId,
    iat: Math.floor(Date.now() / 1000),
  })
  const session = connect(endpoint, { ca })
  const ask = (headers: Record<string, string>, body = '') =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const stream = session.request(headers, { endStream: false })
      let [status, text] = [0, '']
      stream.setEncoding('utf8')
      stream.on('response', (answer) => {
        status = Number(answer[':status'])
      })
      stream.on('data', (chunk: string) => {
        text += chunk
      })
      stream.on('error', reject)
      stream.on('close', () => resolve({ status, text }))
      stream.end(body)
    })
  const path = '/3/device/abab'
  const about = { authorization: `bearer ${jwt}`, 'apns-topic': bundleId, 'apns-push-type': 'alert' }
  return {
    send: async () => (await ask({ ':method': 'POST', ':path': path, ...about }, '{"aps":{}}')).status,
    tell: async (script) => (await ask({ ':method': 'POST', ':path': '/behaviour' }, textOf(script))).status,
    journal: async () => JSON.parse((await ask({ ':method': 'GET', ':path': '/journal' })).text),
    async close() {
      session.destroy()
      await close()
    },
  }
}

async function askTwilio(): Promise<Asked> {
  const { endpoint, credentials, close } = await startTwilioEmulator()
  const { accountSid, authToken, phoneNumber } = credentials
  const send = () =>
    fetch(`${endpoint}/2010-04-01/Accounts/${accountSid}/Messages.json`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}` },
      body: new URLSearchParams({ To: '+15550101', From: phoneNumber, Body: 'hello' }),
    })
  return overHttp(endpoint, send, close)
}

async function askSendGrid(): Promise<Asked> {
  const { endpoint, apiKey, close } = await startSendGridEmulator()
  const mail = {
    personalizations: [{ to: [{ email: 'bob@example.com' }], subject: 'Hello' }],
    ...{ from: { email: 'chat@example.com' }, content: [{ type: 'text/plain', value: 'hello' }] },
  }
  const headers = { authorization: `Bearer ${apiKey}` }
  const send = () => fetch(`${endpoint}/v3/mail/send`, { method: 'POST', headers, body: JSON.stringify(mail) })
  return overHttp(endpoint, send, close)
}

async function askCustom(): Promise<Asked> {
  const { endpoint, close } = await startCustomEmulator()
  const body = JSON.stringify({ trigger: 'push-notification-payload-generated', data: { to: { uid: 'bob' } } })
  return overHttp(endpoint, () => fetch(`${endpoint}/push`, { method: 'POST', body }), close)
}

it.each([
  ['FCM', askFcm, 200],
  ['APNs', askApns, 200],
  ['Twilio', askTwilio, 201],
  ['SendGrid', askSendGrid, 202],
  ['a webhook of the app', askCustom, 200],
] as const)('the emulator of %s answers as it is told, and keeps a journal', async (_, start, accepted) => {
  const { send, tell, journal, close } = await start()
  try {
    expect(await tell({ status: 503, times: 2 })).toBe(200)
    expect([await send(), await send(), await send()]).toEqual([503, 503, accepted])
    await tell({ status: 429, retryAfter: 7 })
    expect([await send(), await send()]).toEqual([429, 429])
    await tell({})
    expect(await send()).toBe(accepted)
    expect([await tell({ status: 42 }), await tell('nothing')]).toEqual([400, 400])
    expect((await journal()).map(({ status }) => status)).toEqual([503, 503, accepted, 429, 429, accepted])
  } finally {
    await close()
  }
})

it('the emulator of a push service takes a script, and refuses one that is none', async () => {
  const { endpoint, close } = await startWebPushEmulator()
  const tell = async (body: string) => (await fetch(`${endpoint}/behaviour`, { method: 'POST', body })).status
  expect([await tell('{"status": 503}'), await tell('{}'), await tell('{"status": "no"}')]).toEqual([200, 200, 400])
  await close()
})

it('the emulator of FCM takes 240 messages a minute for one device', async () => {
  const { send, close } = await askFcm()
  const answers: number[] = []
  while (!answers.includes(429) && answers.length < 600) answers.push(await send())
  // The minute may turn while they are sent: then a new one begins.
  expect(answers.indexOf(429)).toBeGreaterThanOrEqual(240)
  await close()
})
