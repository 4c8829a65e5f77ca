import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SendGridEmulator, startSendGridEmulator } from '../../src/emulators/sendgrid.ts'
import { type SmtpEmulator, startSmtpEmulator } from '../../src/emulators/smtp.ts'
import { startTwilioEmulator, type TwilioEmulator } from '../../src/emulators/twilio.ts'
import { dataOf, say } from '../support/chat.ts'
import { contact, logsOf, patch, sendGrid, sendGridAccount, twilio } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { createReachable, endWindows, openWindowsOf } from '../support/unread.ts'
import { soon } from '../support/until.ts'
import { createWorld, type World } from '../support/world.ts'

let own: OwnServices
let service: Service
let grid: SendGridEmulator
let texts: TwilioEmulator
let smtp: SmtpEmulator

beforeAll(async () => {
  ;[own, grid, texts, smtp] = await Promise.all([
    createOwnServices(),
    startSendGridEmulator(),
    startTwilioEmulator(),
    startSmtpEmulator(),
  ])
  service = await own.start({
    ...{ SENDGRID_ENDPOINT: grid.endpoint, TWILIO_ENDPOINT: texts.endpoint },
    ...{ SMTP_URL: smtp.url, MAIL_FROM: 'Chat <chat@example.com>', PUBLIC_URL: 'https://chat.example.com' },
  })
})
afterAll(async () => {
  await own.close()
  await Promise.all([grid.close(), texts.close(), smtp.close()])
})

const waitForWindow = (world: World, window: string) =>
  soon(async () => expect(await openWindowsOf(own, world)).toContain(window))

const useMailServer = async (world: World) =>
  dataOf(await world.put('/notifications/email/v1/providers/smtp', { isEnabled: true }))

/** Everything that is told of what became of notifications to bob. */
async function toldOf(world: World, messageId: string): Promise<string> {
  const explained = await world.get(`/notifications/v1/explain?uid=bob&messageId=${messageId}`)
  const rows = await own.query('select * from notification_deliveries where app_id = $1', [world.app.appId])
  return JSON.stringify([await logsOf(world), dataOf(explained), rows])
}

describe('by the mail server of the operator', () => {
  it('an e-mail is sent escaped, with a name, a way out, and headers of one line', async () => {
    const world = await createWorld(service)
    await createReachable(world, 'alice', 'bob')
    dataOf(await world.put('/users/alice', { name: 'Al <b>ice\r\nBcc: x@example.com' }))
    await useMailServer(world)
    await say(world, 'alice', 'bob', '<script>hello</script> 👋')
    await waitForWindow(world, 'email bob')
    await endWindows(own, world)
    const mine = () => smtp.mails.filter(({ source }) => source.includes(`ntf_${world.app.appId}_`))
    await soon(() => expect(mine()).toHaveLength(1))
    const [{ mail, to }] = mine() as [SmtpEmulator['mails'][0]]
    expect(to).toEqual(['bob@example.com'])
    expect(mail.subject).toBe('Unread messages from Al <b>ice Bcc: x@example.com')
    expect(mail.headers.has('bcc')).toBe(false)
    expect(mail.html).toContain('&lt;script&gt;hello&lt;/script&gt; 👋')
    expect(mail.html).not.toContain('<script>')
    expect(mail.text).toContain('<script>hello</script> 👋')
    expect(mail.from?.text).toContain('chat@example.com')
    expect(mail.messageId).toMatch(/^<ntf_\d+_\d+@example\.com>$/)
    const [{ source }] = mine() as [SmtpEmulator['mails'][0]]
    expect(source).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click')
    expect(mail.text).toContain('https://chat.example.com/unsubscribe?token=')
  })

  it('an address that it knows no more is not written to again, until it is said anew', async () => {
    const world = await createWorld(service)
    await createReachable(world, 'alice', 'bob')
    dataOf(await contact(world, 'bob', { email: 'bad-bob@example.com' }))
    await useMailServer(world)
    await say(world, 'alice', 'bob', 'one')
    await waitForWindow(world, 'email bob')
    await endWindows(own, world)
    await soon(async () =>
      expect(await logsOf(world)).toMatchObject([{ success: false, answer: { status: 550 }, provider: 'smtp' }]),
    )
    await say(world, 'alice', 'bob', 'two')
    await soon(async () => expect((await logsOf(world))[1]).toMatchObject({ reason: 'MISSING_EMAIL' }))
    dataOf(await contact(world, 'bob', { email: 'bad-bob@example.com' }))
    await say(world, 'alice', 'bob', 'three')
    await waitForWindow(world, 'email bob')
  })
})

describe('by SendGrid', () => {
  it('an e-mail is sent by the template of the app, and again where SendGrid failed, under one id', async () => {
    const world = await createWorld(service)
    await createReachable(world, 'alice', 'bob')
    dataOf(await world.post(sendGrid, { ...sendGridAccount, sendGridApiKey: grid.apiKey, isEnabled: true }))
    let count = 0
    grid.behave(() => (count++ === 0 ? 'hang up' : undefined))
    await say(world, 'alice', 'bob', 'hello')
    await waitForWindow(world, 'email bob')
    await endWindows(own, world)
    await soon(() => expect(grid.mails.map(({ status }) => status)).toEqual([0, 202]))
    expect(new Set(grid.mails.map(({ mail }) => mail.headers['Message-ID'])).size).toBe(1)
    expect(grid.mails[0]?.mail).toMatchObject({
      personalizations: [
        {
          to: [{ email: 'bob@example.com', name: 'Bob' }],
          dynamic_template_data: { subject: 'Unread messages from Alice', messages: [{ message: 'hello' }] },
        },
      ],
      from: { email: 'reply@example.com', name: 'Team chat' },
      reply_to: { email: expect.stringMatching(/^reply\+[a-z2-7]+@example\.com$/) },
      ...{ template_id: 'tpl-1', asm: { group_id: 101 } },
      headers: { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
    })
  })
})

async function setUpTwilio(world: World) {
  const { accountSid, authToken, phoneNumber } = texts.credentials
  const account = { twilioAccountSID: accountSid, twilioAuthToken: authToken, twilioSenderPhoneNumber: phoneNumber }
  dataOf(await world.post(twilio, account))
}

describe('by Twilio', () => {
  it('an SMS is sent, and a number that is none is not tried again', async () => {
    const world = await createWorld(service)
    await createReachable(world, 'alice', 'bob', 'carol')
    await setUpTwilio(world)
    dataOf(await contact(world, 'carol', { phno: '+155521211' }))
    await say(world, 'alice', 'bob', 'hello')
    await say(world, 'alice', 'carol', 'hello')
    await waitForWindow(world, 'sms bob')
    await waitForWindow(world, 'sms carol')
    await endWindows(own, world)
    await soon(() => expect(texts.texts).toHaveLength(2))
    const [sent] = texts.texts.filter(({ status }) => status === 201)
    expect(sent).toMatchObject({ to: '+15550101', body: 'You have 1 unread message from Alice.' })
    await soon(async () =>
      expect(await logsOf(world, '?channel=sms&success=false')).toMatchObject([
        { uid: 'carol', reason: 'TWILIO_CREATE_ERROR', answer: { status: 400 } },
      ]),
    )
    await say(world, 'alice', 'carol', 'again')
    await soon(async () => expect(await logsOf(world, '?reason=MISSING_PHNO')).toHaveLength(1))
  })

  it('an SMS is cut to the segments of the app, and one to somebody who answered STOP is logged as that', async () => {
    const world = await createWorld(service)
    await createReachable(world, 'alice', 'bob', 'carol')
    await setUpTwilio(world)
    dataOf(await contact(world, 'bob', { phno: '+15550177' }))
    dataOf(await contact(world, 'carol', { phno: '+155521610' }))
    dataOf(await patch(world, `/apps/${world.app.name}/settings`, { smsMaxSegments: 1 }))
    const templates = { smsContentTemplateDefault: { bodyOneOnOne: '👋🏽'.repeat(40) } }
    dataOf(await patch(world, '/notifications/v1/settings', { templates }))
    for (const uid of ['bob', 'carol']) await say(world, 'alice', uid, 'hello')
    for (const uid of ['bob', 'carol']) await waitForWindow(world, `sms ${uid}`)
    await endWindows(own, world)
    await soon(() =>
      expect(texts.texts.find(({ to }) => to === '+15550177')).toMatchObject({ body: `${'👋🏽'.repeat(16)}...` }),
    )
    await soon(async () =>
      expect(await logsOf(world, '?channel=sms&success=false')).toMatchObject([
        { uid: 'carol', reason: 'UNSUBSCRIBED', attempts: 1 },
      ]),
    )
    await say(world, 'alice', 'carol', 'again')
    await waitForWindow(world, 'sms carol')
  })
  it('an SMS that had no answer is sent once more, and not again', async () => {
    const world = await createWorld(service)
    await createReachable(world, 'alice', 'bob')
    await setUpTwilio(world)
    const phno = '+15550199'
    dataOf(await contact(world, 'bob', { phno }))
    const toBob = () => texts.texts.filter(({ to }) => to === phno).map(({ status }) => status)
    let asked = 0
    const down = { status: 503, code: 20503, message: 'Service Unavailable' }
    texts.behave(({ to }) => (to !== phno ? undefined : asked++ === 1 ? down : 'hang up'))
    await say(world, 'alice', 'bob', 'hello')
    await waitForWindow(world, 'sms bob')
    await soon(async () => {
      await endWindows(own, world)
      expect(await logsOf(world, '?channel=sms&success=false')).toMatchObject([
        { uid: 'bob', reason: 'TWILIO_CREATE_ERROR', attempts: 3 },
      ])
    })
    // What certainly did not arrive does not count.
    expect(toBob()).toEqual([0, 503, 0])
    texts.behave(() => undefined)
  })
})

describe('what a service says of an address', () => {
  it('stands in no log: that of the mail server', async () => {
    const world = await createWorld(service)
    await createReachable(world, 'alice', 'bob')
    await useMailServer(world)
    smtp.behave((to) => (to === 'bob@example.com' ? { code: 550, message: `5.7.1 <${to}>: not wanted` } : undefined))
    const { id } = await say(world, 'alice', 'bob', 'one')
    await waitForWindow(world, 'email bob')
    await endWindows(own, world)
    const error = 'the mail server answered 550 5.7.1 to RCPT TO'
    await soon(async () => expect(await logsOf(world)).toMatchObject([{ error, answer: { status: 550 } }]))
    smtp.behave(() => undefined)
    expect(await toldOf(world, id)).not.toContain('bob@example.com')
  })

  it('stands in no log: that of SendGrid', async () => {
    const world = await createWorld(service)
    await createReachable(world, 'alice', 'bob')
    dataOf(await world.post(sendGrid, { ...sendGridAccount, sendGridApiKey: grid.apiKey, isEnabled: true }))
    grid.behave(() => ({ status: 400, message: 'bob@example.com is blocked', field: 'personalizations.0.to.0.email' }))
    const { id } = await say(world, 'alice', 'bob', 'one')
    await waitForWindow(world, 'email bob')
    await endWindows(own, world)
    const error = 'SendGrid answered 400 personalizations.0.to.0.email'
    await soon(async () => expect(await logsOf(world)).toMatchObject([{ error, answer: { status: 400 } }]))
    grid.behave(() => undefined)
    expect(await toldOf(world, id)).not.toContain('bob@example.com')
  })

  it('stands in no log: that of Twilio', async () => {
    const world = await createWorld(service)
    await createReachable(world, 'alice', 'bob')
    await setUpTwilio(world)
    texts.behave(({ to }) => ({ status: 400, code: 21614, message: `${to} is not a mobile phone` }))
    const { id } = await say(world, 'alice', 'bob', 'one')
    await waitForWindow(world, 'sms bob')
    await endWindows(own, world)
    const error = 'Twilio answered 400 21614'
    await soon(async () => expect(await logsOf(world)).toMatchObject([{ error, answer: { status: 400 } }]))
    texts.behave(() => undefined)
    expect(await toldOf(world, id)).not.toContain('+15550101')
  })
})
