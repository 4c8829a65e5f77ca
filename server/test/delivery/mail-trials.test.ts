import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SendGridEmulator, startSendGridEmulator } from '../../src/emulators/sendgrid.ts'
import { type SmtpEmulator, startSmtpEmulator } from '../../src/emulators/smtp.ts'
import { startTwilioEmulator, type TwilioEmulator } from '../../src/emulators/twilio.ts'
import { dataOf, refusal, say, texts } from '../support/chat.ts'
import { customEmail, customSms, sendGrid, sendGridAccount, twilio } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { createReachable, endWindows, openWindowsOf } from '../support/unread.ts'
import { soon } from '../support/until.ts'
import { closeEndpoints, open } from '../support/webhooks.ts'
import { createWorld, send, type World } from '../support/world.ts'

const smtp = '/notifications/email/v1/providers/smtp'
const replySecret = 'a-secret-of-the-mail-server'

let own: OwnServices
let service: Service
let emulators: { sendGrid: SendGridEmulator; twilio: TwilioEmulator; smtp: SmtpEmulator }

beforeAll(async () => {
  emulators = {
    sendGrid: await startSendGridEmulator(),
    twilio: await startTwilioEmulator(),
    smtp: await startSmtpEmulator(),
  }
  own = await createOwnServices()
  service = await own.start({
    ...{ SENDGRID_ENDPOINT: emulators.sendGrid.endpoint, TWILIO_ENDPOINT: emulators.twilio.endpoint },
    ...{ SMTP_URL: emulators.smtp.url, MAIL_FROM: 'Chat <chat@example.com>' },
    ...{ MAIL_REPLY_ADDRESS: 'reply@example.com', MAIL_REPLY_SECRET: replySecret },
    PUBLIC_URL: 'https://chat.example.com',
  })
})
afterAll(async () => {
  await own.close()
  await Promise.all([...Object.values(emulators).map((one) => one.close()), closeEndpoints()])
})

const trial = async (world: World, path: string, body: object) => dataOf(await world.post(`${path}/test`, body))

describe('a trial', () => {
  it('goes out by SendGrid, and says why one did not', async () => {
    const world = await createWorld(service)
    const { apiKey } = emulators.sendGrid
    dataOf(await world.post(sendGrid, { ...sendGridAccount, sendGridApiKey: apiKey, isEnabled: false }))
    expect(await trial(world, sendGrid, { email: 'trial@example.com' })).toMatchObject({ success: true, status: 202 })
    expect(emulators.sendGrid.mails.map(({ to }) => to)).toContain('trial@example.com')
    dataOf(await world.put(sendGrid, { sendGridApiKey: 'SG.wrong-key' }))
    const failed = await trial(world, sendGrid, { email: 'trial@example.com' })
    expect(failed).toMatchObject({ success: false, status: 401, error: expect.any(String) })
    expect(refusal(await world.post(`${sendGrid}/test`, {}))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.post(`${sendGrid}/test`, { email: 'a@b.example\r\nBcc: c' }))).toBe(
      '400 ERR_BAD_REQUEST',
    )
  })

  it('goes out by Twilio, and says why one did not', async () => {
    const world = await createWorld(service)
    const { accountSid, authToken, phoneNumber } = emulators.twilio.credentials
    const account = { twilioAccountSID: accountSid, twilioAuthToken: authToken, twilioSenderPhoneNumber: phoneNumber }
    dataOf(await world.post(twilio, account))
    expect(await trial(world, twilio, { phno: '+15550177' })).toMatchObject({ success: true, status: 201 })
    expect(emulators.twilio.texts.map(({ to }) => to)).toContain('+15550177')
    dataOf(await world.put(twilio, { twilioAuthToken: 'wrong-token' }))
    expect(await trial(world, twilio, { phno: '+15550177' })).toMatchObject({ success: false, status: 401 })
    expect(refusal(await world.post(`${twilio}/test`, { phno: '5550177' }))).toBe('400 ERR_BAD_REQUEST')
  })

  it('calls the webhook of the app itself, with an address or without', async () => {
    const world = await createWorld(service)
    const endpoint = await open()
    const webhook = {
      ...{ isEnabled: true, webhookURL: endpoint.url, useBasicAuth: true },
      ...{ basicAuthUsername: 'hook', basicAuthPassword: 'a-long-password' },
    }
    dataOf(await world.post(customEmail, { ...webhook, useStoredEmailID: true }))
    dataOf(await world.post(customSms, { ...webhook, useStoredPhNo: false }))
    expect(await trial(world, customEmail, { email: 'trial@example.com' })).toMatchObject({
      success: true,
      status: 200,
    })
    expect(await trial(world, customSms, {})).toMatchObject({ success: true })
    const [email, sms] = endpoint.received
    expect(email?.body).toMatchObject({
      trigger: 'email-notification-payload-generated',
      data: { to: { email: 'trial@example.com' } },
      webhook: 'custom',
    })
    expect(sms?.body).toMatchObject({ trigger: 'sms-notification-payload-generated' })
    expect(sms?.body.data.to).not.toHaveProperty('phno')
    expect(email?.headers.authorization).toBe(`Basic ${Buffer.from('hook:a-long-password').toString('base64')}`)
    endpoint.behave({ status: 500 })
    expect(await trial(world, customEmail, {})).toMatchObject({ success: false, status: 500 })
  })

  it('needs a provider', async () => {
    const world = await createWorld(service)
    expect(refusal(await world.post(`${sendGrid}/test`, { email: 'a@b.example' }))).toBe('404 ERR_PROVIDER_NOT_FOUND')
    expect(refusal(await world.post(`${twilio}/test`, { phno: '+15550177' }))).toBe('404 ERR_PROVIDER_NOT_FOUND')
    for (const path of [customEmail, customSms]) {
      expect(refusal(await world.post(`${path}/test`, {}))).toBe('404 ERR_PROVIDER_NOT_FOUND')
    }
  })
})

describe('the mail server of the deployment', () => {
  it('is used by apps that ask for it, and by no others', async () => {
    const [world, other] = [await createWorld(service), await createWorld(service)]
    expect(dataOf(await world.put(smtp, { isEnabled: true })).isEnabled).toBe(true)
    expect(dataOf(await other.get(smtp))).toEqual({ isAvailable: true, isEnabled: false })
    expect(refusal(await other.delete(smtp))).toBe('404 ERR_PROVIDER_NOT_FOUND')
  })

  it('is tried, switched off and on', async () => {
    const world = await createWorld(service)
    expect(dataOf(await world.put(smtp, { isEnabled: true }))).toEqual({ isAvailable: true, isEnabled: true })
    expect(await trial(world, smtp, { email: 'by-smtp@example.com' })).toMatchObject({ success: true })
    expect(emulators.smtp.mails.flatMap(({ to }) => to)).toContain('by-smtp@example.com')
    dataOf(await world.delete(smtp))
    expect(dataOf(await world.get(smtp))).toEqual({ isAvailable: true, isEnabled: false })
    expect(refusal(await world.put(smtp, {}))).toBe('400 ERR_BAD_REQUEST')
  })

  it('sends e-mails that can be replied to, and unsubscribed from', async () => {
    const world = await createWorld(service)
    await createReachable(world, 'alice', 'bob')
    dataOf(await world.put(smtp, { isEnabled: true }))
    await say(world, 'alice', 'bob', 'by e-mail')
    await soon(async () => expect(await openWindowsOf(own, world)).toEqual(['email bob']))
    await endWindows(own, world)
    const found = () => emulators.smtp.mails.find(({ mail }) => mail.text?.includes('by e-mail'))
    await soon(() => expect(found()).toBeDefined())
    const { mail } = found() as SmtpEmulator['mails'][number]

    const replyTo = mail.replyTo?.value[0]?.address as string
    expect(replyTo).toMatch(/^reply\+[a-z2-7]{39}@example\.com$/)
    // Below the answer is the e-mail itself, as programs put it that mark no quotes.
    const reply = async (id: number, type: string, body: string) => {
      const headers = `To: ${replyTo}\r\nMessage-ID: <${id}@example.com>\r\nContent-Type: ${type}; charset=utf-8`
      const answer = await send(service.url, 'POST', '/notifications/email/v1/replies', `${headers}\r\n\r\n${body}`, {
        ...{ 'content-type': 'message/rfc822', authorization: `Bearer ${replySecret}` },
      })
      expect(answer.body.data).toMatchObject({ success: true })
    }
    await reply(1, 'text/plain', `answered\r\n\r\n${mail.text}`)
    await reply(2, 'text/html', String(mail.html).replace(/<body[^>]*>/, '$&<p>in HTML</p>'))
    const said = ['by e-mail', 'answered', 'in HTML']
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(said)

    const list = mail.headers.get('list') as unknown as { unsubscribe: { url: string } }
    const link = new URL(list.unsubscribe.url)
    expect(link.origin).toBe('https://chat.example.com')
    const { status } = await fetch(`${service.url}${link.pathname}${link.search}`, {
      method: 'POST',
      body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
    })
    expect(status).toBe(200)
    const { unsubscriptions } = dataOf(await world.get('/notifications/v1/unsubscriptions', { as: 'bob' }))
    expect(unsubscriptions).toEqual([{ channel: 'email', since: expect.any(Number) }])
  })
})
