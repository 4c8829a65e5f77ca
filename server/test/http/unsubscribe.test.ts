import { sql } from 'kysely'
import { FormData, request } from 'undici'
import { describe, expect, it } from 'vitest'
import { type Unsubscription, unsubscribeLinkOf } from '../../src/chat/notifications/unsubscribing.ts'
import { createGroup, dataOf, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const urlencoded = { 'content-type': 'application/x-www-form-urlencoded' }
const oneClick = 'List-Unsubscribe=One-Click'

async function setUp(name = 'Bob') {
  const world = await createWorld()
  await createUsers(world, 'alice')
  dataOf(await world.post('/users', { uid: 'bob', name }))
  const linkOf = (wanted: Partial<Unsubscription> = {}) => {
    const { database, secrets } = world.context
    const whole = { appId: world.app.appId, uid: 'bob', channel: 'email', ...wanted } as const
    return unsubscribeLinkOf(database, secrets, world.url, whole)
  }
  return { world, linkOf, link: await linkOf() }
}

async function ask(url: string, method: 'GET' | 'HEAD' | 'POST' = 'GET', body?: string | FormData, headers = {}) {
  const answer = await request(url, { method, headers, body: body ?? null })
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
}

const unsubscriptionsOf = async (world: World, uid = 'bob') =>
  dataOf(await world.get('/notifications/v1/unsubscriptions', { as: uid })).unsubscriptions.map(
    ({ channel, conversationId }: { channel: string; conversationId?: string }) => conversationId ?? channel,
  )

describe('a link to unsubscribe', () => {
  it('shows a page and changes nothing, however often programs open it', async () => {
    const { world, link } = await setUp()
    const { status, headers, text } = await ask(link)
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    expect(text).toContain('Bob gets e-mails about unread messages. Do you want to end that?')
    expect(text).toContain('<form method="post"><button name="action" value="unsubscribe">')
    await ask(link)
    expect((await ask(link, 'HEAD')).status).toBe(200)
    expect(await unsubscriptionsOf(world)).toEqual([])
  })

  it('unsubscribes with one click, in either kind of form, twice without harm', async () => {
    const { world, link, linkOf } = await setUp()
    for (let time = 0; time < 2; time++) {
      const { status, headers, text } = await ask(link, 'POST', oneClick, urlencoded)
      expect([status, headers.location]).toEqual([200, undefined])
      expect(text).toContain('Unsubscribed')
      expect(await unsubscriptionsOf(world)).toEqual(['email'])
    }
    const form = new FormData()
    form.set('List-Unsubscribe', 'One-Click')
    expect((await ask(await linkOf({ channel: 'sms' }), 'POST', form)).status).toBe(200)
    expect(await unsubscriptionsOf(world)).toEqual(['email', 'sms'])
    expect(await unsubscriptionsOf(world, 'alice')).toEqual([])
  })

  it('unsubscribes from its page, and takes that back', async () => {
    const { world, link } = await setUp()
    expect((await ask(link, 'POST', 'action=unsubscribe', urlencoded)).text).toContain('value="subscribe"')
    expect(await unsubscriptionsOf(world)).toEqual(['email'])
    expect((await ask(link, 'POST', 'action=subscribe', urlencoded)).text).toContain('Subscribed again')
    expect(await unsubscriptionsOf(world)).toEqual([])
  })

  it('can be of one conversation only', async () => {
    const { world, linkOf } = await setUp()
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await sayInGroup(world, 'alice', 'team', 'hi')
    const { appId } = world.app
    const [row] = await world.context.database.run<{ key: number }>(
      sql`select key from conversations where app_id = ${appId}`,
    )
    const link = await linkOf({ conversation: Number(row?.key) })
    expect((await ask(link, 'POST', oneClick, urlencoded)).text).toContain('in this conversation')
    expect(await unsubscriptionsOf(world)).toEqual(['group_team'])
  })

  it('escapes what it shows', async () => {
    const { link } = await setUp(`<script>alert(1)</script>"'&`)
    for (const { text } of [await ask(link), await ask(link, 'POST', oneClick, urlencoded)]) {
      expect(text).not.toContain('<script')
      expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp; ')
    }
  })

  it('that is altered, or for somebody who is gone, is answered with a page of its own', async () => {
    const { world, link } = await setUp()
    const wrong = [`${world.url}/unsubscribe`, `${world.url}/unsubscribe?token=`, `${link}AAAA`, link.slice(0, -3)]
    wrong.push(`${world.url}/unsubscribe?token=a&token=b`)
    dataOf(await world.delete('/users/bob', { permanent: true }))
    for (const url of [...wrong, link]) {
      for (const answer of [await ask(url), await ask(url, 'POST', oneClick, urlencoded)]) {
        expect([answer.status, answer.headers['content-type']], url).toEqual([404, 'text/html; charset=utf-8'])
        expect(answer.text).toContain('This link is not valid')
      }
    }
  })

  it('takes no other body', async () => {
    const { world, link } = await setUp()
    const status = async (body: string, headers: object = urlencoded) => (await ask(link, 'POST', body, headers)).status
    expect(await status('')).toBe(400)
    expect(await status('List-Unsubscribe=No')).toBe(400)
    expect(await status('{}', { 'content-type': 'application/json' })).toBe(415)
    expect(await status(`${oneClick}&x=${'x'.repeat(5000)}`)).toBe(413)
    const large = new FormData()
    large.set('List-Unsubscribe', 'One-Click')
    large.set('x', 'x'.repeat(20_000))
    expect((await ask(link, 'POST', large)).status).toBe(413)
    expect(await unsubscriptionsOf(world)).toEqual([])
  })
})
