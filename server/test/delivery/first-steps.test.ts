import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect } from 'vitest'
import { ensureKey } from '../../src/areas/api-keys/keys.ts'
import { type FcmEmulator, startFcmEmulator } from '../../src/emulators/fcm.ts'
import { type SmtpEmulator, startSmtpEmulator } from '../../src/emulators/smtp.ts'
import { startTwilioEmulator, type TwilioEmulator } from '../../src/emulators/twilio.ts'
import { findProgram, itWith } from '../gate/needs.ts'
import { createOwnServices, type OwnServices } from '../support/own-services.ts'
import { endWindows, whenPlanned } from '../support/unread.ts'
import { soon } from '../support/until.ts'

const page = path.join(import.meta.dirname, '../../../docs/notifications.md')
const needed = ['bash', 'curl', 'jq']
const programs = {
  isMet: needed.every((name) => findProgram(name) !== undefined),
  otherwise: `needs ${needed.join(', ')}`,
  inGate: false,
}
const replySecret = 'known to the mail server'.replaceAll(' ', '-')

let own: OwnServices
let settings: Record<string, string>
let emulators: { fcm: FcmEmulator; smtp: SmtpEmulator; twilio: TwilioEmulator }

beforeAll(async () => {
  const [services, fcm, smtp, twilio] = await Promise.all([
    createOwnServices(),
    startFcmEmulator(),
    startSmtpEmulator(),
    startTwilioEmulator({ port: 0 }),
  ])
  ;[own, emulators] = [services, { fcm, smtp, twilio }]
  // As `npm run emulate` prints it.
  settings = {
    ...{ FCM_ENDPOINT: fcm.endpoint, FCM_TOKEN_ENDPOINT: fcm.tokenEndpoint, TWILIO_ENDPOINT: twilio.endpoint },
    ...{ SMTP_URL: smtp.url, MAIL_FROM: 'Chat <chat@example.com>', PUBLIC_URL: 'http://127.0.0.1:8080' },
    ...{ MAIL_REPLY_ADDRESS: 'reply@example.com', MAIL_REPLY_SECRET: replySecret },
  }
})
afterAll(async () => {
  await own.close()
  await Promise.all(Object.values(emulators).map((emulator) => emulator.close()))
})

/** The blocks of a section, in their order: commands, but those that read keys out of a file of the reader, and what comes of them. */
async function blocksOf(section: string): Promise<Array<{ readonly language: string; readonly text: string }>> {
  const [, after = ''] = (await readFile(page, 'utf8')).split(`\n## ${section}\n`)
  const [text = ''] = after.split('\n## ')
  return [...text.matchAll(/```(\w*)\n(.*?)```/gs)]
    .map(([, language = '', text = '']) => ({ language, text }))
    .filter((block) => !block.text.includes('keys.env'))
}

async function commandsOf(section: string): Promise<string[]> {
  return (await blocksOf(section)).filter(({ language }) => language === 'sh').map(({ text }) => text)
}

/** A service whose own app nobody has used before, for a reader who walks. */
async function newReader(name: string) {
  const { parley, url } = await own.start({ ...settings, PARLEY_APP_ID: name })
  const app = await parley.context.apps.ensure(name, 'us')
  const apiKey = Buffer.from(name.padEnd(20)).toString('hex')
  await ensureKey(parley.context, app.appId, { apiKey, name, scope: 'fullAccess' })
  const env = {
    ...{ PATH: process.env.PATH, PARLEY_URL: url, PARLEY_API_KEY: apiKey, MAIL_REPLY_SECRET: replySecret },
  }
  const ask = async (method: string, to: string, body?: object) => {
    const headers = { apikey: apiKey, 'content-type': 'application/json' }
    const answer = await fetch(`${url}/v3${to}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    expect(answer.status, await answer.clone().text()).toBe(200)
    return answer.json()
  }
  const run = async (commands: string) => (await promisify(execFile)('bash', ['-ec', commands], { env })).stdout
  return { app, ask, run }
}

itWith(programs, 'what docs/notifications.md says about a first push leads to one', async () => {
  const { fcm } = emulators
  const { ask, run } = await newReader('first-push')
  const provider = { providerId: 'fcm', serviceAccountCreds: fcm.credentials }
  await ask('POST', '/notifications/push/v1/providers/fcm', provider)
  await run((await commandsOf('A first push in five minutes')).join('\n'))
  await soon(() =>
    expect(fcm.pushes.map(({ token, data }) => [token, data.title, data.body])).toEqual([
      ['my-phone', 'Alice', 'hello'],
    ]),
  )
})

itWith(programs, 'what it says about a first e-mail leads to one, to a text, and to a reply that is sent', async () => {
  const { smtp, twilio } = emulators
  const { app, ask, run } = await newReader('first-email')
  const { accountSid: twilioAccountSID, authToken: twilioAuthToken, phoneNumber } = twilio.credentials
  const account = { twilioAccountSID, twilioAuthToken, twilioSenderPhoneNumber: phoneNumber }
  await ask('POST', '/notifications/sms/v1/providers/twilio', account)
  await ask('PUT', '/notifications/email/v1/providers/smtp', { isEnabled: true })
  const section = 'A first e-mail in five minutes'
  const [messages = '', reply = ''] = await commandsOf(section)
  await run(messages)
  // The minute is over at once here.
  await whenPlanned(own, { app })
  await endWindows(own, { app })
  await soon(() => expect([smtp.mails.length, twilio.texts.length]).toEqual([1, 1]))

  const texts = (await blocksOf(section)).filter(({ language }) => language === '').map(({ text }) => text)
  const [lines = '', written = ''] = texts
  const [text] = twilio.texts
  expect(lines).toContain(`Twilio   ${text?.status} to ${text?.to}: ${text?.body}\n`)
  const [came] = smtp.mails
  expect(lines).toContain(`SMTP     250 to ${came?.to.join()}: ${came?.mail.subject}: `)
  const upToToken = (text = '') => text.replaceAll('\r\n', '\n').replace(/(\?token=).*/s, '$1')
  expect(upToToken(came?.mail.text)).toBe(upToToken(written))
  const logged = { channel: 'email', provider: 'smtp', uid: 'bob', attempts: 1, success: true, answer: { status: 250 } }
  // What came of it is written a moment after it has come.
  await soon(async () =>
    expect(await ask('GET', '/notifications/v1/logs?channel=email')).toMatchObject({ data: [logged] }),
  )

  const address = came?.mail.replyTo?.value[0]?.address
  const answered = await run(reply.replace(/reply\+[^\\]+@example\.com/, String(address)))
  expect(JSON.parse(answered)).toMatchObject({ data: { success: true } })
  const { data } = (await ask('GET', `/messages/${JSON.parse(answered).data.messageId}`)) as { data: object }
  expect(data).toMatchObject({ sender: 'bob', receiver: 'alice', data: { text: 'fine' } })
})
