import { sql } from 'kysely'
import { FormData, request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { replyAddressOf } from '../../src/chat/notifications/reply-address.ts'
import { createGroup, dataOf, say, sayInGroup, texts } from '../support/chat.ts'
import { contact, sendGrid, sendGridAccount } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { closeEndpoints, open } from '../support/webhooks.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** alice and bob who have talked, in an app that takes replies by SendGrid. */
async function setUp(service?: Service) {
  const world = await createWorld(service)
  await createUsers(world, 'alice', 'bob')
  await say(world, 'alice', 'bob', 'hello')
  const { repliesWebhook } = dataOf(await world.post(sendGrid, sendGridAccount))
  return { world, webhook: repliesWebhook as string }
}

async function keyOf(world: World, kind: 1 | 2): Promise<number> {
  const { appId } = world.app
  const [row] = await world.context.database.run<{ key: number }>(
    sql`select key from conversations where app_id = ${appId} and kind = ${kind}`,
  )
  return Number(row?.key)
}

/** Where one person replies to an e-mail about their one conversation of a kind. @param at when it was sent */
async function addressOf(world: World, uid: string, kind: 1 | 2 = 1, at = Date.now()): Promise<string> {
  const { database, secrets } = world.context
  const who = { appId: world.app.appId, uid, conversation: await keyOf(world, kind) }
  return (await replyAddressOf(database, secrets, 'reply@example.com', who, at)) as string
}

const envelope = (to: string, from = 'bob@example.com') => JSON.stringify({ to: [to], from })

/** An e-mail as SendGrid posts it. */
function mail(to: string, text: string, more: Record<string, string | Blob> = {}): FormData {
  const form = new FormData()
  const fields = {
    ...{
      headers: 'Message-ID: <m@example.com>\nFrom: Bob <bob@example.com>',
      to: `Team <${to}>`,
      from: 'bob@example.com',
    },
    ...{ subject: 'Re: unread', envelope: envelope(to), charsets: '{"text":"UTF-8"}', text, ...more },
  }
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return form
}

async function post(url: string, body: FormData | string | Buffer, headers: Record<string, string> = {}) {
  const answer = await request(url, { method: 'POST', body, headers })
  const text = await answer.body.text()
  return { status: answer.statusCode, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) }
}

const outcome = async (url: string, body: FormData) => {
  const { status, body: answered } = await post(url, body)
  const { success, reason, error } = answered.data ?? {}
  return [status, success, ...(reason === undefined ? [] : [reason]), ...(error === undefined ? [] : [error.code])]
}

const textsOf = async (world: World, to = '/users/bob/messages', as = 'alice') => texts(await world.get(to, { as }))

describe('a reply by SendGrid', () => {
  it('becomes a message of its person in the conversation, without the quote', async () => {
    const { world, webhook } = await setUp()
    const text = 'Hi Alice,\r\n\r\nfine 👍\r\n\r\nOn Mon, 23 Nov 2026, Team wrote:\r\n> hello\r\n'
    const { status, body } = await post(webhook, mail(await addressOf(world, 'bob'), text))
    expect([status, body.data.success]).toEqual([200, true])
    const message = dataOf(await world.get(`/messages/${body.data.messageId}`))
    expect(message).toMatchObject({ sender: 'bob', receiver: 'alice', receiverType: 'user', type: 'text' })
    expect(message.data.text).toBe('Hi Alice,\n\nfine 👍')
    expect(message.parentId).toBeUndefined()
  })

  it('goes to the group that it is about', async () => {
    const { world, webhook } = await setUp()
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await sayInGroup(world, 'alice', 'team', 'all')
    expect(await outcome(webhook, mail(await addressOf(world, 'bob', 2), 'me too'))).toEqual([200, true])
    expect(await textsOf(world, '/groups/team/messages')).toContain('me too')
  })

  it('that comes twice is one message', async () => {
    const { world, webhook } = await setUp()
    const to = await addressOf(world, 'bob')
    const answers = await Promise.all([1, 2, 3].map(() => post(webhook, mail(to, 'once'))))
    expect(new Set(answers.map(({ body }) => body.data.messageId)).size).toBe(1)
    expect((await textsOf(world)).filter((text) => text === 'once')).toEqual(['once'])
    const other = mail(to, 'once', { headers: 'Message-ID: <other@example.com>' })
    expect(await outcome(webhook, other)).toEqual([200, true])
    const unnamed = () => mail(to, 'once', { headers: 'Date: Mon, 23 Nov 2026 09:14:00 +0100' })
    for (let time = 0; time < 2; time++) expect(await outcome(webhook, unnamed())).toEqual([200, true])
    expect((await textsOf(world)).filter((text) => text === 'once')).toHaveLength(3)
  })

  it('is read in the charset that SendGrid names, and raw', async () => {
    const { world, webhook } = await setUp()
    const to = await addressOf(world, 'bob')
    const boundary = 'b0undary'
    const part = (name: string, value: Buffer) =>
      Buffer.concat([
        Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
        value,
        Buffer.from('\r\n'),
      ])
    const form = Buffer.concat([
      part('envelope', Buffer.from(envelope(to))),
      part('charsets', Buffer.from('{"text":"windows-1252"}')),
      part('text', Buffer.from('Gr\xfc\xdfe \x80', 'latin1')),
      Buffer.from(`--${boundary}--\r\n`),
    ])
    const type = { 'content-type': `multipart/form-data; boundary=${boundary}` }
    expect((await post(webhook, form, type)).body.data.success).toBe(true)
    const raw = new FormData()
    raw.set('envelope', envelope(to))
    raw.set('email', 'From: bob@example.com\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nräw\r\n')
    expect(await outcome(webhook, raw)).toEqual([200, true])
    expect((await textsOf(world)).slice(-2)).toEqual(['Grüße €', 'räw'])
  })

  it('is cut to what a message can have, between characters', async () => {
    const { world, webhook } = await setUp()
    const family = '👩‍👩‍👧‍👦'
    const { body } = await post(webhook, mail(await addressOf(world, 'bob'), family.repeat(2000)))
    const { text } = dataOf(await world.get(`/messages/${body.data.messageId}`)).data
    expect(text).toMatch(new RegExp(`^(${family})+…$`))
    expect(Buffer.byteLength(JSON.stringify({ text }))).toBeGreaterThan(9000)
  })

  it('leaves attachments out, however many there are', async () => {
    const { world, webhook } = await setUp()
    const form = mail(await addressOf(world, 'bob'), 'see attached')
    for (let i = 1; i <= 20; i++) form.set(`attachment${i}`, new File(['x'.repeat(10_000)], `a${i}.txt`))
    expect(await outcome(webhook, form)).toEqual([200, true])
    expect((await textsOf(world)).at(-1)).toBe('see attached')
  })

  it.each([
    ['for nobody here', (to: string) => mail(to.replace(/\+[^@]*/, ''), 'hi'), 'NO_TOKEN'],
    ['with a token of nobody', (to: string) => mail(to.replace(/\+....../, '+aaaaaa'), 'hi'), 'ENDED'],
    ['of a program', (to: string) => mail(to, 'I am away', { headers: 'Auto-Submitted: auto-replied' }), 'AUTOMATIC'],
    [
      'that says that an e-mail did not arrive',
      (to: string) => mail(to, 'x', { envelope: envelope(to, '') }),
      'AUTOMATIC',
    ],
    ['with nothing but a quote', (to: string) => mail(to, '> hello\n'), 'EMPTY'],
  ])('is none: an e-mail %s', async (_name, make, reason) => {
    const { world, webhook } = await setUp()
    expect(await outcome(webhook, make(await addressOf(world, 'bob')))).toEqual([200, false, reason])
    expect(await textsOf(world)).toEqual(['hello'])
  })

  it('is taken for 30 days', async () => {
    const { world, webhook } = await setUp()
    const days = (count: number) => addressOf(world, 'bob', 1, Date.now() - count * 86_400_000)
    expect(await outcome(webhook, mail(await days(29), 'in time'))).toEqual([200, true])
    expect(await outcome(webhook, mail(await days(31), 'too late'))).toEqual([200, false, 'ENDED'])
  })

  it('ends with deactivation, with removal, and with another address of its person', async () => {
    for (const end of [
      async (world: World) => {
        dataOf(await world.delete('/users', { uidsToDeactivate: ['bob'] }))
        dataOf(await world.put('/users', { uidsToActivate: ['bob'] }))
      },
      async (world: World) => {
        dataOf(await world.delete('/users/bob', { permanent: true }))
        await createUsers(world, 'bob')
      },
      async (world: World) => dataOf(await contact(world, 'bob', { email: 'bob@example.org' })),
    ]) {
      const { world, webhook } = await setUp()
      dataOf(await contact(world, 'bob', { email: 'bob@example.com' }))
      const to = await addressOf(world, 'bob')
      await end(world)
      expect(await outcome(webhook, mail(to, 'still me'))).toEqual([200, false, 'ENDED'])
    }
  })

  it('obeys all that sending obeys', async () => {
    const { world, webhook } = await setUp()
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await sayInGroup(world, 'alice', 'team', 'all')
    const [direct, group] = [await addressOf(world, 'bob'), await addressOf(world, 'bob', 2)]
    const refused = (to: string) => outcome(webhook, mail(to, 'no'))

    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    expect(await refused(direct)).toEqual([200, false, 'REFUSED', 'ERR_BLOCKED_SENDER'])
    dataOf(await world.delete('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    dataOf(await world.put('/groups/team/scopes/participant/permissions', { permissions: { sendMessage: 'deny' } }))
    expect(await refused(group)).toEqual([200, false, 'REFUSED', 'ERR_PERMISSION_DENIED'])
    dataOf(await world.delete('/groups/team/members/bob'))
    expect(await refused(group)).toEqual([200, false, 'REFUSED', 'ERR_GROUP_NOT_JOINED'])
    dataOf(await world.put('/roles/default/permissions', { permissions: { sendMessage: 'deny' } }))
    expect(await refused(direct)).toEqual([200, false, 'REFUSED', 'ERR_PERMISSION_DENIED'])
    expect(await textsOf(world)).toEqual(['hello'])
  })

  it('is for its own app only', async () => {
    const [{ world, webhook }, other] = [await setUp(), await setUp()]
    const to = await addressOf(world, 'bob')
    expect(await outcome(other.webhook, mail(to, 'hi'))).toEqual([200, false, 'ENDED'])
    expect(await textsOf(other.world)).toEqual(['hello'])
    // Where there are two, the one of this app counts.
    const both = mail(to, 'hi', { envelope: JSON.stringify({ to: [await addressOf(other.world, 'bob'), to] }) })
    expect(await outcome(webhook, both)).toEqual([200, true])
  })
})

describe('the address for replies', () => {
  it('takes nothing without its secret, once that is renewed, or where the app takes no replies', async () => {
    const { world, webhook } = await setUp()
    const to = await addressOf(world, 'bob')
    const status = async (url: string) => {
      const answer = await post(url, mail(to, 'hi'))
      return `${answer.status} ${answer.body.error?.code}`
    }
    const unknown = '401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND'
    const [base, token = ''] = webhook.split('?token=')
    const other = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
    const wrong = ['', '?token=', `?token=${other}`, `?token=x${token}`, `?token=${token}&token=${token}`]
    for (const query of wrong) expect(await status(`${base}${query}`), query).toBe(unknown)
    expect(await status(`${base}?token=parley.${token.split('.')[1]}`)).toBe(unknown)

    const { repliesWebhook } = dataOf(await world.post(`${sendGrid}/replies-webhook`))
    expect(await status(webhook)).toBe(unknown)
    expect(await status(repliesWebhook)).toBe('200 undefined')
    dataOf(await world.put(sendGrid, { allowEmailReplies: false }))
    expect(await status(repliesWebhook)).toBe(unknown)
    dataOf(await world.put(sendGrid, { allowEmailReplies: true }))
    expect(await status(repliesWebhook)).toBe('200 undefined')
    dataOf(await world.delete(sendGrid))
    expect(await status(repliesWebhook)).toBe(unknown)
  })

  it('takes forms only, of some size', async () => {
    const { webhook } = await setUp()
    expect((await post(webhook, '{}', { 'content-type': 'application/json' })).status).toBe(415)
    expect((await post(webhook, 'x', { 'content-type': 'multipart/form-data; boundary=b' })).status).toBe(400)
    const large = new FormData()
    large.set('attachment1', new File(['x'.repeat(33 * 1024 * 1024)], 'a'))
    expect((await post(webhook, large)).status).toBe(413)
  })
})

describe('a reply by the mail server of the operator', () => {
  const secret = 'a-secret-of-the-mail-server'
  const settings = { MAIL_REPLY_ADDRESS: 'reply@example.com', MAIL_REPLY_SECRET: secret }
  let own: OwnServices
  let service: Service
  beforeAll(async () => {
    own = await createOwnServices()
    service = await own.start({ ...settings, RATE_LIMITS: 'sendPerUser=3' })
  })
  afterAll(async () => {
    await own.close()
    await closeEndpoints()
  })

  const replies = () => `${service.url}/v3/notifications/email/v1/replies`
  const bearer = { authorization: `Bearer ${secret}` }
  const rawType = { 'content-type': 'message/rfc822' }

  it('comes raw, as JSON or as a form, for whichever app', async () => {
    const { world } = await setUp(service)
    const to = await addressOf(world, 'bob')
    const raw = `To: Team <${to}>\r\nMessage-ID: <1@x>\r\n\r\nraw one\r\n`
    expect((await post(replies(), raw, { ...bearer, ...rawType })).body.data.success).toBe(true)
    const plain = JSON.stringify({ to: [`Team <${to}>`], text: 'plain one', messageId: '<2@x>' })
    const json = { 'content-type': 'application/json' }
    expect((await post(`${replies()}?token=${secret}`, plain, json)).body.data.success).toBe(true)
    const form = mail(to, 'form one', { headers: 'Message-ID: <3@x>' })
    expect((await post(replies(), form, bearer)).body.data.success).toBe(true)
    expect((await textsOf(world)).slice(-3)).toEqual(['raw one', 'plain one', 'form one'])
  })

  it('counts against the limit of its person, and is then brought again', async () => {
    const { world } = await setUp(service)
    const to = await addressOf(world, 'bob')
    const send = (i: number) =>
      post(replies(), `To: ${to}\r\nMessage-ID: <${i}@x>\r\n\r\nn${i}`, { ...bearer, ...rawType })
    for (let i = 1; i <= 3; i++) expect((await send(i)).status).toBe(200)
    const { status, headers, body } = await send(4)
    expect([status, body.error.code]).toEqual([503, 'ERR_MISSION_FAILED'])
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    expect(await textsOf(world)).toEqual(['hello', 'n1', 'n2', 'n3'])
  })

  it('is asked about before it is stored', async () => {
    const { world } = await setUp(service)
    const endpoint = await open()
    const hook = { id: 'before', name: 'Before', webhookURL: endpoint.url, triggers: ['before_message'] }
    dataOf(await world.post('/webhooks', hook, { headers: { 'X-Webhook-Version': '1' } }))
    endpoint.behave({ body: JSON.stringify({ action: 'do_not_propagate' }) })
    const { body } = await post(replies(), mail(await addressOf(world, 'bob'), 'no'), bearer)
    expect(body.data).toMatchObject({ success: false, reason: 'REFUSED' })
    expect(endpoint.received).toHaveLength(1)
    expect(await textsOf(world)).toEqual(['hello'])
  })

  it('needs the secret, and is an e-mail', async () => {
    const { world } = await setUp(service)
    const to = await addressOf(world, 'bob')
    const wrong = [
      {},
      { authorization: 'Bearer x' },
      { authorization: '' },
      { authorization: `${bearer.authorization}x` },
    ]
    for (const headers of wrong) expect((await post(replies(), mail(to, 'hi'), headers)).status).toBe(401)
    expect((await post(replies(), '[]', { ...bearer, 'content-type': 'application/json' })).status).toBe(400)
    expect((await post(replies(), '{"to": 1}', { ...bearer, 'content-type': 'application/json' })).status).toBe(400)
    expect((await post(replies(), 'x', { ...bearer, 'content-type': 'text/plain' })).status).toBe(415)
    expect((await post(replies(), 'x'.repeat(11 * 1024 * 1024), { ...bearer, ...rawType })).status).toBe(413)
  })

  it('is taken only where the operator has set it up', async () => {
    const { world } = await setUp()
    expect((await post(`${world.url}/v3/notifications/email/v1/replies`, '{}', bearer)).status).toBe(404)
  })
})
