import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { dataOf, refusal } from '../support/chat.ts'
import { customEmail, customSms, sendGrid, sendGridAccount, twilio, twilioAccount } from '../support/notifications.ts'
import { createWorld, type World } from '../support/world.ts'

const webhook = {
  ...{ isEnabled: true, webhookURL: 'https://127.0.0.1:9/hook', useBasicAuth: true },
  ...{ basicAuthUsername: 'hook', basicAuthPassword: 'a-long-password' },
}
const { sendGridApiKey, ...sendGridShown } = sendGridAccount
const { twilioAuthToken, ...twilioShown } = twilioAccount

/** Each provider of e-mail and SMS: how it is set up, and how it is shown. */
const providers: [name: string, path: string, sent: Record<string, unknown>, shown: object][] = [
  ['Twilio', twilio, twilioAccount, { ...twilioShown, twilioAuthToken: '********ilio', isEnabled: true }],
  ['SendGrid', sendGrid, sendGridAccount, { ...sendGridShown, sendGridApiKey: '********grid', isEnabled: true }],
  [
    'a custom SMS provider',
    customSms,
    { ...webhook, useStoredPhNo: true },
    { ...webhook, useStoredPhNo: true, basicAuthPassword: '********word' },
  ],
  [
    'a custom e-mail provider',
    customEmail,
    { ...webhook, useStoredEmailID: true },
    { ...webhook, useStoredEmailID: true, basicAuthPassword: '********word' },
  ],
]

/** What is stored of the providers of an app, secrets opened. */
async function storedOf(world: World) {
  const { database, secrets } = world.context
  const rows = await database.run<{ id: string; channel: string; kind: string; enabled: boolean; sealed: Buffer }>(
    sql`select id, channel, kind, enabled, sealed from notification_providers where app_id = ${world.app.appId}`,
  )
  return rows.map(({ sealed, ...row }) => ({ ...row, secrets: JSON.parse(secrets.unseal(sealed)) }))
}

/** Without the address for replies, which is new for each app. */
const withoutWebhook = ({ repliesWebhook: _, ...shown }: Record<string, unknown>) => shown

describe.each(providers)('%s', (_name, path, sent, shown) => {
  it('is set up, shown with its secret shortened, changed in part and removed', async () => {
    const [world, other] = [await createWorld(), await createWorld()]
    expect(dataOf(await world.get(path))).toEqual({})
    expect(withoutWebhook(dataOf(await world.post(path, sent)))).toEqual(shown)
    expect(dataOf(await world.get(path))).toEqual(shown)
    expect(dataOf(await other.get(path))).toEqual({})

    expect(withoutWebhook(dataOf(await world.put(path, { isEnabled: false })))).toEqual({ ...shown, isEnabled: false })
    expect(dataOf(await world.get(path))).toEqual({ ...shown, isEnabled: false })
    expect(withoutWebhook(dataOf(await world.put(path, {})))).toEqual({ ...shown, isEnabled: false })

    expect(refusal(await other.delete(path))).toBe('404 ERR_PROVIDER_NOT_FOUND')
    expect(refusal(await other.put(path, { isEnabled: true }))).toBe('404 ERR_PROVIDER_NOT_FOUND')
    expect(dataOf(await world.delete(path))).toEqual({ success: true })
    expect(dataOf(await world.get(path))).toEqual({})
    expect(refusal(await world.delete(path))).toBe('404 ERR_PROVIDER_NOT_FOUND')
    expect(await storedOf(world)).toEqual([])
  })

  it('keeps a secret that comes back as it was shown, when it is changed and when it is set up anew', async () => {
    const world = await createWorld()
    dataOf(await world.post(path, sent))
    const [before] = await storedOf(world)
    dataOf(await world.put(path, shown))
    dataOf(await world.post(path, { ...sent, ...shown }))
    const [after, ...more] = await storedOf(world)
    expect(more).toEqual([])
    expect(after?.secrets).toEqual(before?.secrets)
    expect(Object.values(after?.secrets)).toEqual(
      expect.arrayContaining([sent.twilioAuthToken ?? sent.sendGridApiKey ?? sent.basicAuthPassword]),
    )
  })

  it('refuses each member that is missing or of another type', async () => {
    const world = await createWorld()
    const optional = ['allowEmailReplies', 'senderEmailForReplies', 'useStoredPhNo']
    for (const name of Object.keys(sent).filter((one) => !optional.includes(one))) {
      const { [name]: _, ...rest } = sent
      const answer = await world.post(path, rest)
      expect([refusal(answer), answer.body.error.details]).toEqual([
        '400 ERR_BAD_REQUEST',
        [{ path: `body/${name}`, message: 'is required' }],
      ])
    }
    for (const name of [...Object.keys(sent), 'isEnabled']) {
      for (const method of ['POST', 'PUT']) {
        const answer = await world.call(method, path, { ...sent, [name]: { a: 1 } })
        expect(refusal(answer), `${method} ${name}`).toBe('400 ERR_BAD_REQUEST')
        expect(answer.body.error.details[0].path).toBe(`body/${name}`)
      }
    }
    expect(refusal(await world.post(path))).toBe('400 ERR_BAD_REQUEST')
    expect(await storedOf(world)).toEqual([])
  })

  it('is one, however many set it up at the same time', async () => {
    const world = await createWorld()
    const answers = await Promise.all(Array.from({ length: 4 }, () => world.post(path, sent)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(await storedOf(world)).toHaveLength(1)
  })
})

describe('providers of e-mail and SMS', () => {
  it.each([
    ['Twilio', twilio, { ...twilioAccount, isEnabled: false }],
    ['SendGrid', sendGrid, { ...sendGridAccount, isEnabled: false }],
  ])('are on unless they are set up otherwise: %s', async (_name, path, off) => {
    const world = await createWorld()
    expect(dataOf(await world.post(path, off)).isEnabled).toBe(false)
    const { isEnabled: _, ...unsaid } = off
    // Setting it up anew does not switch it on.
    expect(dataOf(await world.post(path, unsaid)).isEnabled).toBe(false)
  })

  it.each([
    [twilio, twilioAccount, 'twilioAccountSID', ['', 'a b', 'a/b', '../x', 'a\r\nb']],
    [twilio, twilioAccount, 'twilioAuthToken', ['', 'a b', 'a\nb', 'é']],
    [twilio, twilioAccount, 'twilioSenderPhoneNumber', ['', '5', '+0123456', 'Longer than 11', '+15550100\n', 'Ütze']],
    [sendGrid, sendGridAccount, 'sendGridApiKey', ['', 'SG.a\r\nX-Evil: 1', 'a b', 'x'.repeat(501)]],
    [sendGrid, sendGridAccount, 'sendGridTemplateID', ['', 'a b', 'a/b']],
    [sendGrid, sendGridAccount, 'sendGridUnsubscribeGroupID', ['', '1a', '-1']],
    [sendGrid, sendGridAccount, 'senderName', ['', 'Team\r\nBcc: x@y.example', 'a\nb', 'x'.repeat(256)]],
    [sendGrid, sendGridAccount, 'senderEmail', ['', 'chat', 'chat@example.com\r\nBcc: x@y.example']],
    [
      sendGrid,
      sendGridAccount,
      'senderEmailForReplies',
      ['', 'reply', 'reply+x@example.com', `${'r'.repeat(25)}@x.example`],
    ],
  ])('%s refuses values that could do harm: of %s', async (path, account, name, values) => {
    const world = await createWorld()
    dataOf(await world.post(path, account))
    for (const value of values) {
      for (const method of ['POST', 'PUT']) {
        const answer = await world.call(method, path, { ...account, [name]: value })
        expect(refusal(answer), `${method} ${JSON.stringify(value)}`).toBe('400 ERR_BAD_REQUEST')
        expect(answer.body.error.details[0].path).toBe(`body/${name}`)
      }
    }
  })

  it.each([['+4915112345678'], ['12345'], ['Team Chat'], [`MG${'0a'.repeat(16)}`]])(
    'Twilio sends as %s',
    async (sender) => {
      const world = await createWorld()
      const saved = dataOf(await world.post(twilio, { ...twilioAccount, twilioSenderPhoneNumber: sender }))
      expect(saved.twilioSenderPhoneNumber).toBe(sender)
    },
  )

  it.each([
    ['SMS', customSms, { useStoredPhNo: false }],
    ['e-mail', customEmail, { useStoredEmailID: false }],
  ])('of the app itself are checked as webhooks are, and have a signing secret: %s', async (_name, path, own) => {
    const world = await createWorld()
    const { useBasicAuth: _, ...without } = { ...webhook, ...own }
    const noAuth = { ...without, useBasicAuth: false, basicAuthUsername: '', basicAuthPassword: '' }
    expect(dataOf(await world.post(path, noAuth))).toEqual(noAuth)
    for (const webhookURL of ['ftp://example.com', 'nonsense', 'https://a:b@example.com/']) {
      expect(refusal(await world.post(path, { ...noAuth, webhookURL }))).toBe('400 ERR_BAD_REQUEST')
      expect(refusal(await world.put(path, { webhookURL }))).toBe('400 ERR_BAD_REQUEST')
    }
    const answer = await world.put(path, { useBasicAuth: true })
    expect(answer.body.error.details).toEqual([
      { path: 'body/basicAuthUsername', message: 'must not be empty with useBasicAuth' },
      { path: 'body/basicAuthPassword', message: 'must not be empty with useBasicAuth' },
    ])
    const { secret } = dataOf(await world.post(`${path}/secret`))
    expect(secret).toMatch(/^whsec_/)
    expect((await storedOf(world))[0]?.secrets.signing).toBe(secret)
    dataOf(await world.post(path, noAuth))
    expect((await storedOf(world))[0]?.secrets.signing).toBe(secret)
    expect(refusal(await (await createWorld()).post(`${path}/secret`))).toBe('404 ERR_PROVIDER_NOT_FOUND')
  })

  it('have the defaults of the contract', async () => {
    const world = await createWorld()
    expect(dataOf(await world.post(customSms, webhook)).useStoredPhNo).toBe(false)
    const { allowEmailReplies: _, senderEmailForReplies: __, ...rest } = sendGridAccount
    const saved = dataOf(await world.post(sendGrid, rest))
    expect(saved.allowEmailReplies).toBe(false)
    expect(saved).not.toHaveProperty('senderEmailForReplies')
  })
})

describe('the address for replies by SendGrid', () => {
  const webhookOf = async (world: World) => dataOf(await world.put(sendGrid, {})).repliesWebhook

  it('is made once for each app, stays when it is set up anew, and can be renewed', async () => {
    const [world, other] = [await createWorld(), await createWorld()]
    const { repliesWebhook } = dataOf(await world.post(sendGrid, sendGridAccount))
    const url = new URL(repliesWebhook)
    expect(url.pathname).toBe('/v3/notifications/email/v1/sendgrid/replies')
    expect(url.searchParams.get('token')).toMatch(new RegExp(`^${world.app.name}\\.[0-9a-f]{48}$`))
    dataOf(await world.post(sendGrid, sendGridAccount))
    expect(await webhookOf(world)).toBe(repliesWebhook)
    expect(dataOf(await other.post(sendGrid, sendGridAccount)).repliesWebhook).not.toBe(repliesWebhook)

    const renewed = dataOf(await world.post(`${sendGrid}/replies-webhook`)).repliesWebhook
    expect(renewed).not.toBe(repliesWebhook)
    expect(await webhookOf(world)).toBe(renewed)
    expect(refusal(await (await createWorld()).post(`${sendGrid}/replies-webhook`))).toBe('404 ERR_PROVIDER_NOT_FOUND')
  })

  it('is not in what is read later', async () => {
    const world = await createWorld()
    dataOf(await world.post(sendGrid, sendGridAccount))
    expect(dataOf(await world.get(sendGrid))).not.toHaveProperty('repliesWebhook')
  })

  it('can be the address of the sender, whose mailbox must then take a token', async () => {
    const world = await createWorld()
    const account = { ...sendGridAccount, senderEmailForReplies: null }
    expect(dataOf(await world.post(sendGrid, account))).not.toHaveProperty('senderEmailForReplies')
    const answer = await world.put(sendGrid, { senderEmail: 'chat+team@example.com' })
    expect(answer.body.error.details[0].path).toBe('body/senderEmail')
    dataOf(await world.put(sendGrid, { senderEmail: 'chat+team@example.com', allowEmailReplies: false }))
  })
})
